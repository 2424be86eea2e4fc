"""The exclusion rules of Collins et al. (2022), as the paper states them."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_errors import contradictory, outside, percentless
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import percent, several
from plurivox.core.method import option
from plurivox.core.types import Floats, Ints


@dataclass(frozen=True)
class Collins2022(Rule):
    """The rules of the CIFAR-10S paper: out for more than two errors, or for one and too few right answers.

    Errors: a percent outside 0 to 100; a label named and also ruled out; no percent for the top label. People with exactly
    one error go if less than 75% of their answers to known tasks are right; nobody goes for accuracy alone. On people with
    two errors the paper is silent: they stay, and are flagged like all who erred and stay. It can be read as counting the
    three kinds together, as here, or each apart.

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

    at_most: int = option(2, "people with more errors go", low=0)
    accuracy: float = option(0.75, "people with one error and a smaller share of right answers go", low=0, high=1)
    count: Literal["together", "apart"] = option("together", "whether the three kinds of errors add up")

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        kinds = np.stack([seen.tally(kind(seen)) for kind in (outside, contradictory, percentless)])  # (3, n_workers)
        total = kinds.sum(0)
        share, _ = seen.accuracy()
        many = (total if self.count == "together" else kinds.max(0)) > self.at_most
        poor = ~many & (total == 1) & (share < self.accuracy)
        stays = (total > 0) & ~many & ~poor

        def why_many(who: int) -> str:
            return (
                f"{told(kinds[:, who])}, more than {self.at_most}{'' if self.count == 'together' else ' of one kind'}"
            )

        def why_poor(who: int) -> str:
            return f"{told(kinds[:, who])}, and {percent(share[who])} right, less than {percent(self.accuracy)}"

        return (
            Found.where("worker", many, total, why_many),
            Found.where("worker", poor, share, why_poor),
            Found.where("worker", stays, total, lambda who: self._stays(kinds[:, who], share, who), "flagged"),
        )

    def _stays(self, kinds: Ints, share: Floats, who: int) -> str:
        """Why somebody who erred stays."""
        if kinds.sum() > 1:
            return f"{told(kinds)}, not more than {self.at_most}: the paper says nothing of these, so they stay"
        if np.isnan(share[who]):
            return f"{told(kinds)}, and no answer to a known task to judge by"
        return f"{told(kinds)}, but {percent(share[who])} right"


def told(kinds: Ints) -> str:
    """The errors of a person in words."""
    out, both, none = kinds.tolist()
    parts = f"{out:,} out of range, {several(both, 'contradiction')}, {several(none, 'percent')} missing"
    return f"{several(int(kinds.sum()), 'error')} ({parts})"
