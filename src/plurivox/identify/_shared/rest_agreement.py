"""How much of the rest of the crowd says the same."""

import numpy as np

from plurivox.core.types import Floats, Ints
from plurivox.core.votes import Votes
from plurivox.engine.kernels.agreement import shares_of_rest
from plurivox.engine.threads import Blocks

DENSE = 2**27  # counters beyond which only those that are used are kept


def share_of_rest_of(votes: Votes) -> Floats:
    """(n_rows,) the share of the others' votes on a row's task that are for its label, as `share_of_rest` tells it."""
    if votes.answer is not None:  # sorted by answer: what a worker said of a task may lie apart
        return share_of_rest(votes.task, votes.worker, votes.label, votes.weight)
    out, label = np.empty(len(votes)), votes.label.astype(np.int32)
    rows = votes.worker, label, votes.weight, max(votes.n_labels, 1), out
    Blocks(votes.start).map(lambda first, last: shares_of_rest(first, last, votes.start, *rows))
    return out


def share_of_rest(task: Ints, worker: Ints, label: Ints, weight: Floats | None) -> Floats:
    """(n_rows,) the share of the others' votes on a row's task that are for its label; rows in any order.

    nan where there are no others, and for rows without a name (worker -1), which only count among the others. A
    worker's own votes are all left out, however often the worker answered the task.
    """
    n_labels = int(label.max(initial=0)) + 1
    in_task, in_cell = _totals(task, weight), _totals(task.astype(np.int64) * n_labels + label, weight)
    pair = task.astype(np.int64) * (int(worker.max(initial=0)) + 2) + worker + 1
    _, pair = np.unique(pair, return_inverse=True)  # rows without a name share a key, which does not matter
    own_task, own_cell = _totals(pair, weight), _totals(pair * n_labels + label, weight)
    others = in_task - own_task
    known = (worker >= 0) & (others > 1e-9)
    return np.divide(in_cell - own_cell, others, out=np.full(len(task), np.nan), where=known)


def _totals(key: Ints, weight: Floats | None) -> Floats:
    """(n_rows,) the weight of all rows that share a row's key."""
    if len(key) and int(key.max()) >= max(DENSE, 2 * len(key)):
        _, key = np.unique(key, return_inverse=True)
    return np.bincount(key, weight)[key].astype(np.float64, copy=False)
