"""A top label without a percent."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.clean._shared.answer_errors import ErrorRule, percentless, why_percentless
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.core.method import option
from plurivox.core.types import Bools


@dataclass(frozen=True)
class MissingPercent(ErrorRule):
    """Answers whose top label has no percent that can be read, and perhaps people who give too many of them.

    Answers to forms that ask for no percent, "can't tell" and "none of these" are left alone.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> answers = Answers.of(["a", "b"], ["ann", "bo"], [[("named", "cat", "")], [("named", "dog", "lots")]])
    >>> clean(answers, ["missing-percent"]).audit.reason.tolist()
    ["nothing was typed beside 'cat'", "'lots' beside 'dog' is no percent"]
    """

    error: ClassVar[str] = "no percent for the top label"

    zero: bool = option(False, "a percent of 0 for the top label counts as none")

    def faulty(self, seen: AnswerRows) -> Bools:
        return percentless(seen, self.zero)

    def why(self, seen: AnswerRows, i: int) -> str:
        return why_percentless(seen, i)
