"""Rule that removes answers given in too few seconds, and workers with a large share of such answers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.clean._shared.percent_text import format_percent
from plurivox.core.count_text import count_text
from plurivox.core.method import option


@dataclass(frozen=True)
class TooFast(Rule):
    """Remove answers that took too few seconds, and workers with too large a share of them.

    too fast: seconds < max(`seconds`, `of_median` x the median over all answers), as in the score too-fast of plurivox
    identify. An answer with unknown duration stays. As an exclusion rule of a studio, `seconds` is `too_fast_seconds` of
    the study unless the rule sets it.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(["a", "b", "c"], ["ann", "ann", "ann"], ["x", "y", "x"], seconds=[0.4, 3, 5])
    >>> clean(votes, ["too-fast"]).audit.reason.tolist()
    ['took 0.4 seconds, less than 1']
    """

    needs: ClassVar[tuple[str, ...]] = ("seconds",)

    seconds: float = option(1.0, "remove answers that took fewer seconds than this", low=0)
    of_median: float = option(
        0.0, "also remove answers that took less than this share of the median time of all answers", low=0
    )
    share: float | None = option(
        0.5,
        "remove workers with a larger share of too fast answers, with all their answers; none: remove no worker",
        low=0,
        high=1,
    )

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        took = answer_rows.seconds
        assert took is not None
        known = np.isfinite(took)
        median = float(np.median(took[known])) if self.of_median and known.any() else 0.0
        limit = max(self.seconds, self.of_median * median)
        fast = known & (took < limit)
        n_fast, n_known = answer_rows.count_answers_by_worker(fast), answer_rows.count_answers_by_worker(known)
        share = np.where(n_known > 0, n_fast / np.maximum(n_known, 1), np.nan)
        too_many = np.zeros(len(n_fast), bool) if self.share is None else share > self.share

        def too_many_fast_answers_reason(worker: int) -> str:
            fast_share = f"{format_percent(share[worker])} of {count_text(int(n_known[worker]), 'answer')}"
            time = f"{limit:.4g} second{'s' * (limit != 1)}"
            return f"{fast_share} took less than {time}; at most {format_percent(self.share or 0)} allowed"

        return (
            Findings.from_mask("worker", too_many, share, too_many_fast_answers_reason),
            Findings.from_mask("answer", fast, took, lambda i: f"took {took[i]:.3g} seconds, less than {limit:.4g}"),
        )
