"""Share of a worker's answers that were given too fast, as a score of workers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.errors import warn_user
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group
from plurivox.identify._shared.score_intervals import wilson_interval_95
from plurivox.identify._shared.workers_gold_times_from_evidence import workers_and_seconds_of_timed_answers

LOW_SHARE_OF_MEDIAN = 0.1  # of the median time; a lower limit finds no one in studies with long answers


@dataclass(frozen=True)
class TooFast(Identifier):
    """Share of a worker's answers that took fewer seconds than a limit, or than a share of the median time.

    too fast: seconds < max(`seconds`, `of_median` x the median over all answers), as in the rule too-fast of plurivox clean
    and in the studio, whose limit is `too_fast_seconds` of the study. If answers take long, set `of_median`: speeders in
    surveys are often defined as those below 30 to 50 per cent of the median (Greszki, Meyer & Schoen 2015,
    https://doi.org/10.1093/poq/nfu058). `raw` is the share, with Wilson's interval, badness = raw; `n` is the number of
    answers with a time.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(list("abcd"), ["ann", "ann", "bo", "bo"], list("xxyy"), seconds=[4, 8, 0.6, 6])
    >>> TooFast().score(Evidence(votes=votes)).raw
    array([0. , 0.5])
    >>> TooFast(of_median=0.9).score(Evidence(votes=votes)).raw
    array([0.5, 0.5])
    """

    seconds: float | None = option(
        1.0, "answers that took fewer seconds than this are too fast; none: compare with the median only", low=0
    )
    of_median: float = option(
        0.0, "answers that took less than this share of the median time of all answers are too fast too", low=0
    )

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("answers|votes",)

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        worker, seconds, workers = workers_and_seconds_of_timed_answers(evidence, self.name())
        median = float(np.median(seconds))
        limit = max(self.seconds or 0.0, self.of_median * median)
        if limit < LOW_SHARE_OF_MEDIAN * median and not (seconds < limit).any():
            warn_user(
                f"no answer took less than {limit:.3g} seconds, and half of them more than {median:.3g}; to find workers who "
                "are much faster than others, set of_median=0.3 (--of-median 0.3)"
            )
        n, fast = sum_by_group(worker, len(workers)), sum_by_group(worker[seconds < limit], len(workers))
        share = divide_or_nan(fast, n)
        low, high = wilson_interval_95(fast, n)
        return Scores("worker", workers, share, share, self.spec, low=low, high=high, n=n)
