"""Form that asks for a top label, an optional second label, and the other labels that are possible."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.inputs_asked_by_form import Question
from plurivox.elicit._contract import Shares, set_flag
from plurivox.elicit._shared.extract_named_and_ruled_out_labels import (
    answer_label_pairs_of_mark_kind,
    sort_by_answer_and_label,
)
from plurivox.elicit._shared.percent_form_base_class import (
    EXPLAIN_NAMED,
    PercentForm,
    Split,
    explain_rest_on,
)


@dataclass(frozen=True)
class AlsoPossible(PercentForm):
    """Ask for a top label and an optional second label, each with an optional percent, and the other labels that are possible.

    As top-two, but the rest of 100 percent goes to the n labels marked as possible; unmarked labels get no weight:

        P < 100:        named p / 100,            possible (100 - P) / (100 n)
        P >= 100:       named (1 - gamma) p / P,  possible gamma / n
        none possible:  named p / P

    A top label without a percent counts as certain: it has 100 percent minus the percent of the second label. If no label is
    named, the possible labels have equal weight.

    >>> marks = [("named", "cat", ""), ("possible", "dog", "")]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=[marks], labels=["cat", "dog", "bird"])
    >>> AlsoPossible().read(answers).votes.counts()
    array([[0.9, 0.1, 0. ]])
    """

    asks: ClassVar[Question] = Question(labels=2, percents=True, ticks="possible")
    top_is_certain: ClassVar[bool] = True

    def explain(self) -> str:
        return (
            f"{EXPLAIN_NAMED} {explain_rest_on('the labels marked as also possible', self.gamma)} "
            "Labels that were neither named nor marked get nothing."
        )

    def shares(self, answers: Answers) -> Shares:
        named, points, flags = self.first_labels_corrected_percents_and_flags(answers, n_first_labels=2)
        n_labels = len(answers.labels)
        possible = answer_label_pairs_of_mark_kind(answers, "possible").sorted_unique_answer_label_pairs(n_labels)
        for closed in (named, answer_label_pairs_of_mark_kind(answers, "never")):
            possible = possible.select_answer_label_pairs(
                ~closed.contains_answer_label_pairs(possible.answer, possible.label, n_labels)
            )
        split = Split(named, points, self.gamma)
        total, n_open = split.percent_sum_per_answer, possible.n_labels_per_answer
        wanted = split.gives_unnamed_labels_weight_or_gamma(total) | (total == 0)
        set_flag(flags, "no-room", wanted & (total < 100) & (n_open == 0) & (total > 0))
        weight, each = split.named_and_open_label_weights(total, np.where(wanted, n_open, 0), flags)
        answer = np.concatenate([named.answer, possible.answer])
        label = np.concatenate([named.label, possible.label])
        weights = np.concatenate([weight, each[possible.answer]])
        kept = weights > 0
        return Shares(*sort_by_answer_and_label(answer[kept], label[kept], weights[kept], n_labels), flags)
