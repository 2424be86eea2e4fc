"""People who fail tasks whose answer is known."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import several
from plurivox.core.method import option


@dataclass(frozen=True)
class AttentionChecks(Rule):
    """People who fail more checks than they may; every task with a known label is taken for a check.

    Give the known labels of the checks alone (`--gold checks.csv`): were all labels given, nobody would stay who ever
    disagreed with them. People without a check stay.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(["check", "check", "a"], ["ann", "bo", "bo"], ["red", "blue", "red"])
    >>> clean(votes, ["attention-checks"], SoftLabels.gold(["check"], ["red"])).audit.reason.tolist()
    ['failed 1 of 1 check; at most 0 may be']
    """

    needs: ClassVar[tuple[str, ...]] = ("gold",)

    at_most: int = option(0, "people who fail more checks go", low=0)
    share: float = option(0.0, "and only if they fail more than this share of theirs", low=0, high=1)

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        failed, n = seen.tally(seen.right == 0), seen.tally(~np.isnan(seen.right))
        share = np.where(n > 0, failed / np.maximum(n, 1), np.nan)
        out = (failed > self.at_most) & (share > self.share)

        def why(who: int) -> str:
            return f"failed {failed[who]:,} of {several(int(n[who]), 'check')}; at most {self.at_most} may be"

        return (Found.where("worker", out, failed, why),)
