"""The exclusion rules of Collins et al. (2022), as implemented in their released code."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.answer_errors import has_contradiction, has_percent_out_of_range, lacks_top_percent
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import format_count, format_percent
from plurivox.clean.collins2022 import describe_errors
from plurivox.core.method import option


@dataclass(frozen=True)
class Collins2022Released(Rule):
    """The rules of the CIFAR-10S release, stricter than the paper's: any percent outside 0 to 100 removes a worker.

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

    at_most: int = option(1, "remove workers with more contradictions, or more missing percents", low=0)
    accuracy: float = option(0.75, "remove workers with one of these and a lower accuracy", low=0, high=1)

    def _check(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        flags = (
            has_percent_out_of_range(answer_rows),
            has_contradiction(answer_rows),
            lacks_top_percent(answer_rows, zero=True),
        )
        kinds = np.stack([answer_rows.count_by_worker(flag) for flag in flags])  # (3, n_workers)
        share, _ = answer_rows.accuracy()
        beyond = kinds[0] > 0
        many = ~beyond & (kinds[1:].max(0) > self.at_most)
        poor = ~beyond & ~many & (kinds[1:].sum(0) > 0) & (share < self.accuracy)
        stays = (kinds.sum(0) > 0) & ~beyond & ~many & ~poor

        def beyond_reason(worker: int) -> str:
            return f"{format_count(int(kinds[0, worker]), 'percent')} out of range"

        def many_reason(worker: int) -> str:
            return f"{describe_errors(kinds[:, worker])}, more than {self.at_most} of one kind"

        def poor_reason(worker: int) -> str:
            right = f"{format_percent(share[worker])} right, less than {format_percent(self.accuracy)}"
            return f"{describe_errors(kinds[:, worker])}, and {right}"

        def stays_reason(worker: int) -> str:
            unknown = np.isnan(share[worker])
            right = "no answer to a task with a known label" if unknown else f"{format_percent(share[worker])} right"
            return f"{describe_errors(kinds[:, worker])}, but {right}"

        return (
            Findings.from_mask("worker", beyond, kinds[0], beyond_reason),
            Findings.from_mask("worker", many, kinds[1:].max(0), many_reason),
            Findings.from_mask("worker", poor, share, poor_reason),
            Findings.from_mask("worker", stays, share, stays_reason, "flagged"),
        )
