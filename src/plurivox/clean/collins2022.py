"""The exclusion rules of Collins et al. (2022), as stated in the paper."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.answer_errors import has_contradiction, has_percent_out_of_range, lacks_top_percent
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import format_count, format_percent
from plurivox.core.method import option
from plurivox.core.types import Ints


@dataclass(frozen=True)
class Collins2022(Rule):
    """The rules of the CIFAR-10S paper: remove workers with more than two errors, or with one error and a low accuracy.

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

    at_most: int = option(2, "remove workers with more errors", low=0)
    accuracy: float = option(0.75, "remove workers with one error and a lower accuracy", low=0, high=1)
    count: Literal["together", "apart"] = option(
        "together", "count the three kinds of errors together, or separately (apart)"
    )

    def _check(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        checks = (has_percent_out_of_range, has_contradiction, lacks_top_percent)
        kinds = np.stack([answer_rows.count_by_worker(check(answer_rows)) for check in checks])  # (3, n_workers)
        total = kinds.sum(0)
        share, _ = answer_rows.accuracy()
        many = (total if self.count == "together" else kinds.max(0)) > self.at_most
        poor = ~many & (total == 1) & (share < self.accuracy)
        stays = (total > 0) & ~many & ~poor

        def many_reason(worker: int) -> str:
            of_one_kind = "" if self.count == "together" else " of one kind"
            return f"{describe_errors(kinds[:, worker])}, more than {self.at_most}{of_one_kind}"

        def poor_reason(worker: int) -> str:
            right = f"{format_percent(share[worker])} right, less than {format_percent(self.accuracy)}"
            return f"{describe_errors(kinds[:, worker])}, and {right}"

        return (
            Findings.from_mask("worker", many, total, many_reason),
            Findings.from_mask("worker", poor, share, poor_reason),
            Findings.from_mask(
                "worker", stays, total, lambda worker: self._stays_reason(kinds[:, worker], share[worker]), "flagged"
            ),
        )

    def _stays_reason(self, kinds: Ints, share: float) -> str:
        """Return the reason why a worker with errors stays; `kinds` (3,) errors of each kind, `share` the accuracy."""
        if kinds.sum() > 1:
            return f"{describe_errors(kinds)}, not more than {self.at_most}: the paper does not mention these; kept"
        if np.isnan(share):
            return f"{describe_errors(kinds)}, and no answer to a task with a known label"
        return f"{describe_errors(kinds)}, but {format_percent(share)} right"


def describe_errors(kinds: Ints) -> str:
    """Return the errors of a worker as text; `kinds` (3,) counts those out of range, contradictory and without percent."""
    out_of_range, contradictions, missing = kinds.tolist()
    parts = f"{out_of_range:,} out of range, {format_count(contradictions, 'contradiction')}"
    parts += f", {format_count(missing, 'percent')} missing"
    return f"{format_count(int(kinds.sum()), 'error')} ({parts})"
