"""Rule that removes workers whose repeated answers to the same task often have another top label."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.core.count_text import count_text
from plurivox.core.method import option


@dataclass(frozen=True)
class InconsistentRepeats(Rule):
    """Remove workers whose top label differs from their own earlier answer in too large a share of their repeated tasks.

    changed(worker) = repeats with another top label / repeats. Repeats are the answers marked as such; if none are
    marked, every further answer of a worker to a task.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(list("aabb"), ["ann"] * 4, ["x", "y", "y", "x"])
    >>> clean(votes, ["inconsistent-repeats"]).audit.reason.tolist()
    ['another top label in 2 of 2 repeats']
    """

    needs: ClassVar[tuple[str, ...]] = ("repeats",)

    share: float = option(
        0.5,
        "remove workers whose top label changed in a larger share of their repeated answers than this",
        low=0,
        high=1,
    )
    fewest: int = option(2, "check only workers with at least this many repeated answers", low=1)

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        later, earlier = answer_rows.later_and_earlier_repeat_indices
        again = np.zeros(len(answer_rows), bool)
        again[later] = True
        changed = np.zeros(len(answer_rows), bool)
        changed[later] = answer_rows.top[later] != answer_rows.top[earlier]
        n, n_changed = answer_rows.count_answers_by_worker(again), answer_rows.count_answers_by_worker(changed)
        share = np.where(n > 0, n_changed / np.maximum(n, 1), np.nan)
        out = (n >= self.fewest) & (share > self.share)

        def inconsistent_worker_reason(worker: int) -> str:
            return f"another top label in {n_changed[worker]:,} of {count_text(int(n[worker]), 'repeat')}"

        return (Findings.from_mask("worker", out, share, inconsistent_worker_reason),)
