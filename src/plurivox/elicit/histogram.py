"""Form that asks for a distribution over labels, entered as percents or chips."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.array_types import Floats, Ints
from plurivox.core.inputs_asked_by_form import Question
from plurivox.core.method import option
from plurivox.core.parse_typed_percents import PERCENT_FLAGS
from plurivox.elicit._contract import Form, Shares, set_answer_flags_from_percent_flags, set_flag
from plurivox.elicit._shared.extract_named_and_ruled_out_labels import (
    CONTRADICTION_HELP,
    AnswerLabels,
    ContradictionRule,
    answer_label_pairs_of_mark_kind,
    flag_contradictions_and_mask_kept_labels,
    parse_percent_of_each_named_mark,
)
from plurivox.elicit._shared.percent_form_base_class import (
    SPREAD_HELP,
    Split,
    Spread,
    explain_rest,
    label_weights_with_rest_on_open_labels,
)


@dataclass(frozen=True)
class Histogram(Form):
    """Ask for a percent or a number of chips for each of several labels; weights are the numbers divided by their sum.

    A label without a number gets no weight. If the percents sum to less than 100, the rest can go to the other labels
    (spread=clamp or uniform), as in top-two; if they sum to more, they are divided by their sum. A label named twice gets the
    sum of its numbers.

    >>> marks = [[("named", "cat", "6"), ("named", "dog", "3"), ("named", "ship", "1")]]
    >>> Histogram(of="chips").read(Answers.of(task=["a"], worker=["w"], marks=marks)).votes.counts()
    array([[0.6, 0.3, 0.1]])
    """

    asks: ClassVar[Question] = Question(labels=None, percents=True)

    of: Literal["percents", "chips"] = option(
        "percents", "whether workers enter percents or numbers of chips; a number of chips may exceed 100"
    )
    spread: Spread = option("none", SPREAD_HELP)
    contradiction: ContradictionRule = option("named", CONTRADICTION_HELP)

    def explain(self) -> str:
        what = "chips placed" if self.of == "chips" else "percents entered"
        if self.of == "percents" and self.spread != "none":
            return f"The labels named get the {what}. {explain_rest(self.spread, 0.0)}"
        return f"The labels get the {what}, divided by their sum. Labels without any get nothing."

    def shares(self, answers: Answers) -> Shares:
        named, read, n_labels = (
            answer_label_pairs_of_mark_kind(answers, "named"),
            parse_percent_of_each_named_mark(answers),
            len(answers.labels),
        )
        flags, never = np.zeros(len(answers), np.uint32), answer_label_pairs_of_mark_kind(answers, "never")
        points, percent_flags = np.nan_to_num(read.value), read.flags
        if self.of == "chips":
            percent_flags = percent_flags & ~np.where(points > 100, PERCENT_FLAGS["out-of-range"], 0).astype(np.uint8)
        set_answer_flags_from_percent_flags(flags, _combine_percent_flags_per_answer(named, percent_flags))
        points = np.clip(points, 0, 100 if self.of == "percents" else None)
        kept = flag_contradictions_and_mask_kept_labels(named, never, self.contradiction, flags, n_labels)
        named, points = _merge_repeated_labels_and_sum_points(
            named.select_answer_label_pairs(kept), points[kept], flags, n_labels
        )
        if self.of == "chips" or self.spread == "none":
            if self.of == "percents":
                total = np.bincount(named.answer, points, minlength=len(flags))
                set_flag(flags, "over-100", total > 100)
                set_flag(flags, "under-100", (total > 0) & (total < 100))
            return Shares.from_points_normalised_per_answer(named.answer, named.label, points, flags)
        return label_weights_with_rest_on_open_labels(answers, Split(named, points, 0.0), self.spread, flags)


def _combine_percent_flags_per_answer(named: AnswerLabels, percent_flags: Ints) -> Ints:
    """(n_answers,) the flags (bits) of all percents of an answer, combined by bitwise or."""
    out = np.zeros(named.n_answers, np.uint8)
    np.bitwise_or.at(out, named.answer, percent_flags)
    return out


def _merge_repeated_labels_and_sum_points(
    named: AnswerLabels, points: Floats, flags: Ints, n_labels: int
) -> tuple[AnswerLabels, Floats]:
    """Return (pairs of answer and label, each once and sorted, sum of their points); flags answers that name a label twice."""
    set_flag(
        flags, "named-twice", np.bincount(named.answer, named.is_repeat_of_earlier_label(n_labels), len(flags)) > 0
    )
    key, place = np.unique(named.answer.astype(np.int64) * n_labels + named.label, return_inverse=True)
    answer, label = np.divmod(key, n_labels)
    sums: Floats = np.bincount(place, points, minlength=len(key)).astype(np.float64)
    return AnswerLabels(answer, label, named.n_answers), sums
