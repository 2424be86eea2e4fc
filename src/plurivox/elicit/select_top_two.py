"""Form that asks for the two most probable labels, without percents."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.inputs_asked_by_form import Question
from plurivox.core.method import option
from plurivox.elicit._contract import Form, Shares, set_flag
from plurivox.elicit._shared.extract_named_and_ruled_out_labels import (
    CONTRADICTION_HELP,
    ContradictionRule,
    answer_label_pairs_of_mark_kind,
    flag_contradictions_and_mask_kept_labels,
)


@dataclass(frozen=True)
class SelectTopTwo(Form):
    """Ask for the two most probable labels without percents: weight 1/2 each, or 1 if only one is named.

    "Select Top 2 Only" in Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986.

    >>> marks = [[("named", "cat", "70"), ("named", "dog", "")], [("named", "dog", "")]]
    >>> SelectTopTwo().read(Answers.of(task=["a", "b"], worker=["v", "w"], marks=marks)).votes.counts()
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    asks: ClassVar[Question] = Question(labels=2)

    contradiction: ContradictionRule = option("named", CONTRADICTION_HELP)

    def explain(self) -> str:
        return "Two labels named get 50% each, a single one gets 100%."

    def shares(self, answers: Answers) -> Shares:
        named, n_labels = answer_label_pairs_of_mark_kind(answers, "named"), len(answers.labels)
        flags = np.zeros(len(answers), np.uint32)
        set_flag(flags, "further-labels", named.n_labels_per_answer > 2)
        two = named.select_answer_label_pairs(named.position_of_label_in_answer < 2)
        set_flag(
            flags, "named-twice", np.bincount(two.answer, two.is_repeat_of_earlier_label(n_labels), len(answers)) > 0
        )
        two = two.sorted_unique_answer_label_pairs(n_labels)
        two = two.select_answer_label_pairs(
            flag_contradictions_and_mask_kept_labels(
                two, answer_label_pairs_of_mark_kind(answers, "never"), self.contradiction, flags, n_labels
            )
        )
        return Shares.from_points_normalised_per_answer(two.answer, two.label, np.ones(len(two.answer)), flags)
