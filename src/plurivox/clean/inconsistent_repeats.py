"""People who answer differently when they see a task again."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import several
from plurivox.core.method import option


@dataclass(frozen=True)
class InconsistentRepeats(Rule):
    """People who name another top label in too many of the tasks they see again.

    changed(person) = repeats with another top label / repeats. Repeats are the answers marked as such; where there are
    no marks, every second answer of a person to a task.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(list("aabb"), ["ann"] * 4, ["x", "y", "y", "x"])
    >>> clean(votes, ["inconsistent-repeats"]).audit.reason.tolist()
    ['another top label in 2 of 2 repeats']
    """

    needs: ClassVar[tuple[str, ...]] = ("repeats",)

    share: float = option(0.5, "people who change a larger share of their repeats go", low=0, high=1)
    fewest: int = option(2, "only people with at least so many repeats", low=1)

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        later, earlier = seen.pairs
        again = np.zeros(len(seen), bool)
        again[later] = True
        changed = np.zeros(len(seen), bool)
        changed[later] = seen.top[later] != seen.top[earlier]
        n, other = seen.tally(again), seen.tally(changed)
        share = np.where(n > 0, other / np.maximum(n, 1), np.nan)
        out = (n >= self.fewest) & (share > self.share)

        def why(who: int) -> str:
            return f"another top label in {other[who]:,} of {several(int(n[who]), 'repeat')}"

        return (Found.where("worker", out, share, why),)
