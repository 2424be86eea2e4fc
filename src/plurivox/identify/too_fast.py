"""The share of a worker's answers that came too fast."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import quotient, sum_by
from plurivox.identify._shared.intervals import wilson
from plurivox.identify._shared.requirements import times


@dataclass(frozen=True)
class TooFast(Identifier):
    """The share of a worker's answers that came too fast to have been thought about.

    Too fast is below `seconds`, or else below `of_median` times the median of all answers (speeders in surveys are
    often taken to be those below 30 to 50 per cent of it: Greszki, Meyer & Schoen 2015,
    https://doi.org/10.1093/poq/nfu058). Value and `raw` are the share, with Wilson's interval; `n` is how many answers
    have a time.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(list("abcd"), ["ann", "ann", "bo", "bo"], list("xxyy"), seconds=[4, 8, 1, 6])
    >>> TooFast().score(Evidence(votes=votes)).value
    array([0. , 0.5])
    """

    seconds: float | None = option(None, "answers below it are too fast; none: go by the median", low=0)
    of_median: float = option(0.3, "share of the median of all answers below which one is too fast", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("answers|votes",)

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        worker, seconds, workers = times(seen, self.name())
        least = self.of_median * float(np.median(seconds)) if self.seconds is None else self.seconds
        n, fast = sum_by(worker, len(workers)), sum_by(worker[seconds < least], len(workers))
        share = quotient(fast, n)
        low, high = wilson(fast, n)
        return Scores("worker", workers, share, self.spec, raw=share, low=low, high=high, n=n)
