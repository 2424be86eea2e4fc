"""Rule that keeps only one answer of each worker to each task, intended repeats included."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.clean._shared.repeated_answers import find_repeated_answers_to_same_task
from plurivox.core.method import option


@dataclass(frozen=True)
class RepeatsOnce(Rule):
    """Keep only the first (or last) answer of each worker to each task; intended repeats are removed too.

    Models such as Dawid and Skene's assume independent answers; two of the same worker to the same task are not.

    >>> from plurivox.clean import clean
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(["a", "a"], ["ann", "ann"], ["x", "y"], when=[20, 10])
    >>> clean(votes, ["repeats-once"]).audit.reason.tolist()
    ["answered before: 'y'"]
    """

    needs: ClassVar[tuple[str, ...]] = ("order",)

    keep: Literal["first", "last"] = option("first", "which of a worker's answers to a task to keep")

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        return (find_repeated_answers_to_same_task(answer_rows, self.keep, answer_rows.worker >= 0),)
