"""A top label, and the other labels that are possible."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.questions import Question
from plurivox.elicit._contract import Shares, set_flag
from plurivox.elicit._shared.answer_marks import marks_of_kind, sorted_pairs
from plurivox.elicit._shared.percent_form import PercentForm, Split


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

    def shares(self, answers: Answers) -> Shares:
        named, points, flags = self.named_percents(answers, used=2)
        n_labels = len(answers.labels)
        possible = marks_of_kind(answers, "possible").sorted_unique(n_labels)
        for closed in (named, marks_of_kind(answers, "never")):
            possible = possible.where(~closed.contains(possible.answer, possible.label, n_labels))
        split = Split(named, points, self.gamma)
        total, n_open = split.total, possible.counts
        wanted = split.has_rest(total) | (total == 0)
        set_flag(flags, "no-room", wanted & (total < 100) & (n_open == 0) & (total > 0))
        weight, each = split.weights(total, np.where(wanted, n_open, 0), flags)
        answer = np.concatenate([named.answer, possible.answer])
        label = np.concatenate([named.label, possible.label])
        weights = np.concatenate([weight, each[possible.answer]])
        kept = weights > 0
        return Shares(*sorted_pairs(answer[kept], label[kept], weights[kept], n_labels), flags)
