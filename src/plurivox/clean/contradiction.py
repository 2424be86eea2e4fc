"""A label that is named and ruled out at once."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.clean._shared.answer_errors import ErrorRule, contradictory, why_contradictory
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.core.types import Bools


@dataclass(frozen=True)
class Contradiction(ErrorRule):
    """Answers that name a label and also rule it out, and perhaps people who give too many of them.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> answers = Answers.of(["a"], ["ann"], [[("named", "cat", "80"), ("never", "cat", ""), ("never", "dog", "")]])
    >>> clean(answers, ["contradiction"]).audit.reason.tolist()
    ["'cat' is named and also ruled out"]
    """

    error: ClassVar[str] = "a label named and also ruled out"

    def faulty(self, seen: AnswerRows) -> Bools:
        return contradictory(seen)

    def why(self, seen: AnswerRows, i: int) -> str:
        return why_contradictory(seen, i)
