"""Rule that removes answers with a percent below 0 or above 100."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.clean._shared.invalid_answer_entries import (
    ErrorRule,
    describe_percent_out_of_range,
    mask_of_answers_with_percent_out_of_range,
)
from plurivox.core.array_types import Bools


@dataclass(frozen=True)
class PercentOutOfRange(ErrorRule):
    """Remove answers with a percent below 0 or above 100 and, with `at_most`, workers with too many of them.

    The percents of all named labels are checked. Text that is not a number is not out of range.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> answers = Answers.of(["a", "b"], ["ann", "bo"], [[("named", "cat", "80%")], [("named", "dog", "-5")]])
    >>> clean(answers, ["percent-out-of-range"]).audit.reason.tolist()
    ["'-5' beside 'dog' is outside 0 to 100"]
    """

    former_names: ClassVar[tuple[str, ...]] = ("out-of-range",)
    error: ClassVar[str] = "a percent outside 0 to 100"

    def mask_of_answers_with_error(self, answer_rows: AnswerRows) -> Bools:
        return mask_of_answers_with_percent_out_of_range(answer_rows)

    def describe_error(self, answer_rows: AnswerRows, answer_index: int) -> str:
        return describe_percent_out_of_range(answer_rows, answer_index)
