"""Of several answers of a person to a task, only one."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.duplicates import superfluous
from plurivox.core.method import option


@dataclass(frozen=True)
class RepeatsOnce(Rule):
    """Repeats count once: of all answers of a person to a task the first stays, asked again on purpose or not.

    Models such as Dawid and Skene's take answers for independent; two of the same person to the same task are not.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(["a", "a"], ["ann", "ann"], ["x", "y"], when=[20, 10])
    >>> clean(votes, ["repeats-once"]).audit.reason.tolist()
    ["answered before: 'y'"]
    """

    needs: ClassVar[tuple[str, ...]] = ("order",)

    keep: Literal["first", "last"] = option("first", "the answer that stays")

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        return (superfluous(seen, self.keep, seen.worker >= 0),)
