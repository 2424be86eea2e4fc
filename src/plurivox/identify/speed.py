"""The median time a worker takes for an answer."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.engine.kernels.group_by import group_medians, group_rows
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import sum_by
from plurivox.identify._shared.requirements import times


@dataclass(frozen=True)
class Speed(Identifier):
    """The median time a worker takes for an answer, in seconds.

    `raw` is the median, value = -median: who is fastest is the most to be doubted. `n` is how many answers have a time.
    The times are those of the answers, or else those of the votes. For the share of answers that are too fast, see
    too-fast.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(list("abc"), ["ann", "ann", "bo"], list("xxy"), seconds=[4, 8, 2])
    >>> Speed().score(Evidence(votes=votes)).raw
    array([6., 2.])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("answers|votes",)

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        worker, seconds, workers = times(seen, self.name())
        order, start = group_rows(worker, len(workers))
        raw = group_medians(start, seconds[order])
        return Scores("worker", workers, -raw, self.spec, raw=raw, n=sum_by(worker, len(workers)))
