"""Answers given too fast to have looked."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import percent, several
from plurivox.core.method import option


@dataclass(frozen=True)
class TooFast(Rule):
    """Answers given too fast to have looked, and people most of whose answers are.

    too fast: seconds < max(`seconds`, `of_median` x the median over all answers). An answer whose time is not known stays.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(["a", "b", "c"], ["ann", "ann", "ann"], ["x", "y", "x"], seconds=[0.4, 3, 5])
    >>> clean(votes, ["too-fast"]).audit.reason.tolist()
    ['took 0.4 seconds, less than 1']
    """

    needs: ClassVar[tuple[str, ...]] = ("seconds",)

    seconds: float = option(1.0, "answers that took less go", low=0)
    of_median: float = option(0.0, "answers that took less than this share of the median go too", low=0)
    share: float | None = option(
        0.5, "people with a larger share of such answers go, with all of them; none: nobody does", low=0, high=1
    )

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        took = seen.seconds
        assert took is not None
        known = np.isfinite(took)
        median = float(np.median(took[known])) if self.of_median and known.any() else 0.0
        limit = max(self.seconds, self.of_median * median)
        fast = known & (took < limit)
        n, of = seen.tally(fast), seen.tally(known)
        share = np.where(of > 0, n / np.maximum(of, 1), np.nan)
        hasty = np.zeros(len(n), bool) if self.share is None else share > self.share

        def why(who: int) -> str:
            part = f"{percent(share[who])} of {several(int(of[who]), 'answer')}"
            return f"{part} took less than {limit:.4g} seconds, more than {percent(self.share or 0)} may"

        return (
            Found.where("worker", hasty, share, why),
            Found.where("answer", fast, took, lambda i: f"took {took[i]:.3g} seconds, less than {limit:.4g}"),
        )
