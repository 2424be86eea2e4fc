"""Turns: every vote before it is said. Who is asked what, when in their sequence, and in whose way they answer."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.types import Bools, Floats, Ints

LEVELS = ("easy", "hard", "random")
EASY, HARD, RANDOM = range(3)


@dataclass(frozen=True)
class Turns:
    """One row = one person asked about one task, sorted by task, then worker."""

    task: Ints  # (n,)
    worker: Ints  # (n,)
    true: Ints  # (n_tasks,) the label of every task
    model: Ints  # (n,) the worker whose matrix answers: mostly one's own
    place: Ints | None = None  # (n,) how many tasks the worker answered before this one; None: nothing hangs on it
    sure: Bools | None = None  # (n,) answers that are right whoever gives them
    guess: Bools | None = None  # (n,) answers that are drawn evenly whoever gives them
    source: Ints | None = None  # (n,) the turn whose answer is given: this one, or that of whom one copies

    def __len__(self) -> int:
        return len(self.task)

    def here(self, part: slice = slice(None)) -> Ints:
        """(n,) the true label of each turn."""
        return self.true[self.task[part]]


@dataclass(frozen=True)
class Habits:
    """What happens to workers as they go on, and beside each other."""

    tire: float = 0.0  # chance that the last answer is a guess
    drift: float = 0.0  # chance that the last answer is by another's matrix
    becomes: Ints | None = None  # (n_workers,) whose matrix that is
    copy_rate: float = 0.0
    leader: Ints | None = None  # (n_workers,) whom each copies, oneself where one leads; -1: nobody
    in_sequence: bool = False  # places are wanted anyhow


def take_turns(
    task: Ints, worker: Ints, true: Ints, level: Ints | None, habits: Habits, rng: np.random.Generator
) -> Turns:
    """The turns of these workers on these tasks; `true` and `level` (n_tasks,)."""
    sure = guess = place = source = None
    model = worker
    if level is not None:
        sure, guess = (level == EASY)[task], (level == RANDOM)[task]
    if habits.in_sequence or habits.tire or habits.drift:
        place, done = sequence(worker, rng)
        if habits.tire:
            tired = rng.random(len(task)) < habits.tire * done
            guess = tired if guess is None else guess | tired
        if habits.drift and habits.becomes is not None:
            model = np.where(rng.random(len(task)) < habits.drift * done, habits.becomes[worker], model)
    if habits.leader is not None:
        source = _sources(task, worker, habits.leader, habits.copy_rate, rng)
        model = np.where(source >= 0, np.where(habits.leader[worker] == worker, model, habits.leader[worker]), model)
        source = np.where(source >= 0, source, np.arange(len(task)))
    return Turns(task, worker, true, model, place, sure, guess, source)


def sequence(worker: Ints, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """(place, done), each (n,): where a turn stands in its worker's own random order, from 0, and from 0 to 1."""
    key = worker.astype(np.int64) << 32 | rng.integers(0, 2**32, len(worker), dtype=np.uint32)
    order = np.argsort(key, kind="stable")
    count = np.bincount(worker)
    place = np.empty(len(worker), np.int64)
    place[order] = np.arange(len(worker)) - np.repeat(np.cumsum(count) - count, count)
    return place, place / np.maximum(count - 1, 1)[worker]


def _sources(task: Ints, worker: Ints, leader: Ints, rate: float, rng: np.random.Generator) -> Ints:
    """(n,) the turn whose answer is copied, -1 where the worker answers alone.

    All who copy one leader on a task say the same: what the leader says there or, where that one was not asked, what the
    first of them says in the leader's way.
    """
    source = np.full(len(task), -1)
    copies = (leader[worker] == worker) | ((leader[worker] >= 0) & (rng.random(len(task)) < rate))
    rows = np.flatnonzero(copies)
    whom = leader[worker[rows]]
    key = task[rows].astype(np.int64) * len(leader) + whom
    order = np.lexsort((whom != worker[rows], key))  # the leader's own turn first
    _, first, group = np.unique(key[order], return_index=True, return_inverse=True)
    source[rows[order]] = rows[order[first]][group]
    return source
