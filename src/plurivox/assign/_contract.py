"""Assigner: chooses what a worker is asked in one session, out of a pool of open tasks."""

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from plurivox.core.method import Method, option
from plurivox.core.registry import Methods

__all__ = ["FALL", "UNASKED", "Assigner", "Place", "Pool", "methods"]
UNASKED = 1e9  # the gain of a task that nobody has been asked about: it comes before all others
FALL = 0.5  # a slot that is given is expected to leave this share of what there was to tell


class Place(NamedTuple):
    """One place in a sitting: a task, and whether it comes again as a check of consistency."""

    task: int
    repeat: bool = False


class Pool(Protocol):
    """What is open to one worker who has come: tasks that want more answers and that this worker has not seen.

    A task is a number. Whoever keeps the slots answers three questions, by an index or a heap: a sitting is chosen as fast
    among a million tasks as among ten. The studio's database is one such pool, `Ledger` keeps another one in memory.
    """

    def fewest(self, stratum: str | None, n: int) -> Sequence[int]:
        """At most `n` tasks of a stratum (None: of all), those with the fewest slots given, at random among equals."""
        ...

    def batch(self) -> Sequence[int]:
        """The open rest of the fixed batch that the fewest people have; empty where no batch has any."""
        ...

    def telling(self, n: int, least: float) -> Sequence[int]:
        """At most `n` tasks whose next answer is expected to tell most, and no less than `least` nats."""
        ...


@dataclass(frozen=True)
class Assigner(Method, ABC):
    """What is open to a worker in, what that worker is asked out."""

    twice: int = option(0, "tasks of a sitting that come again in it, as a check of consistency", low=0)
    seed: int = option(0, "of what is left to chance in a plan; a running study draws its own", low=0)

    def sit(self, pool: Pool, rng: random.Random) -> list[Place]:
        """What one worker is asked in one go, in order; empty where nothing is open to that worker.

        The order is this worker's own. Some tasks come `twice`, the second time later and never directly after.
        """
        return arrange(self.choose(pool), self.twice, rng)

    @abstractmethod
    def choose(self, pool: Pool) -> list[int]:
        """The tasks of a sitting, each of them once."""


def arrange(tasks: Sequence[int], twice: int, rng: random.Random) -> list[Place]:
    """Tasks in a random order; some come again, at random places at least two further on.

    >>> [tuple(place) for place in arrange([7, 8, 9], 1, random.Random(3))]
    [(8, False), (9, False), (7, False), (8, True)]
    """
    places = [Place(task) for task in tasks]
    rng.shuffle(places)
    early = places[:-2] if len(places) - 2 >= twice else places[:-1]  # the last one has no room after it
    for one in rng.sample(early, min(twice, len(early))):
        places.insert(rng.randint(places.index(one) + 2, len(places)), Place(one.task, True))
    return places


methods: Methods[Assigner] = Methods(__package__, Assigner)
