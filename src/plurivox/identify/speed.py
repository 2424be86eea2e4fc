"""Median time per answer of a worker, in seconds."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.engine.kernels.group_by import group_medians, row_order_and_offsets_by_group
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import sum_by_group
from plurivox.identify._shared.workers_gold_times_from_evidence import workers_and_seconds_of_timed_answers


@dataclass(frozen=True)
class Speed(Identifier):
    """Median time per answer of a worker, in seconds.

    `raw` is the median, badness = -median: the fastest worker ranks worst. `n` is the number of answers with a time. The times
    are those of the answers if they have any, else those of the votes. For the share of answers that are too fast, see
    too-fast.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(list("abc"), ["ann", "ann", "bo"], list("xxy"), seconds=[4, 8, 2])
    >>> Speed().score(Evidence(votes=votes)).raw
    array([6., 2.])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("answers|votes",)

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        worker, seconds, workers = workers_and_seconds_of_timed_answers(evidence, self.name())
        order, start = row_order_and_offsets_by_group(worker, len(workers))
        raw = group_medians(start, seconds[order])
        return Scores("worker", workers, raw, -raw, self.spec, n=sum_by_group(worker, len(workers)))
