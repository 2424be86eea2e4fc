"""Agreement of pairs of answers to a task: the formula that scores, descriptions and weights of tasks share."""

from typing import Any

import numpy as np

from plurivox.core.types import Bools, Floats
from plurivox.core.votes import Votes


def pair_agreement(votes: Votes) -> Floats:
    """(n_tasks,) the share of pairs of answers to a task that agree; nan for a task with fewer than two answers.

    Two soft answers agree with the probability that labels drawn from them are the same.

    >>> pair_agreement(Votes.of(["a", "a", "a", "b"], [1, 2, 3, 1], ["x", "x", "y", "y"]))
    array([0.33333333,        nan])
    """
    tally, n = votes.tally(), votes.support
    squares = np.bincount(tally.row, tally.mass**2, minlength=votes.n_tasks).astype(np.float64)
    return np.where(has_pairs(n), agreeing_share(n, squares, differ_within(votes)), np.nan)


def has_pairs(n: Floats) -> Bools:
    """Whether there are two answers that can agree; the weights of one soft answer may add up to a little more than 1."""
    return n > 1.5


def agreeing_share(n: Floats, squares: Floats, within: Floats) -> Floats:
    """The share of n (n - 1) ordered pairs of answers that agree; 0 where there are no pairs.

    `squares` are the sums of the squared vote counts of the labels, `within` as `differ_within` tells it.
    """
    pairs = np.where(has_pairs(n), n * (n - 1), 1)
    return np.where(has_pairs(n), (squares + within - n) / pairs, 0.0)


def differ_within(votes: Votes, scale: Floats | None = None) -> Floats:
    """(n_tasks,) summed over a task's soft answers: the probability that two labels drawn from the same answer differ.

    With `scale` (n_labels,), where labels stand: the expected squared distance of the two. Pairs are pairs of different
    answers, so this is what all pairs of rows must be corrected by. 0 for plain votes.
    """
    if votes.answer is None:
        return np.zeros(votes.n_tasks)
    _, first, answer = np.unique(votes.answer, return_index=True, return_inverse=True)

    def per_answer(values: Floats) -> Any:
        return np.bincount(answer, values, minlength=len(first))

    if scale is None:
        differ = 1 - per_answer(votes.weights**2)
    else:
        at = scale[votes.label]
        differ = 2 * (per_answer(votes.weights * at**2) - per_answer(votes.weights * at) ** 2)
    return np.bincount(votes.task[first], differ, minlength=votes.n_tasks).astype(np.float64)
