"""Assignment method that gives each worker the tasks with the fewest answers, up to a quota per task."""

from dataclasses import dataclass

from plurivox.assign._contract import Assigner, OpenTasks
from plurivox.core.method import option


@dataclass(frozen=True)
class Quota(Assigner):
    """Assign the tasks with the fewest answers, ties at random, until each task has reached its quota.

    >>> from plurivox.assign import Ledger
    >>> ledger = Ledger([2, 2, 2, 2])
    >>> [len(ledger.assign(Quota(batch=3, twice=1), worker)) for worker in ("ann", "bo", "cy")]
    [4, 4, 3]
    >>> ledger.given.tolist()
    [2, 2, 2, 2]
    """

    batch: int = option(25, "number of tasks per session, repeats not counted", low=1)

    def choose_session_tasks(self, open_tasks: OpenTasks) -> list[int]:
        return list(open_tasks.least_assigned_open_tasks(None, self.batch))
