"""How much of the rest of the crowd says the same."""

import numpy as np

from plurivox.core.names import Floats, Ints

DENSE = 2**27  # counters beyond which only those that are used are kept


def share_of_rest(task: Ints, worker: Ints, label: Ints, weight: Floats | None, *, once: bool = False) -> Floats:
    """(n_rows,) the share of the others' votes on a row's task that are for its label.

    nan where there are no others, and for rows without a name (worker -1), which only count among the others. A
    worker's own votes are all left out, however often the worker answered the task; `once` says that nobody has two
    rows on a task, which is faster.
    """
    n_labels = int(label.max(initial=0)) + 1
    in_task, in_cell = _totals(task, weight), _totals(task.astype(np.int64) * n_labels + label, weight)
    own_task: Floats = np.ones(len(task)) if weight is None else weight
    own_cell = own_task
    if not once:  # rows without a name share a key with each other, which does not matter
        pair = task.astype(np.int64) * (int(worker.max(initial=0)) + 2) + worker + 1
        _, pair = np.unique(pair, return_inverse=True)
        own_task, own_cell = _totals(pair, weight), _totals(pair * n_labels + label, weight)
    others = in_task - own_task
    known = (worker >= 0) & (others > 1e-9)
    return np.divide(in_cell - own_cell, others, out=np.full(len(task), np.nan), where=known)


def _totals(key: Ints, weight: Floats | None) -> Floats:
    """(n_rows,) the weight of all rows that share a row's key."""
    if len(key) and int(key.max()) >= max(DENSE, 2 * len(key)):
        _, key = np.unique(key, return_inverse=True)
    return np.bincount(key, weight)[key].astype(np.float64, copy=False)
