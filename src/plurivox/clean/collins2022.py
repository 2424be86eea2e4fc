"""Exclusion rules of Collins et al. (2022) as stated in the paper: remove workers with many errors in their answers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.clean._shared.invalid_answer_entries import (
    mask_of_answers_naming_ruled_out_label,
    mask_of_answers_with_percent_out_of_range,
    mask_of_answers_without_top_percent,
)
from plurivox.clean._shared.percent_text import format_percent
from plurivox.core.array_types import Ints
from plurivox.core.count_text import count_text
from plurivox.core.method import option


@dataclass(frozen=True)
class Collins2022(Rule):
    """Rules of the CIFAR-10S paper: remove workers with more than two errors, or with one error and an accuracy below 75%.

    Errors: a percent outside 0 to 100; a label named and also ruled out; no percent for the top label. Workers with exactly
    one error are removed if less than 75% of their answers to tasks with known labels are right; low accuracy alone removes
    no worker. The paper does not mention workers with two errors: they stay, and are flagged like all workers with errors
    who stay. The paper can be read as counting the three kinds of errors together, as here, or separately.

    Collins et al. (2022), section 4.1, https://doi.org/10.1609/hcomp.v10i1.21986

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> from plurivox.core.soft_labels import SoftLabels
    >>> answers = Answers.of(["a", "b", "c"], ["ann"] * 3, [[("named", "cat", typed)] for typed in ("", "120", "-1")])
    >>> clean(answers, ["collins2022"], SoftLabels.gold(["a"], ["cat"])).audit.reason.tolist()
    ['3 errors (2 out of range, 0 contradictions, 1 percent missing), more than 2']
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    needs: ClassVar[tuple[str, ...]] = ("marks", "gold")

    at_most: int = option(2, "remove workers with more errors in their answers than this", low=0)
    accuracy: float = option(
        0.75, "remove workers with one error and a lower accuracy than this on tasks with known labels", low=0, high=1
    )
    count: Literal["together", "apart"] = option(
        "together", "count the three kinds of errors together, or separately (apart)"
    )

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        checks = (
            mask_of_answers_with_percent_out_of_range,
            mask_of_answers_naming_ruled_out_label,
            mask_of_answers_without_top_percent,
        )
        # (3, n_workers)
        error_counts = np.stack([answer_rows.count_answers_by_worker(check(answer_rows)) for check in checks])
        total = error_counts.sum(0)
        share, _ = answer_rows.accuracy_and_known_answer_count_per_worker()
        many = (total if self.count == "together" else error_counts.max(0)) > self.at_most
        poor = ~many & (total == 1) & (share < self.accuracy)
        stays = (total > 0) & ~many & ~poor

        def too_many_errors_reason(worker: int) -> str:
            of_one_kind = "" if self.count == "together" else " of one kind"
            return f"{error_counts_text(error_counts[:, worker])}, more than {self.at_most}{of_one_kind}"

        def low_accuracy_reason(worker: int) -> str:
            right = f"{format_percent(share[worker])} right, less than {format_percent(self.accuracy)}"
            return f"{error_counts_text(error_counts[:, worker])}, and {right}"

        return (
            Findings.from_mask("worker", many, total, too_many_errors_reason),
            Findings.from_mask("worker", poor, share, low_accuracy_reason),
            Findings.from_mask(
                "worker",
                stays,
                total,
                lambda worker: self._kept_worker_reason(error_counts[:, worker], share[worker]),
                "flagged",
            ),
        )

    def _kept_worker_reason(self, error_counts: Ints, accuracy: float) -> str:
        """Return why a worker with errors is kept, as text, from the counts of the three kinds of error and the accuracy."""
        if error_counts.sum() > 1:
            return f"{error_counts_text(error_counts)}, not more than {self.at_most}: the paper does not mention these; kept"
        if np.isnan(accuracy):
            return f"{error_counts_text(error_counts)}, and no answer to a task with a known label"
        return f"{error_counts_text(error_counts)}, but {format_percent(accuracy)} right"


def error_counts_text(error_counts: Ints) -> str:
    """Return a worker's errors as text; `error_counts` (3,): percents out of range, contradictions, missing percents."""
    out_of_range, contradictions, missing = error_counts.tolist()
    parts = f"{out_of_range:,} out of range, {count_text(contradictions, 'contradiction')}"
    parts += f", {count_text(missing, 'percent')} missing"
    return f"{count_text(int(error_counts.sum()), 'error')} ({parts})"
