"""Rule that removes answers that contradict themselves: the same label is named and ruled out."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.clean._shared.invalid_answer_entries import (
    ErrorRule,
    describe_label_named_and_ruled_out,
    mask_of_answers_naming_ruled_out_label,
)
from plurivox.core.array_types import Bools


@dataclass(frozen=True)
class Contradiction(ErrorRule):
    """Remove answers in which the same label is named and ruled out and, with `at_most`, workers with too many of them.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> answers = Answers.of(["a"], ["ann"], [[("named", "cat", "80"), ("never", "cat", ""), ("never", "dog", "")]])
    >>> clean(answers, ["contradiction"]).audit.reason.tolist()
    ["'cat' is named and also ruled out"]
    """

    error: ClassVar[str] = "a label named and also ruled out"

    def mask_of_answers_with_error(self, answer_rows: AnswerRows) -> Bools:
        return mask_of_answers_naming_ruled_out_label(answer_rows)

    def describe_error(self, answer_rows: AnswerRows, answer_index: int) -> str:
        return describe_label_named_and_ruled_out(answer_rows, answer_index)
