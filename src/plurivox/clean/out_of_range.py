"""A percent below 0 or above 100."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.clean._shared.answer_errors import ErrorRule, outside, why_outside
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.core.types import Bools


@dataclass(frozen=True)
class OutOfRange(ErrorRule):
    """Answers with a percent below 0 or above 100, and perhaps people who give too many of them.

    It looks at the percent of every label named. What cannot be read as a number is not out of range.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> answers = Answers.of(["a", "b"], ["ann", "bo"], [[("named", "cat", "80%")], [("named", "dog", "-5")]])
    >>> clean(answers, ["out-of-range"]).audit.reason.tolist()
    ["'-5' beside 'dog' is outside 0 to 100"]
    """

    error: ClassVar[str] = "a percent outside 0 to 100"

    def faulty(self, seen: AnswerRows) -> Bools:
        return outside(seen)

    def why(self, seen: AnswerRows, i: int) -> str:
        return why_outside(seen, i)
