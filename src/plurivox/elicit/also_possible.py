"""The inverted question: a top label, and which others are possible too."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.answers import Answers
from plurivox.core.names import Bools
from plurivox.elicit._marks import Pairs, marked
from plurivox.elicit._percented import Percented
from plurivox.elicit._shares import Shares
from plurivox.elicit._spread import spread


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

    sure: ClassVar[bool] = True

    def shares(self, answers: Answers) -> Shares:
        named, points, never, flags = self.columns(answers, asked=2, used=2)
        n_labels = len(answers.labels)
        possible = marked(answers, "possible").sorted(n_labels)
        closed = (pairs.has(possible.answer, possible.label, n_labels) for pairs in (named, never))
        possible = possible.where(~next(closed) & ~next(closed))

        def find(wanted: Bools) -> Pairs:
            return possible.where(wanted[possible.answer])

        return spread(named, points, find, self.gamma, flags, n_labels, bare=True)
