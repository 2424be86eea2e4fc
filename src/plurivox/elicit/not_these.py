"""Form that asks for the labels that are ruled out."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from plurivox.core.answers import NEVER, POSSIBLE, Answers
from plurivox.core.inputs_asked_by_form import Question
from plurivox.core.method import option
from plurivox.elicit._contract import Form, Shares, set_flag
from plurivox.elicit._shared.extract_named_and_ruled_out_labels import (
    CONTRADICTION_HELP,
    ContradictionRule,
    answer_label_pairs_of_mark_kind,
    flag_contradictions_and_mask_kept_labels,
)
from plurivox.elicit._shared.percent_form_base_class import Split, label_weights_with_rest_on_open_labels


@dataclass(frozen=True)
class NotThese(Form):
    """Ask for the labels that are ruled out; the other labels get equal weight.

    An answer that rules out no label gives equal weight to all labels; an answer that rules out all labels is unreadable. A
    label that is also named is not ruled out, unless contradiction=never.

    >>> marks = [[("never", "ship", "")]]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=marks, labels=["cat", "dog", "ship"])
    >>> NotThese().read(answers).votes.counts()
    array([[0.5, 0.5, 0. ]])
    """

    asks: ClassVar[Question] = Question(labels=0, ticks="never")

    contradiction: ContradictionRule = option("named", CONTRADICTION_HELP)

    def explain(self) -> str:
        return "The labels that were not ruled out get equal shares."

    def shares(self, answers: Answers) -> Shares:
        named, never, n_labels = (
            answer_label_pairs_of_mark_kind(answers, "named"),
            answer_label_pairs_of_mark_kind(answers, "never"),
            len(answers.labels),
        )
        flags = np.zeros(len(answers), np.uint32)
        kept = flag_contradictions_and_mask_kept_labels(named, never, self.contradiction, flags, n_labels)
        set_flag(flags, "nothing-ruled-out", never.n_labels_per_answer == 0)
        if self.contradiction == "named":
            spared = named.contains_answer_label_pairs(never.answer, never.label, n_labels)
            kinds = answers.mark_kind.copy()
            kinds[np.flatnonzero(kinds == NEVER)[spared]] = POSSIBLE
            answers = replace(answers, mark_kind=kinds)
        nothing = Split(named.select_answer_label_pairs(np.zeros(len(kept), bool)), np.zeros(0), 0.0)
        found = label_weights_with_rest_on_open_labels(answers, nothing, "clamp", flags, without_named=True)
        if self.contradiction != "drop":
            return found
        stays = ~np.isin(found.answer, named.answer[~kept])
        return Shares(found.answer[stays], found.label[stays], found.weight[stays], flags)
