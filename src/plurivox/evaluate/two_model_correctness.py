"""Compare two models by the tasks that both, one or neither gets right, and how ambiguous those tasks are."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, unknown_name_error
from plurivox.core.name_encoding import as_names
from plurivox.core.round_to_40_bits import round_to_40_bits
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate.align_tasks_and_labels import align_rows
from plurivox.evaluate.intervals_and_tests import RankTest, mann_whitney
from plurivox.evaluate.measures.hard_label_measures import hits

Statistic = Literal["kurtosis", "entropy", "confidence"]


@dataclass(frozen=True, eq=False, repr=False)
class CorrectnessTable(DataType):
    """2 x 2 table of two models, each right or wrong: number of tasks and mean soft label statistic in each cell."""

    one: Names  # (4,) the first model: right, right, wrong, wrong
    two: Names  # (4,) the second model: right, wrong, right, wrong
    n: Ints  # (4,) number of tasks
    mean: Floats  # (4,) mean of the statistic over the tasks of a cell; NaN if the cell is empty
    look: str  # the statistic of the soft labels: kurtosis, entropy or confidence
    u: float  # Mann-Whitney U between the two cells in which the models differ; NaN if one is empty
    p_value: float
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the four cells of the table as columns: one, two (right or wrong), n, mean."""
        return {name: getattr(self, name) for name in ("one", "two", "n", "mean")}

    def summary_values(self) -> dict[str, object]:
        return {"tasks": int(self.n.sum()), "look": self.look, "p": f"{self.p_value:.4g}"}


@takes_what_users_hold
def correctness_table(
    one: SoftLabels, two: SoftLabels, truth: SoftLabels, soft: SoftLabels, *, look: Statistic = "kurtosis"
) -> CorrectnessTable:
    """Return a 2 x 2 table of two models, each right or wrong: number of tasks and their mean ambiguity in each cell.

    It shows whether a model wins on clear or on contested tasks. Ambiguity is a statistic of the soft label, selected by
    `look`: its excess kurtosis m4 / m2^2 - 3 over the K probabilities (high: one label has nearly all), its entropy in nats, or
    its highest probability (confidence). A Mann-Whitney test compares the two cells in which the models differ. With two
    labels the kurtosis is always -2: use the entropy. A uniform label has no kurtosis and is left out of the mean.
    Fornaciari et al. (2021), section 5, https://doi.org/10.18653/v1/2021.naacl-main.204

    >>> truth = SoftLabels.gold("abcd", "xxxx", labels="xyz")
    >>> one, two = SoftLabels.gold("abcd", "xxyy", labels="xyz"), SoftLabels.gold("abcd", "xyxy", labels="xyz")
    >>> soft = SoftLabels.of([[1, 0, 0], [.8, .1, .1], [.5, .4, .1], [.4, .4, .2]], "abcd", "xyz")
    >>> correctness_table(one, two, truth, soft, look="confidence").mean.tolist()
    [1.0, 0.8, 0.5, 0.4]
    """
    tasks = _tasks_shared_by_all(one, two, truth, soft)
    hit = [hits(*align_rows(model.on(tasks), truth.on(tasks)), "first") > 0 for model in (one, two)]
    value, notes = _statistic_of_each_task_and_notes(soft.on(tasks), look)
    cells = [first & second for first in (hit[0], ~hit[0]) for second in (hit[1], ~hit[1])]
    defined = np.isfinite(value)
    means = [float(value[cell & defined].mean()) if (cell & defined).any() else float("nan") for cell in cells]
    test = _mann_whitney_test_nan_if_empty(value[cells[1] & defined], value[cells[2] & defined])
    words = as_names(["right", "right", "wrong", "wrong"]), as_names(["right", "wrong", "right", "wrong"])
    n = np.array([int(cell.sum()) for cell in cells])
    return CorrectnessTable(*words, n, np.array(means), look, test.u, test.p_value, notes)


def _tasks_shared_by_all(first: SoftLabels, *others: SoftLabels) -> Names:
    """Return the names of the tasks that all these soft labels contain; raise InputError if there are none."""
    tasks = first.tasks
    for other in others:
        tasks = other.shared(tasks).tasks
    if not len(tasks):
        raise InputError("the two models, the truth and the soft labels have no task in common")
    return tasks


def _statistic_of_each_task_and_notes(soft: SoftLabels, statistic: Statistic) -> tuple[Floats, tuple[str, ...]]:
    """Return (n_tasks,) the kurtosis, entropy or confidence of each task's soft label, and notes for the user."""
    if statistic == "entropy":
        return soft.entropy(), ()
    if statistic == "confidence":
        return soft.confidence, ()
    if statistic != "kurtosis":
        raise unknown_name_error("statistic", statistic, ("kurtosis", "entropy", "confidence"))
    value = np.concatenate([row_excess_kurtosis(rows) for _, rows in soft.rows()])
    if soft.n_labels <= 2:
        return value, ("the kurtosis of two probabilities is always -2: use look='entropy' (--statistic entropy)",)
    even = int(np.isnan(value).sum())
    return value, (f"{even} uniform labels have no kurtosis and are left out",) if even else ()


def row_excess_kurtosis(prob: Floats) -> Floats:
    """Return (n,) the excess kurtosis of the numbers in each row, without bias correction: m4 / m2^2 - 3.

    The rows are sorted first and m4 / m2^2 is rounded to 40 bits, so that rows with the same kurtosis, such as the same
    numbers in another order, have the same value and stay ties in a rank test.

    >>> row_excess_kurtosis(np.array([[1., 0., 0., 0.]])).round(4).tolist()
    [-0.6667]
    """
    ordered = np.sort(np.ascontiguousarray(prob), axis=1)
    square = (ordered - ordered.mean(1, keepdims=True)) ** 2
    second, fourth = square.mean(1), (square**2).mean(1)
    spread_out = second > 1e-20
    return np.where(spread_out, round_to_40_bits(fourth / np.where(spread_out, second, 1) ** 2) - 3, np.nan)


def _mann_whitney_test_nan_if_empty(left: Floats, right: Floats) -> RankTest:
    """Return the Mann-Whitney test of two groups of values; all results are NaN if a group is empty."""
    if not len(left) or not len(right):
        return RankTest(float("nan"), float("nan"), float("nan"))
    return mann_whitney(left, right)
