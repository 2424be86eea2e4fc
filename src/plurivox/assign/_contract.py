"""Base class Assigner of methods that choose the tasks of a worker's session from the open tasks."""

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from plurivox.core.method import Method, option
from plurivox.core.registry import Methods

__all__ = ["GAIN_DECAY", "UNASKED_GAIN", "AssignedTask", "Assigner", "OpenTasks", "methods"]
UNASKED_GAIN = 1e9  # gain of a task that no worker was asked about: such tasks come first
GAIN_DECAY = 0.5  # each assigned slot multiplies the expected gain of its task by this until the answer arrives


class AssignedTask(NamedTuple):
    """One task of a worker's session, and whether it is a repeat that checks the worker's consistency."""

    task: int
    repeat: bool = False


class OpenTasks(Protocol):
    """Interface to the tasks open to one worker: tasks below their quota and not assigned to this worker before.

    A task is an integer. The three queries use an index or a heap, so that their time does not depend on the number of
    tasks. The studio's database is one implementation, `Ledger` has another in memory.
    """

    def least_assigned_open_tasks(self, stratum: str | None, n: int) -> Sequence[int]:
        """Return up to `n` open tasks of a stratum (None: of all) with the fewest assigned slots, ties in random order."""
        ...

    def open_tasks_of_least_assigned_batch(self) -> Sequence[int]:
        """Return the open tasks of the predefined batch that the fewest workers got; empty if no batch has open tasks."""
        ...

    def most_informative_open_tasks(self, n: int, min_gain: float) -> Sequence[int]:
        """Return up to `n` open tasks with the largest expected information gain, each at least `min_gain` nats."""
        ...


@dataclass(frozen=True)
class Assigner(Method, ABC):
    """Base class of assignment methods: choose which of the open tasks a worker is asked about in one session."""

    twice: int = option(0, "number of tasks repeated later in the same session, to check consistency", low=0)
    seed: int = option(0, "random seed of planned sessions; a running study does not use it", low=0)

    def assign_session(self, open_tasks: OpenTasks, rng: random.Random) -> list[AssignedTask]:
        """Return the tasks of one session of one worker in random order; empty if no task is open to the worker.

        `twice` of the tasks appear a second time, never directly after the first.
        """
        return shuffle_session_and_insert_repeats(self.choose_session_tasks(open_tasks), self.twice, rng)

    @abstractmethod
    def choose_session_tasks(self, open_tasks: OpenTasks) -> list[int]:
        """Return the tasks of one worker's session, chosen from `open_tasks`, each once, in any order."""


def shuffle_session_and_insert_repeats(tasks: Sequence[int], n_repeats: int, rng: random.Random) -> list[AssignedTask]:
    """Return `tasks` in random order as a session, `n_repeats` of them inserted again at least two positions later.

    >>> [tuple(one) for one in shuffle_session_and_insert_repeats([7, 8, 9], 1, random.Random(3))]
    [(8, False), (9, False), (7, False), (8, True)]
    """
    session = [AssignedTask(task) for task in tasks]
    rng.shuffle(session)
    early = session[:-2] if len(session) - 2 >= n_repeats else session[:-1]  # a repeat of the last task would follow it
    for assigned in rng.sample(early, min(n_repeats, len(early))):
        session.insert(rng.randint(session.index(assigned) + 2, len(session)), AssignedTask(assigned.task, True))
    return session


methods: Methods[Assigner] = Methods(__package__, Assigner)
