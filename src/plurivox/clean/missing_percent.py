"""Rule that removes answers whose top label has no percent."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.clean._shared.invalid_answer_entries import (
    ErrorRule,
    describe_missing_percent,
    mask_of_answers_without_top_percent,
)
from plurivox.core.array_types import Bools
from plurivox.core.method import option


@dataclass(frozen=True)
class MissingPercent(ErrorRule):
    """Remove answers whose top label has no readable percent and, with `at_most`, workers with too many of them.

    Answers to forms that ask for no percent, "can't tell" and "none of these" stay.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> answers = Answers.of(["a", "b"], ["ann", "bo"], [[("named", "cat", "")], [("named", "dog", "lots")]])
    >>> clean(answers, ["missing-percent"]).audit.reason.tolist()
    ["nothing was typed beside 'cat'", "'lots' beside 'dog' is not a percent"]
    """

    error: ClassVar[str] = "no percent for the top label"

    zero: bool = option(False, "a percent of 0 for the top label counts as none")

    def mask_of_answers_with_error(self, answer_rows: AnswerRows) -> Bools:
        return mask_of_answers_without_top_percent(answer_rows, self.zero)

    def describe_error(self, answer_rows: AnswerRows, answer_index: int) -> str:
        return describe_missing_percent(answer_rows, answer_index)
