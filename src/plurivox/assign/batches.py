"""Assignment method that gives each worker a predefined batch of tasks."""

from dataclasses import dataclass

from plurivox.assign._contract import Assigner, OpenTasks


@dataclass(frozen=True)
class Batches(Assigner):
    """Give each worker a predefined batch of tasks; the batch assigned to the fewest workers comes first.

    The first workers get the whole batch, later ones the tasks of it that are still open. A task in several batches gets its
    number of answers for each of them. A worker never gets a task again that was in an earlier batch of theirs.

    >>> from plurivox.assign import Ledger
    >>> ledger = Ledger([2, 1, 1], batches=[[0, 1], [0, 2]])
    >>> sessions = [ledger.assign(Batches(), worker) for worker in ("ann", "ann", "bo")]
    >>> sorted(len(session) for session in sessions), ledger.given.tolist()
    ([1, 1, 2], [2, 1, 1])
    """

    def choose_session_tasks(self, open_tasks: OpenTasks) -> list[int]:
        return list(open_tasks.open_tasks_of_least_assigned_batch())
