"""The limit of leases before the first answer: people who have answered nothing yet hold a share of the open slots at most.

Visitors who only open tasks and leave, or a program that does so, cannot take all tasks from the others. A person beyond the
limit waits until someone answers or a lease ends. People who have answered a task do not wait. One sitting can always begin.
"""

from sqlalchemy import Connection

from plurivox.web.store.collect.sittings_and_leased_slots import (
    UnansweredLeases,
    Waiting,
    count_answered_slots_without_practice,
    lock_and_count_unanswered_leases,
    wait_for_people_who_begin,
)
from plurivox.web.store.collect.workers import Worker
from plurivox.web.store.report.answer_counters import count_answers_wanted_and_given
from plurivox.web.study.config import Study


class UnansweredLeaseLimit:
    """Decides whether a worker may lease the slots of a sitting; created before the slots are chosen, since it takes a lock."""

    def __init__(self, connection: Connection, study: Study, worker: Worker) -> None:
        self.connection, self.study, self.worker = connection, study, worker
        applies = study.unanswered_share < 1 and not count_answered_slots_without_practice(connection, worker.id)
        self.leased = (
            lock_and_count_unanswered_leases(connection, worker.arm) if applies else UnansweredLeases(0, first_end=None)
        )

    def wait_if_exceeded(self, n_slots: int) -> Waiting | None:
        """Return how long the worker waits before leasing `n_slots` more slots; None if the worker need not wait."""
        if not self.leased.slots or self.leased.first_end is None:  # one sitting can always begin
            return None
        if self.leased.slots + n_slots <= self.study.unanswered_share * self._open_slots_of_arm():
            return None
        return wait_for_people_who_begin(self.connection, self.worker, self.leased.first_end)

    def _open_slots_of_arm(self) -> float:
        """Return about how many answers the worker's arm still wants: arms want equally many, and get them by their shares."""
        counts, weights = count_answers_wanted_and_given(self.connection), self.study.weight_by_arm_name
        if not weights:
            return counts.wanted - counts.given
        share = weights.get(self.worker.arm, 0) / sum(weights.values())
        return counts.wanted / len(weights) - counts.given * share
