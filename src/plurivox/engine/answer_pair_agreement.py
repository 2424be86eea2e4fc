"""Agreement between pairs of answers to the same task, for plain and soft answers."""

from typing import Any

import numpy as np
from scipy import sparse

from plurivox.core.array_types import Bools, Floats
from plurivox.core.one_answer_per_worker import one_answer_per_task_and_worker
from plurivox.core.votes import Votes


def agreeing_pair_share_per_task(votes: Votes) -> Floats:
    """(n_tasks,) the share of pairs of answers to each task that agree; nan for a task with fewer than two answers.

    Two soft answers agree with the probability that labels drawn from them are the same. A worker's repeated answers to a
    task are not answers of several people: only the first counts (see `one_answer_per_task_and_worker`).

    >>> agreeing_pair_share_per_task(Votes.of(["a", "a", "a", "b"], [1, 2, 3, 1], ["x", "x", "y", "y"]))
    array([0.33333333,        nan])
    """
    votes = one_answer_per_task_and_worker(votes).votes
    tally, n = votes.sparse_vote_counts(), votes.support
    squares = np.bincount(tally.row_of_each_candidate, tally.mass**2, minlength=votes.n_tasks).astype(np.float64)
    return np.where(
        has_two_or_more_answers(n),
        agreeing_pair_share_from_sums(n, squares, task_sums_of_within_answer_disagreement(votes)),
        np.nan,
    )


def has_two_or_more_answers(n_answers: Floats) -> Bools:
    """Return a mask of the tasks with two or more answers, given the number of answers per task (above 1.5, for
    rounding errors).
    """
    return n_answers > 1.5


def agreeing_pair_share_from_sums(
    n_answers: Floats, sums_of_squared_counts: Floats, within_answer_disagreement: Floats
) -> Floats:
    """Return the share of pairs of answers to each task that agree, from sums of squared counts; 0 if there are no pairs.

    `sums_of_squared_counts` are the sums over labels of squared vote counts, `within_answer_disagreement` the result of
    `task_sums_of_within_answer_disagreement`.
    """
    pairs = np.where(has_two_or_more_answers(n_answers), n_answers * (n_answers - 1), 1)
    return np.where(
        has_two_or_more_answers(n_answers),
        (sums_of_squared_counts + within_answer_disagreement - n_answers) / pairs,
        0.0,
    )


def task_sums_of_within_answer_disagreement(
    votes: Votes, label_positions: Floats | None = None, label_distances: Floats | None = None
) -> Floats:
    """(n_tasks,) the sum over a task's soft answers of the probability that two labels drawn from the same answer differ.

    With `label_positions` (n_labels,): the expected squared distance of the two; with `label_distances` (n_labels, n_labels):
    their expected distance. Sums over all pairs of rows are corrected by this, since pairs are of different answers. 0 for
    plain votes.
    """
    if votes.answer is None:
        return np.zeros(votes.n_tasks)
    _, first, answer = np.unique(votes.answer, return_index=True, return_inverse=True)

    def sum_row_values_per_answer(value_of_row: Floats) -> Any:
        return np.bincount(answer, value_of_row, minlength=len(first))

    if label_distances is not None:
        shape = len(first), votes.n_labels
        shares = sparse.csr_array((votes.weights, (answer, votes.label.astype(np.int64))), shape)
        differ = np.asarray(shares.multiply(shares @ label_distances).sum(1)).ravel()
    elif label_positions is None:
        differ = 1 - sum_row_values_per_answer(votes.weights**2)
    else:
        at = label_positions[votes.label]
        differ = 2 * (
            sum_row_values_per_answer(votes.weights * at**2) - sum_row_values_per_answer(votes.weights * at) ** 2
        )
    # a single row has one label; its weight is 1, or a count of plain votes without names
    differ = np.where(np.bincount(answer, minlength=len(first)) > 1, differ, 0.0)
    return np.bincount(votes.task[first], differ, minlength=votes.n_tasks).astype(np.float64)
