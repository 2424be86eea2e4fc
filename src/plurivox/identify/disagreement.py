"""The share of a task's votes that are not for its most voted label."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.dispersion import spread_of_votes


@dataclass(frozen=True)
class Disagreement(Identifier):
    """The share of a task's votes that are not for its most voted label.

    value(task) = 1 - max_k n_k / sum_k n_k, and nan for a task without votes. `raw` is the same number.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=["a", "a", "a", "b"], worker=["x", "y", "z", "x"], label=["cat", "cat", "dog", "dog"])
    >>> Disagreement().score(Evidence(votes=votes)).value.round(3)
    array([0.333, 0.   ])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[ScoreTarget] = "task"

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        assert seen.votes is not None
        shares = spread_of_votes(seen.votes)
        value = shares.told(1 - shares.largest)
        return Scores("task", shares.tasks, value, self.spec, raw=value, n=shares.support)
