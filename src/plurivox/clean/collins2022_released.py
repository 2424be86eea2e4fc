"""Exclusion rules of Collins et al. (2022) as in their released code: remove workers with errors in their answers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.clean._shared.invalid_answer_entries import (
    mask_of_answers_naming_ruled_out_label,
    mask_of_answers_with_percent_out_of_range,
    mask_of_answers_without_top_percent,
)
from plurivox.clean._shared.percent_text import format_percent
from plurivox.clean.collins2022 import error_counts_text
from plurivox.core.count_text import count_text
from plurivox.core.method import option


@dataclass(frozen=True)
class Collins2022Released(Rule):
    """Rules of the released CIFAR-10S code, stricter than the paper: a single percent outside 0 to 100 removes a worker.

    Workers are also removed for more than one contradiction, or more than one top label without a percent, or for one of
    either and less than 75% of right answers. The kinds are counted separately. As in the released code, a percent of 0 for
    the top label counts as none.

    Collins et al. (2022), https://github.com/cambridge-mlg/cifar-10s

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> from plurivox.core.soft_labels import SoftLabels
    >>> answers = Answers.of(["a", "b"], ["ann"] * 2, [[("named", "cat", "120")], [("named", "cat", "80")]])
    >>> clean(answers, ["collins2022-released"], SoftLabels.gold(["a"], ["cat"])).audit.reason.tolist()
    ['1 percent out of range']
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    needs: ClassVar[tuple[str, ...]] = ("marks", "gold")

    at_most: int = option(1, "remove workers with more contradictions, or more missing percents, than this", low=0)
    accuracy: float = option(
        0.75,
        "remove workers with a contradiction or missing percent and a lower accuracy than this on known labels",
        low=0,
        high=1,
    )

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        flags = (
            mask_of_answers_with_percent_out_of_range(answer_rows),
            mask_of_answers_naming_ruled_out_label(answer_rows),
            mask_of_answers_without_top_percent(answer_rows, zero_is_missing=True),
        )
        error_counts = np.stack([answer_rows.count_answers_by_worker(flag) for flag in flags])  # (3, n_workers)
        share, _ = answer_rows.accuracy_and_known_answer_count_per_worker()
        beyond = error_counts[0] > 0
        many = ~beyond & (error_counts[1:].max(0) > self.at_most)
        poor = ~beyond & ~many & (error_counts[1:].sum(0) > 0) & (share < self.accuracy)
        stays = (error_counts.sum(0) > 0) & ~beyond & ~many & ~poor

        def out_of_range_reason(worker: int) -> str:
            return f"{count_text(int(error_counts[0, worker]), 'percent')} out of range"

        def too_many_errors_reason(worker: int) -> str:
            return f"{error_counts_text(error_counts[:, worker])}, more than {self.at_most} of one kind"

        def low_accuracy_reason(worker: int) -> str:
            right = f"{format_percent(share[worker])} right, less than {format_percent(self.accuracy)}"
            return f"{error_counts_text(error_counts[:, worker])}, and {right}"

        def kept_worker_reason(worker: int) -> str:
            unknown = np.isnan(share[worker])
            right = "no answer to a task with a known label" if unknown else f"{format_percent(share[worker])} right"
            return f"{error_counts_text(error_counts[:, worker])}, but {right}"

        return (
            Findings.from_mask("worker", beyond, error_counts[0], out_of_range_reason),
            Findings.from_mask("worker", many, error_counts[1:].max(0), too_many_errors_reason),
            Findings.from_mask("worker", poor, share, low_accuracy_reason),
            Findings.from_mask("worker", stays, share, kept_worker_reason, "flagged"),
        )
