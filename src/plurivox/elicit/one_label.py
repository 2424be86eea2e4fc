"""Form that asks for one label, which becomes a plain vote."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.inputs_asked_by_form import Question
from plurivox.core.method import option
from plurivox.elicit._contract import Form, Shares, set_flag
from plurivox.elicit._shared.extract_named_and_ruled_out_labels import (
    CONTRADICTION_HELP,
    AnswerLabels,
    ContradictionRule,
    answer_label_pairs_of_mark_kind,
    flag_contradictions_and_mask_kept_labels,
)


@dataclass(frozen=True)
class OneLabel(Form):
    """Ask for one label: the label named first gets weight 1, a plain vote.

    >>> answers = Answers.of(task=["a", "a"], worker=["v", "w"], marks=[[("named", "cat", "70")], [("named", "dog", "")]])
    >>> OneLabel().read(answers).votes.counts()
    array([[1., 1.]])
    """

    asks: ClassVar[Question] = Question(labels=1)

    contradiction: ContradictionRule = option("named", CONTRADICTION_HELP)

    def explain(self) -> str:
        return "The label named gets 100%."

    def shares(self, answers: Answers) -> Shares:
        flags, top = np.zeros(len(answers), np.uint32), answers.label_codes_at_rank(0)
        set_flag(
            flags, "further-labels", answer_label_pairs_of_mark_kind(answers, "named").n_labels_per_answer > (top >= 0)
        )
        answered = np.flatnonzero(top >= 0)
        first = AnswerLabels(answered, top[answered], len(answers))
        first = first.select_answer_label_pairs(
            flag_contradictions_and_mask_kept_labels(
                first, answer_label_pairs_of_mark_kind(answers, "never"), self.contradiction, flags, len(answers.labels)
            )
        )
        return Shares(first.answer, first.label, np.ones(len(first.answer)), flags)
