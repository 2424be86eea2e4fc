"""A person's second answer to a task that was not asked again on purpose."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.duplicates import superfluous
from plurivox.core.method import option


@dataclass(frozen=True)
class DoubleAnswers(Rule):
    """Further answers of a person to a task that nobody asked to answer again.

    Answers marked as repeats (`repeat_of`) are no double answers; votes bear no such mark, so that every further vote is
    one.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> answers = Answers.of(["a", "a"], ["ann", "ann"], [[("named", "cat", "")], [("named", "dog", "")]])
    >>> clean(answers, ["double-answers"]).audit.reason.tolist()
    ["answered before: 'cat'"]
    """

    needs: ClassVar[tuple[str, ...]] = ("order",)

    keep: Literal["first", "last"] = option("first", "the answer that stays")

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        return (superfluous(seen, self.keep, ~seen.marked),)
