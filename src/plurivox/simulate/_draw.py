"""Who answers what, and what they say: whole columns at once, or vote by vote in peerannot's order of draws."""

from typing import NamedTuple

import numpy as np

from plurivox.core.errors import OptionError
from plurivox.core.names import Bools, Floats, Ints

ROWS = 2**18  # votes drawn at a time: their numbers stay in the cache
LEVELS = ("easy", "hard", "random")
EASY, HARD, RANDOM = range(3)

Drawn = tuple[Ints, Ints, Ints]  # task, worker, label, each (n_votes,)


class Asked(NamedTuple):
    """How many votes are wanted, and by how many people."""

    n_tasks: int
    n_workers: int
    feedback: int
    workload: int | None
    imbalance_votes: bool


def all_at_once(asked: Asked, matrices: Floats, true: Ints, level: Ints | None, chance: np.random.Generator) -> Drawn:
    """Votes drawn as whole columns."""
    if asked.workload is None:
        chosen = choose_workers(asked, chance)  # (feedback, n_tasks)
        wanted = np.ones(chosen.shape, bool)
        if asked.imbalance_votes:
            chosen = chance.permuted(chosen, axis=0)
            wanted = np.arange(asked.feedback)[:, None] < chance.integers(1, asked.feedback + 1, asked.n_tasks)
        task, place = np.nonzero(wanted.T)
        worker = chosen[place, task]
    else:
        groups = list(choose_capped(asked, chance))
        task = np.repeat(np.arange(asked.n_tasks), [len(group) for group in groups])
        worker = np.concatenate(groups)
    label = say(matrices, worker, true[task], chance)
    if level is not None:
        label = np.where(level[task] == EASY, true[task], label)
        guess = level[task] == LEVELS.index("random")
        label[guess] = chance.integers(0, matrices.shape[1], int(guess.sum()))
    return task, worker, label


def choose_workers(asked: Asked, chance: np.random.Generator) -> Ints:
    """(feedback, n_tasks): every task gets `feedback` different workers, evenly at random.

    Floyd's sampling without replacement (Bentley and Floyd 1987, https://doi.org/10.1145/30401.315746), one step for all
    tasks at once: in step i draw from 0..j with j = n_workers - feedback + i; who is chosen already is replaced by j.
    """
    chosen = np.empty((asked.feedback, asked.n_tasks), np.int32)
    for i in range(asked.feedback):
        newest = asked.n_workers - asked.feedback + i
        draw = chance.integers(0, newest + 1, asked.n_tasks, dtype=np.int32)
        taken = (chosen[:i] == draw).any(0)
        chosen[i] = np.where(taken, newest, draw)
    return chosen


def choose_capped(asked: Asked, chance: np.random.Generator) -> "list[Ints]":
    """The workers of each task in turn, among those who have answered fewer than `workload` tasks."""
    load = np.zeros(asked.n_workers, np.int64)
    return [_next_workers(asked, load, chance) for _ in range(asked.n_tasks)]


def _next_workers(asked: Asked, load: Ints, chance: np.random.Generator) -> Ints:
    free = np.flatnonzero(_free(asked, load))
    n = min(asked.feedback, len(free))
    if not n:
        raise OptionError(f"all {asked.n_workers} workers have answered {asked.workload} tasks; raise the workload")
    if asked.imbalance_votes:
        n = int(chance.choice(range(n))) + 1
    workers = chance.choice(free, replace=False, size=n)
    load[workers] += 1
    return workers


def _free(asked: Asked, load: Ints) -> Bools:
    return load < asked.workload if asked.workload is not None else np.ones(len(load), bool)


def one_by_one(asked: Asked, matrices: Floats, true: Ints, level: Ints | None, chance: np.random.Generator) -> Drawn:
    """Votes drawn one by one, in the order of draws of peerannot 0.0.1: the same seed gives the crowd of its paper."""
    load, n_labels = np.zeros(asked.n_workers, np.int64), matrices.shape[1]
    votes: list[tuple[int, int, int]] = []
    for task in range(asked.n_tasks):
        for worker in _next_workers(asked, load, chance).tolist():
            if level is None or level[task] == HARD:
                label = int(chance.choice(n_labels, p=matrices[worker, true[task]]))
            else:
                label = int(true[task]) if level[task] == EASY else int(chance.choice(n_labels))
            votes.append((task, worker, label))
    task, worker, label = np.array(votes).T
    return task, worker, label


def say(matrices: Floats, worker: Ints, true: Ints, chance: np.random.Generator) -> Ints:
    """(n_votes,) what each worker says of a task whose label is `true`, by the rows of [worker, true, said]."""
    n_workers, n_labels, _ = matrices.shape
    steps = np.cumsum(matrices, axis=2).reshape(n_workers * n_labels, n_labels)
    said = np.empty(len(worker), np.min_scalar_type(n_labels - 1))
    for begin in range(0, len(worker), ROWS):
        part = slice(begin, begin + ROWS)
        row = worker[part].astype(np.int64) * n_labels + true[part]
        point = chance.random(len(row))
        label = np.zeros(len(row), said.dtype)
        for k in range(n_labels - 1):
            label += point > steps[row, k]
        said[part] = label
    return said
