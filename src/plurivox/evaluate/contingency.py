"""Where two models differ: the tasks that one, the other, both or neither gets right, and what their labels look like."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plurivox.core.base import DataType
from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError, unknown_name
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints, Names
from plurivox.evaluate.alignment import meet
from plurivox.evaluate.measures.hard import hits
from plurivox.evaluate.statistics import RankTest, mann_whitney

Look = Literal["kurtosis", "entropy", "confidence"]


@dataclass(frozen=True, eq=False, repr=False)
class Cells(DataType):
    """The four cells of right and wrong of two models: how many tasks, and the mean of what was looked at."""

    one: Names  # (4,) right, right, wrong, wrong
    two: Names  # (4,) right, wrong, right, wrong
    n: Ints  # (4,) tasks
    mean: Floats  # (4,) nan where a cell is empty
    look: str  # what the mean is of
    u: float  # Mann-Whitney between the two cells in which the models differ; nan where one of them is empty
    p_value: float
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, NDArray[Any]]:
        """one, two, n, mean."""
        return {name: getattr(self, name) for name in ("one", "two", "n", "mean")}

    def info(self) -> dict[str, object]:
        return {"tasks": int(self.n.sum()), "look": self.look, "p": f"{self.p_value:.4g}"}


def error_cells(
    one: SoftLabels, two: SoftLabels, truth: SoftLabels, soft: SoftLabels, *, look: Look = "kurtosis"
) -> Cells:
    """Which tasks does a model win, the clear or the contested ones? The 2 x 2 cells of right and wrong of two models.

    For every cell the mean over its tasks of the `look` of the soft label: its excess kurtosis m4 / m2^2 - 3 over the K
    probabilities (high: one label has nearly all), its entropy in nats, or its highest probability; and a Mann-Whitney test
    between the two cells in which the models differ. Of two labels the kurtosis is always -2 and tells nothing: look at the
    entropy there. An even label has no kurtosis and is left out of the mean.
    Fornaciari et al. (2021), section 5, https://doi.org/10.18653/v1/2021.naacl-main.204

    >>> truth = SoftLabels.gold("abcd", "xxxx", labels="xyz")
    >>> one, two = SoftLabels.gold("abcd", "xxyy", labels="xyz"), SoftLabels.gold("abcd", "xyxy", labels="xyz")
    >>> soft = SoftLabels.of([[1, 0, 0], [.8, .1, .1], [.5, .4, .1], [.4, .4, .2]], "abcd", "xyz")
    >>> error_cells(one, two, truth, soft, look="confidence").mean.tolist()
    [1.0, 0.8, 0.5, 0.4]
    """
    tasks = _shared(one, two, truth, soft)
    hit = [hits(*meet(model.on(tasks), truth.on(tasks)), "first") > 0 for model in (one, two)]
    value, notes = _looks(soft.on(tasks), look)
    cells = [first & second for first in (hit[0], ~hit[0]) for second in (hit[1], ~hit[1])]
    told = np.isfinite(value)
    means = [float(value[cell & told].mean()) if (cell & told).any() else float("nan") for cell in cells]
    test = _between(value[cells[1] & told], value[cells[2] & told])
    words = as_names(["right", "right", "wrong", "wrong"]), as_names(["right", "wrong", "right", "wrong"])
    n = np.array([int(cell.sum()) for cell in cells])
    return Cells(*words, n, np.array(means), look, test.u, test.p_value, notes)


def _shared(first: SoftLabels, *others: SoftLabels) -> Names:
    tasks = first.tasks
    for other in others:
        tasks = other.shared(tasks).tasks
    if not len(tasks):
        raise InputError("the two models, the truth and the soft labels share no task")
    return tasks


def _looks(soft: SoftLabels, look: Look) -> tuple[Floats, tuple[str, ...]]:
    """(n_tasks,) what is looked at, and what to say of it."""
    if look == "entropy":
        return soft.entropy(), ()
    if look == "confidence":
        return soft.confidence, ()
    if look != "kurtosis":
        raise unknown_name("look", look, ("kurtosis", "entropy", "confidence"))
    value = np.concatenate([kurtoses(rows) for _, rows in soft.rows()])
    if soft.n_labels <= 2:
        return value, ("the kurtosis of two probabilities is always -2: look at the entropy instead",)
    even = int(np.isnan(value).sum())
    return value, (f"{even} even labels have no kurtosis and are left out",) if even else ()


def kurtoses(prob: Floats) -> Floats:
    """(n,) the excess kurtosis of the numbers of every row, not corrected for their few: m4 / m2^2 - 3.

    >>> kurtoses(np.array([[1., 0., 0., 0.]])).round(4).tolist()
    [-0.6667]
    """
    off = prob - prob.mean(1, keepdims=True)
    second, fourth = (off**2).mean(1), (off**4).mean(1)
    spread_out = second > 1e-20
    return np.where(spread_out, fourth / np.where(spread_out, second, 1) ** 2 - 3, np.nan)


def _between(left: Floats, right: Floats) -> RankTest:
    if not len(left) or not len(right):
        return RankTest(float("nan"), float("nan"), float("nan"))
    return mann_whitney(left, right)
