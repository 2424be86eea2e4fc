"""Assignment method that gives each worker a fixed number of tasks from each stratum."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from plurivox.assign._contract import Assigner, OpenTasks
from plurivox.core.errors import OptionError
from plurivox.core.method import option


@dataclass(frozen=True)
class TasksPerStratum(Assigner):
    """Assign a fixed number of tasks from each stratum, those with the fewest answers first, until all quotas are reached.

    Collins et al. (2022, https://doi.org/10.1609/hcomp.v10i1.21986) asked every worker about 22 hard images and 3 easy ones:
    `hard=22,easy=3`. When a stratum has no open task left, sessions contain tasks of the other strata only.

    >>> from plurivox.assign import Ledger
    >>> ledger = Ledger([1] * 6, stratum=["hard"] * 4 + ["easy"] * 2)
    >>> sessions = [ledger.assign(TasksPerStratum(counts="hard=2,easy=1"), worker) for worker in ("ann", "bo")]
    >>> [sorted(ledger.stratum[assigned.task] for assigned in session) for session in sessions]
    [['easy', 'hard', 'hard'], ['easy', 'hard', 'hard']]
    """

    former_names: ClassVar[tuple[str, ...]] = ("strata",)

    counts: str = option(
        "hard=22,easy=3",
        "number of tasks per session from each stratum; as JSON if the name of a stratum contains a comma",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tasks_per_stratum()

    def tasks_per_stratum(self) -> dict[str, int]:
        """Return a dict from stratum to its number of tasks per session, parsed from the option `counts`."""
        return _parse_tasks_per_stratum(self.counts)

    def choose_session_tasks(self, open_tasks: OpenTasks) -> list[int]:
        return [
            task
            for stratum, n in self.tasks_per_stratum().items()
            for task in open_tasks.least_assigned_open_tasks(stratum, n)
        ]


def _parse_tasks_per_stratum(text: str) -> dict[str, int]:
    """Parse "hard=22,easy=3" (tasks per stratum) or JSON to a dict; raise OptionError if a count is not a positive integer."""
    error = OptionError(
        f"counts is not valid: {text!r}; write the tasks per session of each stratum, as in hard=22,easy=3"
    )
    if text.lstrip().startswith("{"):
        try:
            counts = json.loads(text)
        except json.JSONDecodeError:
            raise error from None
    else:
        pairs = [pair.rpartition("=") for pair in text.split(",")]
        counts = {name.strip(): int(n) if n.strip().isdecimal() else 0 for name, _, n in pairs}
        if len(counts) < len(pairs):
            raise error
    if not isinstance(counts, Mapping) or not counts or not all(type(n) is int and n > 0 for n in counts.values()):
        raise error
    return dict(counts)
