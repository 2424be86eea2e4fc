"""How much of the rest of the crowd says the same."""

import numpy as np

from plurivox.core.types import Floats, Ints, readonly_view
from plurivox.core.votes import Votes
from plurivox.engine.kernels.agreement import share_of_other_votes
from plurivox.engine.threads import Blocks


def share_of_rest_of(votes: Votes) -> Floats:
    """(n_rows,) `share_of_rest` of every row of the votes."""
    if votes.answer is not None:  # sorted by answer: what a worker said of a task may lie apart
        return share_of_rest(votes.task, votes.worker, votes.label, votes.weight)
    return _of_sorted(votes.start, votes.worker, votes.label, votes.weight)


def share_of_rest(task: Ints, worker: Ints, label: Ints, weight: Floats | None) -> Floats:
    """(n_rows,) the share of the others' votes on a row's task that are for its label; rows in any order.

    nan where there are no others, and for rows without a name (worker -1), which only count among the others. A
    worker's own votes are all left out, however often the worker answered the task.
    """
    order = np.lexsort((label, worker, task))
    start = np.searchsorted(task[order], np.arange(int(task.max(initial=-1)) + 2))
    out = np.empty(len(task))
    out[order] = _of_sorted(start, worker[order], label[order], None if weight is None else weight[order])
    return out


def _of_sorted(start: Ints, worker: Ints, label: Ints, weight: Floats | None) -> Floats:
    """The same for rows sorted by task, worker, label; those of task t are start[t]:start[t + 1]."""
    out, n_labels = np.empty(len(worker)), int(label.max(initial=0)) + 1
    rows = (
        readonly_view(worker),
        readonly_view(label.astype(np.int32)),
        None if weight is None else readonly_view(weight),
        n_labels,
        out,
    )
    Blocks(start).map(lambda first, last: share_of_other_votes(first, last, start, *rows))
    return out
