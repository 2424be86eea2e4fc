"""Agreement of each vote with the rest: the share of the other workers' votes on the task that give the same label."""

import numpy as np

from plurivox.core.types import Floats, Ints, readonly_view
from plurivox.core.votes import Votes
from plurivox.engine.kernels.agreement import share_of_agreeing_other_votes
from plurivox.engine.threads import Blocks


def rest_agreement_of_votes(votes: Votes) -> Floats:
    """(n_rows,) for each vote, the share of the other workers' votes on its task that give the same label."""
    if votes.answer is not None:  # sorted by answer: a worker's rows on a task need not be adjacent
        return rest_agreement(votes.task, votes.worker, votes.label, votes.weight)
    return _rest_agreement_sorted(votes.start, votes.worker, votes.label, votes.weight)


def rest_agreement(task: Ints, worker: Ints, label: Ints, weight: Floats | None) -> Floats:
    """(n_rows,) the share of the other workers' votes on a row's task that give its label; rows in any order.

    nan without votes of others, and for rows without a worker (-1), which only count among the others. All votes of the
    row's own worker are left out, also repeated ones.
    """
    order = np.lexsort((label, worker, task))
    start = np.searchsorted(task[order], np.arange(int(task.max(initial=-1)) + 2))
    out = np.empty(len(task))
    out[order] = _rest_agreement_sorted(start, worker[order], label[order], None if weight is None else weight[order])
    return out


def _rest_agreement_sorted(start: Ints, worker: Ints, label: Ints, weight: Floats | None) -> Floats:
    """(n_rows,) `rest_agreement` of rows sorted by task, worker, label; the rows of task t are start[t]:start[t + 1]."""
    out, n_labels = np.empty(len(worker)), int(label.max(initial=0)) + 1
    rows = (
        readonly_view(worker),
        readonly_view(label.astype(np.int32)),
        None if weight is None else readonly_view(weight),
        n_labels,
        out,
    )
    Blocks(start).map(lambda first, last: share_of_agreeing_other_votes(first, last, start, *rows))
    return out
