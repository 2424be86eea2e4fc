"""The exclusion rules of Collins et al. (2022), as their released code applies them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_errors import contradictory, outside, percentless
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import percent, several
from plurivox.clean.collins2022 import told
from plurivox.core.method import option


@dataclass(frozen=True)
class Collins2022Released(Rule):
    """The rules of the CIFAR-10S release, stricter than the paper's: out for any percent outside 0 to 100, and more.

    People also go for more than one contradiction, or more than one top label without a percent, or for one of either and
    less than 75% of right answers. The kinds are counted apart. The code takes a top label with 0 for one without a
    percent, and so does this rule.

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

    at_most: int = option(1, "people with more contradictions, or more missing percents, go", low=0)
    accuracy: float = option(0.75, "people with one of these and a smaller share of right answers go", low=0, high=1)

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        flags = (outside(seen), contradictory(seen), percentless(seen, zero=True))
        kinds = np.stack([seen.tally(flag) for flag in flags])  # (3, n_workers)
        share, _ = seen.accuracy()
        beyond = kinds[0] > 0
        many = ~beyond & (kinds[1:].max(0) > self.at_most)
        poor = ~beyond & ~many & (kinds[1:].sum(0) > 0) & (share < self.accuracy)
        stays = (kinds.sum(0) > 0) & ~beyond & ~many & ~poor

        def why_many(who: int) -> str:
            return f"{told(kinds[:, who])}, more than {self.at_most} of one kind"

        def why_poor(who: int) -> str:
            return f"{told(kinds[:, who])}, and {percent(share[who])} right, less than {percent(self.accuracy)}"

        def why_not(who: int) -> str:
            right = "no answer to a known task to judge by" if np.isnan(share[who]) else f"{percent(share[who])} right"
            return f"{told(kinds[:, who])}, but {right}"

        return (
            Found.where(
                "worker", beyond, kinds[0], lambda who: f"{several(int(kinds[0, who]), 'percent')} out of range"
            ),
            Found.where("worker", many, kinds[1:].max(0), why_many),
            Found.where("worker", poor, share, why_poor),
            Found.where("worker", stays, share, why_not, "flagged"),
        )
