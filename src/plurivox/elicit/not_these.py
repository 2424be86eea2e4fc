"""Only the labels it is not."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from plurivox.core.answers import NEVER, POSSIBLE, Answers
from plurivox.core.method import option
from plurivox.core.questions import Question
from plurivox.elicit._contract import Form, Shares, set_flag
from plurivox.elicit._shared.marks import SETTLED, Settled, marked, settle
from plurivox.elicit._shared.percent_form import Split, spread


@dataclass(frozen=True)
class NotThese(Form):
    """The labels that are ruled out; the others share the vote evenly.

    An answer that rules nothing out says that every label may be; one that rules everything out cannot be read. A label
    that is also named is not ruled out, unless contradiction=never.

    >>> marks = [[("never", "ship", "")]]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=marks, labels=["cat", "dog", "ship"])
    >>> NotThese().read(answers).votes.counts()
    array([[0.5, 0.5, 0. ]])
    """

    asks: ClassVar[Question] = Question(labels=0, ticks="never")

    contradiction: Settled = option("named", SETTLED)

    def shares(self, answers: Answers) -> Shares:
        named, never, n_labels = marked(answers, "named"), marked(answers, "never"), len(answers.labels)
        flags = np.zeros(len(answers), np.uint32)
        kept = settle(named, never, self.contradiction, flags, n_labels)
        set_flag(flags, "nothing-ruled-out", never.counts == 0)
        if self.contradiction == "named":
            spared = named.has(never.answer, never.label, n_labels)
            kinds = answers.mark_kind.copy()
            kinds[np.flatnonzero(kinds == NEVER)[spared]] = POSSIBLE
            answers = replace(answers, mark_kind=kinds)
        nothing = Split(named.where(np.zeros(len(kept), bool)), np.zeros(0), 0.0)
        found = spread(answers, nothing, "clamp", flags, bare=True)
        if self.contradiction != "drop":
            return found
        stays = ~np.isin(found.answer, named.answer[~kept])
        return Shares(found.answer[stays], found.label[stays], found.weight[stays], flags)
