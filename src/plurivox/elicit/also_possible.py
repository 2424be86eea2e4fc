"""The inverted question: a top label, and which others are possible too."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.questions import Question
from plurivox.elicit._contract import Shares, set_flag
from plurivox.elicit._shared.marks import marked, sorted_pairs
from plurivox.elicit._shared.percent_form import Percented, Split


@dataclass(frozen=True)
class AlsoPossible(Percented):
    """A top label, perhaps a second, each with a percent or none, and the labels that are possible too.

    As top-two, but the rest goes to the labels marked as possible, and what is unmarked is negligible:

        P < 100:        named p / 100,            possible (100 - P) / (100 n)
        P >= 100:       named (1 - gamma) p / P,  possible gamma / n
        none possible:  named p / P

    A top label without a percent is sure: it has 100 percent, less what is typed beside the second. With no label named at
    all, the possible ones share everything.

    >>> marks = [("named", "cat", ""), ("possible", "dog", "")]
    >>> answers = Answers.of(task=["a"], worker=["w"], marks=[marks], labels=["cat", "dog", "bird"])
    >>> AlsoPossible().read(answers).votes.counts()
    array([[0.9, 0.1, 0. ]])
    """

    asks: ClassVar[Question] = Question(labels=2, percents=True, ticks="possible")
    sure: ClassVar[bool] = True

    def shares(self, answers: Answers) -> Shares:
        named, points, flags = self.columns(answers, used=2)
        n_labels = len(answers.labels)
        possible = marked(answers, "possible").sorted(n_labels)
        for closed in (named, marked(answers, "never")):
            possible = possible.where(~closed.has(possible.answer, possible.label, n_labels))
        split = Split(named, points, self.gamma)
        total, n_open = split.total, possible.counts
        wanted = split.wants(total) | (total == 0)
        set_flag(flags, "no-room", wanted & (total < 100) & (n_open == 0) & (total > 0))
        weight, each = split.weigh(total, np.where(wanted, n_open, 0), flags)
        answer = np.concatenate([named.answer, possible.answer])
        label = np.concatenate([named.label, possible.label])
        weights = np.concatenate([weight, each[possible.answer]])
        kept = weights > 0
        return Shares(*sorted_pairs(answer[kept], label[kept], weights[kept], n_labels), flags)
