"""Rule that removes workers who fail attention checks: they answer tasks with known labels wrongly."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.core.count_text import count_text
from plurivox.core.method import option


@dataclass(frozen=True)
class AttentionChecks(Rule):
    """Remove workers whose answers differ from the known labels of too many attention checks (all tasks with known labels).

    Give the known labels of the checks only (`--gold checks.csv`): with the known labels of all tasks, every worker who ever
    disagrees with one is removed. Workers without a check stay.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(["check", "check", "a"], ["ann", "bo", "bo"], ["red", "blue", "red"])
    >>> clean(votes, ["attention-checks"], SoftLabels.gold(["check"], ["red"])).audit.reason.tolist()
    ['failed 1 of 1 check; at most 0 allowed']
    """

    needs: ClassVar[tuple[str, ...]] = ("gold",)

    at_most: int = option(0, "remove workers who fail more attention checks than this", low=0)
    share: float = option(
        0.0, "remove a worker only if they also fail more than this share of their attention checks", low=0, high=1
    )

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        failed = answer_rows.count_answers_by_worker(answer_rows.correctness_of_each_answer == 0)
        n = answer_rows.count_answers_by_worker(~np.isnan(answer_rows.correctness_of_each_answer))
        share = np.where(n > 0, failed / np.maximum(n, 1), np.nan)
        out = (failed > self.at_most) & (share > self.share)

        def failed_checks_reason(worker: int) -> str:
            return f"failed {failed[worker]:,} of {count_text(int(n[worker]), 'check')}; at most {self.at_most} allowed"

        return (Findings.from_mask("worker", out, failed, failed_checks_reason),)
