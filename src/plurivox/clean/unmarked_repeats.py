"""Rule that removes further answers of a worker to the same task that are not marked as intended repeats."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.clean._shared.repeated_answers import find_repeated_answers_to_same_task
from plurivox.core.method import option


@dataclass(frozen=True)
class UnmarkedRepeats(Rule):
    """Keep only the first (or last) answer of each worker to each task; intended repeats, which are marked, stay too.

    Answers marked as repeats (`repeat_of`) stay. Votes have no such mark, so every further vote of a worker on a task is
    removed.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.answers import Answers
    >>> answers = Answers.of(["a", "a"], ["ann", "ann"], [[("named", "cat", "")], [("named", "dog", "")]])
    >>> clean(answers, ["unmarked-repeats"]).audit.reason.tolist()
    ["answered before: 'cat'"]
    """

    former_names: ClassVar[tuple[str, ...]] = ("double-answers",)
    needs: ClassVar[tuple[str, ...]] = ("order",)

    keep: Literal["first", "last"] = option("first", "which of a worker's answers to a task to keep")

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        return (find_repeated_answers_to_same_task(answer_rows, self.keep, ~answer_rows.mask_of_marked_repeats),)
