"""A whole distribution: percents or chips on as many labels as one likes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.method import option
from plurivox.core.questions import Question
from plurivox.core.typed_percents import PERCENT_FLAGS
from plurivox.core.types import Floats, Ints
from plurivox.elicit._contract import Form, Shares, raise_odd, set_flag
from plurivox.elicit._shared.marks import SETTLED, Pairs, Settled, marked, settle, typed_percents
from plurivox.elicit._shared.percent_form import SPREAD, Split, Spread, spread


@dataclass(frozen=True)
class Histogram(Form):
    """A percent or a number of chips on each of several labels, divided by their sum.

    A label without a number has none. Percents below 100 may also leave the rest to open labels (spread=clamp or uniform),
    as top-two does; those above are divided by their sum. A label that is named twice has the sum of its numbers.

    >>> marks = [[("named", "cat", "6"), ("named", "dog", "3"), ("named", "ship", "1")]]
    >>> Histogram(of="chips").read(Answers.of(task=["a"], worker=["w"], marks=marks)).votes.counts()
    array([[0.6, 0.3, 0.1]])
    """

    asks: ClassVar[Question] = Question(labels=None, percents=True)

    of: Literal["percents", "chips"] = option("percents", "what is put on labels; chips have no end at 100")
    spread: Spread = option("none", SPREAD)
    contradiction: Settled = option("named", SETTLED)

    def shares(self, answers: Answers) -> Shares:
        named, read, n_labels = marked(answers, "named"), typed_percents(answers), len(answers.labels)
        flags, never = np.zeros(len(answers), np.uint32), marked(answers, "never")
        points, odd = np.nan_to_num(read.value), read.flags
        if self.of == "chips":
            odd = odd & ~np.where(points > 100, PERCENT_FLAGS["out-of-range"], 0).astype(np.uint8)
        raise_odd(flags, _gathered(named, odd))
        points = np.clip(points, 0, 100 if self.of == "percents" else None)
        kept = settle(named, never, self.contradiction, flags, n_labels)
        named, points = _summed(named.where(kept), points[kept], flags, n_labels)
        if self.of == "chips" or self.spread == "none":
            if self.of == "percents":
                total = np.bincount(named.answer, points, minlength=len(flags))
                set_flag(flags, "over-100", total > 100)
                set_flag(flags, "under-100", (total > 0) & (total < 100))
            return Shares.of_points(named.answer, named.label, points, flags)
        return spread(answers, Split(named, points, 0.0), self.spread, flags)


def _gathered(named: Pairs, odd: Ints) -> Ints:
    """(n_answers,) what is odd about any percent of an answer."""
    out = np.zeros(named.n_answers, np.uint8)
    np.bitwise_or.at(out, named.answer, odd)
    return out


def _summed(named: Pairs, points: Floats, flags: Ints, n_labels: int) -> tuple[Pairs, Floats]:
    """Each label of an answer once, with the sum of its points, by answer and label."""
    set_flag(flags, "named-twice", np.bincount(named.answer, named.again(n_labels), len(flags)) > 0)
    key, place = np.unique(named.answer.astype(np.int64) * n_labels + named.label, return_inverse=True)
    answer, label = np.divmod(key, n_labels)
    return Pairs(answer, label, named.n_answers), np.bincount(place, points, minlength=len(key)).astype(np.float64)
