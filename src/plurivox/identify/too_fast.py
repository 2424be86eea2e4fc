"""Share of a worker's answers that were given too fast, as a score of workers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group
from plurivox.identify._shared.score_intervals import wilson_interval_95
from plurivox.identify._shared.workers_gold_times_from_evidence import workers_and_seconds_of_timed_answers


@dataclass(frozen=True)
class TooFast(Identifier):
    """Share of a worker's answers that were faster than a number of seconds, or than a share of the median time.

    Too fast is below `seconds` if it is set, else below `of_median` times the median of all answers (speeders in surveys are
    often defined as those below 30 to 50 per cent of it: Greszki, Meyer & Schoen 2015,
    https://doi.org/10.1093/poq/nfu058). `raw` is the share, with Wilson's interval, badness = raw; `n` is the number of
    answers with a time.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(list("abcd"), ["ann", "ann", "bo", "bo"], list("xxyy"), seconds=[4, 8, 1, 6])
    >>> TooFast().score(Evidence(votes=votes)).raw
    array([0. , 0.5])
    """

    seconds: float | None = option(
        None, "answers faster than this many seconds are too fast; none: compare with the median", low=0
    )
    of_median: float = option(0.3, "answers faster than this share of the median of all answers are too fast", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("answers|votes",)

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        worker, seconds, workers = workers_and_seconds_of_timed_answers(evidence, self.name())
        limit = self.of_median * float(np.median(seconds)) if self.seconds is None else self.seconds
        n, fast = sum_by_group(worker, len(workers)), sum_by_group(worker[seconds < limit], len(workers))
        share = divide_or_nan(fast, n)
        low, high = wilson_interval_95(fast, n)
        return Scores("worker", workers, share, share, self.spec, low=low, high=high, n=n)
