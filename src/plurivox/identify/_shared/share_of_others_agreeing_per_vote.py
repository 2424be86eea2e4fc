"""Agreement of each vote with the rest: the share of the other workers' votes on the task that give the same label."""

import numpy as np

from plurivox.core.array_types import Floats, Ints, readonly_view
from plurivox.core.votes import Votes
from plurivox.engine.kernels.kappa_and_vote_agreement import fill_share_of_agreeing_other_votes
from plurivox.engine.parallel_task_blocks import Blocks
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group


def share_of_others_agreeing_with_vote(votes: Votes) -> Floats:
    """Return (n_votes,) for each vote, the share of the other workers' votes on its task that give the same label."""
    if votes.answer is not None:  # sorted by answer: a worker's rows on a task need not be adjacent
        return share_of_others_agreeing(votes.task, votes.worker, votes.label, votes.weight)
    return _share_of_others_agreeing_sorted(votes.row_offsets_by_task, votes.worker, votes.label, votes.weight)


def share_of_others_agreeing(task: Ints, worker: Ints, label: Ints, weight: Floats | None) -> Floats:
    """Return (n_rows,) for each vote (a row), the share of the other workers' votes on its task that give the same label.

    nan without votes of others, and for rows without a worker (-1), which only count among the others. All votes of the
    row's own worker are left out, also repeated ones.
    """
    order = np.lexsort((label, worker, task))
    start = np.searchsorted(task[order], np.arange(int(task.max(initial=-1)) + 2))
    out = np.empty(len(task))
    out[order] = _share_of_others_agreeing_sorted(
        start, worker[order], label[order], None if weight is None else weight[order]
    )
    return out


def _share_of_others_agreeing_sorted(start: Ints, worker: Ints, label: Ints, weight: Floats | None) -> Floats:
    """Return (n_rows,) the share of other workers' votes with each vote's label; task t has rows start[t]:start[t + 1]."""
    out, n_labels = np.empty(len(worker)), int(label.max(initial=0)) + 1
    rows = (
        readonly_view(worker),
        readonly_view(label.astype(np.int32)),
        None if weight is None else readonly_view(weight),
        n_labels,
        out,
    )
    Blocks(start).map_over_task_blocks(
        lambda first, last: fill_share_of_agreeing_other_votes(first, last, start, *rows)
    )
    return out


def agreement_minus_task_mean_of_dated_answers(votes: Votes) -> tuple[Ints, Floats, Floats]:
    """Return (worker, Unix time, agreement with the other workers minus the task's mean agreement) of every dated answer."""
    share = share_of_others_agreeing_with_vote(votes)
    assert votes.when is not None
    known = np.isfinite(share) & np.isfinite(votes.when)
    task, worker, when, share = votes.task[known], votes.worker[known], votes.when[known], share[known]
    if votes.answer is not None:  # join the rows of each soft answer
        _, first, answer = np.unique(votes.answer[known], return_index=True, return_inverse=True)
        share = sum_by_group(answer, len(first), share * votes.weights[known])
        task, worker, when = task[first], worker[first], when[first]
    mean = divide_or_nan(sum_by_group(task, votes.n_tasks, share), sum_by_group(task, votes.n_tasks))
    return worker, when, share - mean[task]
