"""Measures of a prediction of what people say against the votes of other people, as ratios of sums over tasks.

Every measure is a function of the sums of a few numbers per task (`numbers_per_task`), so a bootstrap over tasks and a mean
over several random splits of the votes are both one addition.
"""

from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.soft_rows_dense_sparse import Rows
from plurivox.evaluate.measures.soft_label_measures import (
    SMOOTHING,
    correlation_or_cosine_from_sums,
    jensen_shannon_divergences,
    manhattan_distances,
    normalised_entropies,
    smoothed_cross_entropies,
)


@dataclass(frozen=True)
class PeopleMeasure:
    """A measure of a prediction against people's votes: its name, the title of its column, and whether it is proper.

    A measure is proper if, in expectation over the votes, nothing is better than the true distribution, however few the votes.
    """

    name: str
    title: str
    proper: bool = False
    higher_is_better: bool = False


MEASURES_AGAINST_PEOPLE = (
    PeopleMeasure("manhattan", "Manhattan (2 TV)"),
    PeopleMeasure("jsd_bits", "JSD (bits)"),
    PeopleMeasure("cross_entropy", "CE", proper=True),
    PeopleMeasure("entropy_correlation", "entropy r", higher_is_better=True),
    PeopleMeasure("nll", "NLL per vote", proper=True),
)
WIDTH = 11  # numbers per task: 1, Manhattan, JSD, CE, votes x CE, votes, x, y, xx, yy, xy with the entropies x and y


def numbers_per_task(prediction: Rows, people: Rows, n_votes: Floats | None, smoothing: float = SMOOTHING) -> Floats:
    """Return (n_tasks, 11) the numbers whose sums `measures_from_sums` turns into measures.

    `people` are the vote shares of the people compared with, `n_votes` (n_tasks,) how many votes these are; None: not known,
    so there is no NLL per vote.
    """
    ce = smoothed_cross_entropies(prediction, people, smoothing)
    n = np.full(len(prediction), np.nan) if n_votes is None else n_votes
    x, y = normalised_entropies(prediction), normalised_entropies(people)
    jsd = jensen_shannon_divergences(prediction, people) / np.log(2)
    columns = (np.ones(len(ce)), manhattan_distances(prediction, people), jsd, ce, n * ce, n, x, y, x * x, y * y, x * y)
    return np.column_stack(columns)


def measures_from_sums(sums: Floats) -> Floats:
    """Return (..., n_measures) the `MEASURES_AGAINST_PEOPLE` from sums (..., 11) of numbers per task.

    Manhattan, JSD and cross-entropy are means over tasks, the NLL is a mean over votes.

    >>> from plurivox.core.soft_rows_dense_sparse import Dense
    >>> numbers = numbers_per_task(Dense(np.array([[0.5, 0.5]])), Dense(np.array([[1.0, 0.0]])), np.array([1.0]))
    >>> measures_from_sums(numbers.sum(0)).round(4).tolist()
    [1.0, 0.3113, 0.6931, nan, 0.6931]
    """
    flat = sums.reshape(-1, WIDTH)
    with np.errstate(invalid="ignore", divide="ignore"):  # nan: not defined
        means = flat[:, 1:4] / flat[:, :1]
        r = correlation_or_cosine_from_sums(flat[:, 6:], flat[:, 0], centred=True)
        nll = flat[:, 4] / flat[:, 5]
    return np.column_stack([means, r, nll]).reshape(*sums.shape[:-1], len(MEASURES_AGAINST_PEOPLE))
