"""Rule that removes workers with errors in their answers and low accuracy on tasks with known labels."""

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
from plurivox.core.array_types import Ints
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import option


@dataclass(frozen=True)
class ErrorsAndLowAccuracy(Rule):
    """Remove workers with errors in their answers whose accuracy on tasks with known labels is below 75% (option `least`).

    Errors are percents out of range, labels named and also ruled out, and top labels without a percent. By default low
    accuracy alone removes no worker: a worker who disagrees with the known labels may be right. `--fewest 0` checks the
    accuracy of all workers. Workers without an answer to a task with a known label stay.

    Collins et al. (2022), section 4.1, https://doi.org/10.1609/hcomp.v10i1.21986

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> from plurivox.core.soft_labels import SoftLabels
    >>> marks = [[("named", "cat", "")], [("named", "cat", "90")], [("named", "cat", "90")]]
    >>> answers = Answers.of(["a", "b", "b"], ["ann", "ann", "bo"], marks)
    >>> clean(answers, ["errors-and-low-accuracy"], SoftLabels.gold(["b"], ["dog"])).audit.reason.tolist()
    ['1 error, and 0% of 1 known task right, less than 75%']
    """

    former_names: ClassVar[tuple[str, ...]] = ("known-accuracy",)
    needs: ClassVar[tuple[str, ...]] = ("gold",)

    least: float = option(
        0.75,
        "remove a worker with errors in their answers if their accuracy on tasks with known labels is lower",
        low=0,
        high=1,
    )
    fewest: int = option(1, "check only workers with at least this many errors in their answers", low=0)
    most: int | None = option(
        None, "check only workers with at most this many errors in their answers; none: any number", low=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.most is not None and self.most < self.fewest:
            raise OptionError(f"{self.name()}: most must be at least fewest ({self.fewest}); got {self.most}")

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        errors = self._count_entry_errors_per_worker(answer_rows)
        share, n = answer_rows.accuracy_and_known_answer_count_per_worker()
        checked = (errors >= self.fewest) & (errors <= (np.inf if self.most is None else self.most))
        low = checked & (share < self.least)

        def low_accuracy_reason(worker: int) -> str:
            made = f"{count_text(int(errors[worker]), 'error')}, and " if errors[worker] else ""
            known = count_text(int(n[worker]), "known task")
            return f"{made}{format_percent(share[worker])} of {known} right, less than {format_percent(self.least)}"

        return (Findings.from_mask("worker", low, share, low_accuracy_reason),)

    def _count_entry_errors_per_worker(self, answer_rows: AnswerRows) -> Ints:
        """(n_workers,) errors in each worker's answers: percents out of range, contradictions and missing percents together."""
        if answer_rows.answers is None:
            if self.fewest == 0 and self.most is None:
                return np.zeros(answer_rows.n_workers, np.int64)
            raise InputError(
                f"{self.name()} counts errors in the answers entered, and votes have none: give the answers table, or "
                "check all workers (fewest=0)"
            )
        return np.sum(
            [
                answer_rows.count_answers_by_worker(kind(answer_rows))
                for kind in (
                    mask_of_answers_with_percent_out_of_range,
                    mask_of_answers_naming_ruled_out_label,
                    mask_of_answers_without_top_percent,
                )
            ],
            axis=0,
        )
