"""Wasserstein (earth mover's) distances between two sets of soft labels, and the sorted variant of Collins et al."""

from collections.abc import Sequence

import numpy as np

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_text, positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Rows
from plurivox.evaluate.align_tasks_and_labels import align_rows, prediction_labels_then_truth_only, values_per_task
from plurivox.evaluate.bootstrap_over_tasks import mean_as_task_sums

METRIC_TOLERANCE = 1e-9  # numerical tolerance in checking that distances are a metric


@takes_what_users_hold
def sorted_wasserstein(prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the "Wasserstein" of Collins et al.: the mean of 1/K sum_j |p_(j) - q_(j)|, probabilities sorted per task.

    It treats the K probabilities of a task as samples of a number and ignores which label has which: a prediction that is
    certain of the wrong label has distance 0 from the truth. For labels use `total_variation` or `wasserstein`.
    Collins et al. (2022), section 4.3, https://doi.org/10.1609/hcomp.v10i1.21986

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.9, .1], [.2, .8]))
    >>> round(sorted_wasserstein(prediction, truth), 4)
    0.1
    """
    return mean_as_task_sums(sorted_wassersteins(*align_rows(prediction, truth))).measure_over_all_tasks


@takes_what_users_hold
def wasserstein(
    prediction: SoftLabels,
    truth: SoftLabels,
    *,
    scale: Sequence[float] | Floats | None = None,
    distance: Sequence[Sequence[float]] | Floats | None = None,
) -> float:
    """Return the mean Wasserstein distance: the least cost (probability moved times distance) from prediction to truth.

    The ground distance is given by `scale`, the position of each label on a line (default: the scale of ordered labels), for
    which the cost is the area between the two distribution functions; or by `distance`, a matrix [from, to] that is a
    metric, for which it is min sum_ij flow_ij distance_ij. Both are in the order of `prediction.labels`. A matrix needs a
    linear program for every task with more than one label on both sides after common probability is removed.
    Rubner et al. (2000), https://doi.org/10.1023/A:1026543900054

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["bad", "fair", "good"]) for row in ([1, 0, 0], [0, .5, .5]))
    >>> wasserstein(prediction, truth, scale=[1, 2, 3]), wasserstein(prediction, truth, distance=1 - np.eye(3))
    (1.5, 1.0)
    """
    left, right = align_rows(prediction, truth)
    if distance is not None:
        return mean_as_task_sums(
            _wasserstein_of_each_task(left, right, _require_metric_label_distances(distance, prediction, truth))
        ).measure_over_all_tasks
    return mean_as_task_sums(
        wassersteins_along_scale(left, right, label_scale(prediction, truth, scale))
    ).measure_over_all_tasks


def label_scale(prediction: SoftLabels, truth: SoftLabels, scale: Sequence[float] | Floats | None = None) -> Floats:
    """Return (n_labels,) positions of the labels on a line: `scale`, or that of prediction or truth; InputError without any."""
    labels = prediction_labels_then_truth_only(prediction, truth)
    if scale is not None:
        values = np.asarray(scale, np.float64)
        if values.shape != labels.shape or not np.isfinite(values).all():
            raise InputError(
                f"the scale needs one finite number for each of the labels {first_few(as_text(labels), 6)}"
            )
        return values
    for side in (prediction, truth):
        place = positions(side.labels, labels)
        if side.scale is not None and (place >= 0).all():
            return side.scale[place].astype(np.float64)
    raise InputError(f"labels {first_few(as_text(labels))} have no common order; give a scale or a matrix of distances")


def wassersteins_along_scale(prediction: Rows, truth: Rows, scale: Floats) -> Floats:
    """Return (n_tasks,) the Wasserstein distance of each task for labels at positions `scale` (n_labels,) on a line."""
    order = np.argsort(scale, kind="stable")
    gaps = np.diff(scale[order])
    return values_per_task(lambda q, p: np.abs(np.cumsum((q - p)[:, order], 1)[:, :-1]) @ gaps, prediction, truth)


def sorted_wassersteins(prediction: Rows, truth: Rows) -> Floats:
    """Return (n_tasks,) the mean of |p_(j) - q_(j)| of each task over ranks j of its sorted probabilities."""
    return values_per_task(lambda q, p: np.abs(np.sort(p, 1) - np.sort(q, 1)).mean(1), prediction, truth)


def _require_metric_label_distances(
    distance: Sequence[Sequence[float]] | Floats, prediction: SoftLabels, truth: SoftLabels
) -> Floats:
    """Return (n_labels, n_labels) the distances between labels as an array; raise InputError if they are not a metric."""
    labels, table = prediction_labels_then_truth_only(prediction, truth), np.asarray(distance, np.float64)
    if table.shape != (len(labels), len(labels)):
        raise InputError(
            f"the distances have the shape {table.shape}; the labels {first_few(as_text(labels), 6)} need a square matrix"
        )
    detour = min((float((table[:, k, None] + table[k] - table).min()) for k in range(len(labels))), default=0.0)
    sound = (
        np.isfinite(table).all() and (np.diag(table) == 0).all() and (table >= 0).all() and detour >= -METRIC_TOLERANCE
    )
    if not sound or np.abs(table - table.T).max(initial=0) > METRIC_TOLERANCE:
        raise InputError(
            "distances between labels must be a metric: finite, 0 on the diagonal, symmetric, with the triangle inequality"
        )
    return table


def _wasserstein_of_each_task(prediction: Rows, truth: Rows, label_distance: Floats) -> Floats:
    """Return (n_tasks,) the Wasserstein distance of each task, with `label_distance` (n_labels, n_labels) between labels."""
    return values_per_task(
        lambda q, p: np.array([_min_cost_of_moving_probability(row, label_distance) for row in q - p]),
        prediction,
        truth,
    )


def _min_cost_of_moving_probability(prediction_minus_truth: Floats, distance: Floats) -> float:
    """Return the least cost of moving probability from labels where the difference (n_labels,) is positive to negative ones."""
    give, take = np.flatnonzero(prediction_minus_truth > 1e-15), np.flatnonzero(prediction_minus_truth < -1e-15)
    if not len(give) or not len(take):
        return 0.0
    cost = distance[np.ix_(give, take)]  # (n_give, n_take)
    if len(give) == 1 or len(take) == 1:
        return float(
            (cost[0] @ -prediction_minus_truth[take]) if len(give) == 1 else (prediction_minus_truth[give] @ cost[:, 0])
        )
    from scipy.optimize import linprog  # imported here because it is slow and rarely needed

    flows = np.arange(cost.size).reshape(cost.shape)
    constraints = np.zeros((len(give) + len(take), cost.size))
    for i, used in enumerate([*flows, *flows.T]):
        constraints[i, used] = 1
    amounts = np.concatenate(
        [
            prediction_minus_truth[give],
            -prediction_minus_truth[take] * prediction_minus_truth[give].sum() / -prediction_minus_truth[take].sum(),
        ]
    )
    return float(linprog(cost.ravel(), A_eq=constraints, b_eq=amounts, method="highs").fun)
