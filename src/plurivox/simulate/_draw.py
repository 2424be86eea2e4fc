"""Who answers what, and what they say: whole columns at once."""

import numpy as np

from plurivox.core.names import Floats, Ints

ROWS = 2**18  # votes drawn at a time: their numbers stay in the cache


def choose_workers(n_tasks: int, n_workers: int, feedback: int, chance: np.random.Generator) -> tuple[Ints, Ints]:
    """(task, worker), each (n_tasks * feedback,): every task gets `feedback` different workers, evenly at random.

    Floyd's sampling without replacement (Bentley and Floyd 1987, https://doi.org/10.1145/30401.315746), one step for all
    tasks at once: in step i draw from 0..j with j = n_workers - feedback + i; who is chosen already is replaced by j.
    """
    chosen = np.empty((feedback, n_tasks), np.int32)
    for i in range(feedback):
        newest = n_workers - feedback + i
        draw = chance.integers(0, newest + 1, n_tasks, dtype=np.int32)
        taken = (chosen[:i] == draw).any(0)
        chosen[i] = np.where(taken, newest, draw)
    return np.repeat(np.arange(n_tasks, dtype=np.int32), feedback), chosen.T.ravel()


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
