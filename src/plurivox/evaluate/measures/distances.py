"""Earth mover's distances between two sets of soft labels, and the one that only looks like it."""

from collections.abc import Sequence

import numpy as np

from plurivox.core.encoding import as_text, positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Rows
from plurivox.core.types import Floats
from plurivox.evaluate.alignment import each, meet, met_labels
from plurivox.evaluate.resampling import mean

METRIC = 1e-9  # how far a table of distances may be from a metric


def sorted_wasserstein(prediction: SoftLabels, truth: SoftLabels) -> float:
    """The "Wasserstein" of Collins et al.: the mean of 1/K sum_j |p_(j) - q_(j)|, probabilities sorted within each task.

    It takes the K probabilities of a task for samples of a number, so it does not see which label holds them: a prediction
    that is sure of the wrong label is at 0 from the truth. For labels use `total_variation` or `wasserstein`.
    Collins et al. (2022), section 4.3, https://doi.org/10.1609/hcomp.v10i1.21986

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.9, .1], [.2, .8]))
    >>> round(sorted_wasserstein(prediction, truth), 4)
    0.1
    """
    return mean(sorted_wassersteins(*meet(prediction, truth))).value


def wasserstein(
    prediction: SoftLabels,
    truth: SoftLabels,
    *,
    scale: Sequence[float] | Floats | None = None,
    distance: Sequence[Sequence[float]] | Floats | None = None,
) -> float:
    """The mean of the least work that turns the prediction into the truth: mass moved times the distance it goes.

    The ground distance must be said: `scale`, where each label stands on a line (by default the scale of ordered labels),
    where the work is the area between the two distribution functions; or `distance`, a table [from, to] that is a metric,
    where it is min sum_ij flow_ij distance_ij. Both in the order of `prediction.labels`. A table costs a linear program
    for every task with more than one label on both sides after the mass in common is taken away.
    Rubner et al. (2000), https://doi.org/10.1023/A:1026543900054

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["bad", "fair", "good"]) for row in ([1, 0, 0], [0, .5, .5]))
    >>> wasserstein(prediction, truth, scale=[1, 2, 3]), wasserstein(prediction, truth, distance=1 - np.eye(3))
    (1.5, 1.0)
    """
    left, right = meet(prediction, truth)
    if distance is not None:
        return mean(_transported(left, right, _metric(distance, prediction, truth))).value
    return mean(line_distances(left, right, ground_scale(prediction, truth, scale))).value


def ground_scale(prediction: SoftLabels, truth: SoftLabels, scale: Sequence[float] | Floats | None = None) -> Floats:
    """(n_labels,) where the labels stand: as given, or as the prediction or the truth orders them."""
    labels = met_labels(prediction, truth)
    if scale is not None:
        values = np.asarray(scale, np.float64)
        if values.shape != labels.shape or not np.isfinite(values).all():
            raise InputError(f"the scale needs a finite number for each of the labels {first_few(as_text(labels), 6)}")
        return values
    for side in (prediction, truth):
        place = positions(side.labels, labels)
        if side.scale is not None and (place >= 0).all():
            return side.scale[place].astype(np.float64)
    raise InputError(
        f"labels {first_few(as_text(labels))} have no order that both sides know; give a scale or a table of distances"
    )


def line_distances(left: Rows, right: Rows, scale: Floats) -> Floats:
    """(n_tasks,) the area between the distribution functions along the scale."""
    order = np.argsort(scale, kind="stable")
    gaps = np.diff(scale[order])
    return each(lambda q, p: np.abs(np.cumsum((q - p)[:, order], 1)[:, :-1]) @ gaps, left, right)


def sorted_wassersteins(prediction: Rows, truth: Rows) -> Floats:
    """(n_tasks,) see `sorted_wasserstein`."""
    return each(lambda q, p: np.abs(np.sort(p, 1) - np.sort(q, 1)).mean(1), prediction, truth)


def _metric(distance: Sequence[Sequence[float]] | Floats, prediction: SoftLabels, truth: SoftLabels) -> Floats:
    """The table, once it is known to be a metric: mass in common then stays where it is."""
    labels, table = met_labels(prediction, truth), np.asarray(distance, np.float64)
    if table.shape != (len(labels), len(labels)):
        raise InputError(
            f"the distances have the shape {table.shape}; labels {first_few(as_text(labels), 6)} need a square"
        )
    detour = min((float((table[:, k, None] + table[k] - table).min()) for k in range(len(labels))), default=0.0)
    sound = np.isfinite(table).all() and (np.diag(table) == 0).all() and (table >= 0).all() and detour >= -METRIC
    if not sound or np.abs(table - table.T).max(initial=0) > METRIC:
        raise InputError(
            "distances between labels must be 0 to themselves, alike both ways, and no longer than a detour"
        )
    return table


def _transported(left: Rows, right: Rows, distance: Floats) -> Floats:
    """(n_tasks,) the least work of every task."""
    return each(lambda q, p: np.array([_work(row, distance) for row in q - p]), left, right)


def _work(surplus: Floats, distance: Floats) -> float:
    """The least work that takes what is above zero to where it is below."""
    give, take = np.flatnonzero(surplus > 1e-15), np.flatnonzero(surplus < -1e-15)
    if not len(give) or not len(take):
        return 0.0
    cost = distance[np.ix_(give, take)]  # (n_give, n_take)
    if len(give) == 1 or len(take) == 1:
        return float((cost[0] @ -surplus[take]) if len(give) == 1 else (surplus[give] @ cost[:, 0]))
    from scipy.optimize import linprog  # here: it takes a while to import, and few need it

    flows = np.arange(cost.size).reshape(cost.shape)
    constraints = np.zeros((len(give) + len(take), cost.size))
    for i, used in enumerate([*flows, *flows.T]):
        constraints[i, used] = 1
    amounts = np.concatenate([surplus[give], -surplus[take] * surplus[give].sum() / -surplus[take].sum()])
    return float(linprog(cost.ravel(), A_eq=constraints, b_eq=amounts, method="highs").fun)
