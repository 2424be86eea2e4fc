"""Result types: Fit of an aggregator, Confusion matrices of workers, Scores of tasks or workers, Dynamics of training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NoReturn, Self, get_args, overload

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Bools, Floats, Ints, Names, as_readonly_array
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few, unknown_name_error
from plurivox.core.name_encoding import as_names, positions, readonly_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS, SUM_TOLERANCE

ScoreTarget = Literal["task", "worker", "vote", "crowd"]


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(DataType):
    """Confusion matrices of workers, [matrix, true, said]: each row is the distribution of labels given the true label.

    Workers may share a matrix (clusters, a pooled crowd): `which` is the index of each worker's matrix.

    >>> pooled, workers, labels = np.array([[[.9, .1], [.3, .7]]]), as_names(["ann", "bo"]), as_names(["no", "yes"])
    >>> confusion = Confusion(pooled, workers, labels, which=np.array([0, 0]))
    >>> confusion.of("bo")
    array([[0.9, 0.1],
           [0.3, 0.7]])
    """

    matrices: Floats  # (n_matrices, n_labels, n_labels)
    workers: Names
    labels: Names
    which: Ints | None = None  # (n_workers,) the matrix of each worker; None: one each, in order

    def __post_init__(self) -> None:
        for name in ("workers", "labels"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        object.__setattr__(self, "matrices", as_readonly_array(self.matrices))
        k = len(self.labels)
        if self.matrices.ndim != 3 or self.matrices.shape[1:] != (k, k):
            raise InputError(f"confusion matrices have the shape {self.matrices.shape}; {k} labels need (n, {k}, {k})")
        self._check_matrix_index_of_each_worker()
        sums = self.matrices.sum(2, dtype=np.float64)
        # (n_matrices, n_labels)
        bad = ~(np.abs(sums - 1) <= SUM_TOLERANCE) | ~(self.matrices.min(2, initial=0) >= -SUM_TOLERANCE)
        if bad.any():
            n, true = np.argwhere(bad)[0]
            raise InputError(
                f"the rows of confusion matrices must be 0 or more and sum to one; {int(bad.sum())} do not, such as "
                f"that of {first_few(self.labels[true : true + 1])} in matrix {n} with the sum {sums[n, true]:.6g}"
            )

    def _check_matrix_index_of_each_worker(self) -> None:
        """Raise InputError if `which`, the index of each worker's confusion matrix, has the wrong length or an index
        out of range.
        """
        if self.which is None:
            if len(self.matrices) != len(self.workers):
                raise InputError(f"{len(self.matrices)} matrices for {len(self.workers)} workers; set `which`")
            return
        object.__setattr__(self, "which", as_readonly_array(self.which))
        if self.which.shape != self.workers.shape:
            raise InputError(
                f"`which` has the shape {self.which.shape}; {len(self.workers)} workers need one number each"
            )
        if self.which.dtype.kind not in "iu" or ((self.which < 0) | (self.which >= len(self.matrices))).any():
            raise InputError(f"`which` must hold whole numbers from 0 to {len(self.matrices) - 1}, the last matrix")

    def _matrix_index_of_each_worker(self) -> Ints:
        """(n_workers,) the index of each worker's confusion matrix in `matrices`."""
        return np.arange(len(self.workers)) if self.which is None else self.which

    def of(self, worker: object) -> Floats:
        """(n_labels, n_labels) the confusion matrix of one worker: rows are true labels, columns the labels given."""
        place = int(positions(self.workers, as_names([worker], "workers"))[0])
        if place < 0:
            raise unknown_name_error("worker", str(worker), map(str, self.workers.tolist()))
        return self.matrices[self._matrix_index_of_each_worker()[place]]

    def dense(self) -> Floats:
        """(n_workers, n_labels, n_labels) the confusion matrix of every worker. Raise InputError if that is too large."""
        cells = len(self.workers) * len(self.labels) ** 2
        if cells > 4 * DENSE_CELLS:
            raise InputError(f"{cells:,} numbers are too many for one array; use of(worker) for one matrix at a time")
        return self.matrices[self._matrix_index_of_each_worker()]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return confusion matrices as a long table with the columns worker, true label, said label and probability p."""
        n, k = len(self.workers), len(self.labels)
        worker, true, said = (grid.ravel() for grid in np.indices((n, k, k)))
        return {
            "worker": self.workers[worker],
            "true": self.labels[true],
            "said": self.labels[said],
            "p": self.dense().ravel(),
        }

    def _table_of_first_rows(self, n: int) -> dict[str, NDArray[Any]]:
        few = Confusion(self.matrices[self._matrix_index_of_each_worker()[:1]], self.workers[:1], self.labels).columns()
        return {name: column[:n] for name, column in few.items()}

    def summary_values(self) -> dict[str, object]:
        return {"workers": len(self.workers), "labels": len(self.labels), "matrices": len(self.matrices)}


class ColumnWhenRead:
    """A column of a data type that may be given as a function: it is called when the column is first read, and kept."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, data: None, owner: type) -> None: ...
    @overload
    def __get__(self, data: object, owner: type) -> Floats | None: ...
    def __get__(self, data: object | None, owner: type) -> Floats | None:
        if data is None:
            return None  # the default of the field
        values = vars(data)
        if callable(given := values.get(self.name)):
            values[self.name] = as_readonly_array(given())
        column: Floats | None = values.get(self.name)
        return column

    def __set__(self, data: object, value: Floats | Callable[[], Floats] | None) -> None:
        vars(data)[self.name] = value


@dataclass(frozen=True, eq=False, repr=False)
class Fit(DataType):
    """Result of an aggregator: soft labels, and worker and task parameters; None for those the method does not estimate.

    `ability_low` and `ability_high` are the 95% interval of each worker's true ability: of workers drawn from the crowd, about
    95% have an ability in their interval (92 to 98% in most simulated crowds; 87 to 92% if a dozen poor workers choose among
    ten labels, or if there are two labels, two or three votes per task and workers little better than guessing on one label).
    The true labels are not taken as known, so that the interval is wide if tasks have few votes; NaN if votes say nothing about
    abilities, as with one vote per task. `ability` is the method's own estimate, which may be biased if votes are few, and even
    outside the interval. Intervals are computed when first read.
    """

    soft: SoftLabels
    workers: Names
    made_by: str  # spec of the method
    prior: Floats | None = None  # (n_labels,) frequency of each label
    confusion: Confusion | None = None
    ability: Floats | None = None  # (n_workers,) higher is better, on the method's own scale
    ability_low: ColumnWhenRead = ColumnWhenRead()  # (n_workers,) 95% interval
    ability_high: ColumnWhenRead = ColumnWhenRead()
    difficulty: Floats | None = None  # (n_tasks,) higher is harder
    trace: tuple[float, ...] = ()  # the objective after each pass
    converged: bool | None = None  # None: the method does not iterate
    found: Mapping[str, Any] = field(default_factory=dict)  # further results, such as the number of ties

    def __post_init__(self) -> None:
        object.__setattr__(self, "workers", readonly_names(self.workers, "workers"))
        sizes = {"ability": len(self.workers), "difficulty": len(self.soft), "prior": self.soft.n_labels}
        sizes |= {"ability_low": len(self.workers), "ability_high": len(self.workers)}
        for name, size in sizes.items():
            if (column := vars(self)[name]) is not None and not callable(column):
                if len(column) != size:
                    raise InputError(f"{name} of a fit has {len(column)} values; it needs {size}")
                object.__setattr__(self, name, as_readonly_array(column))

    def with_soft(self, soft: SoftLabels, made_by: str | None = None, **fields: Any) -> Self:
        """Return this fit with other soft labels and fields; `dataclasses.replace` would compute the intervals of abilities."""
        if len(soft) != len(self.soft):
            raise InputError(f"the fit has {len(self.soft)} tasks; the soft labels have {len(soft)}")
        made = object.__new__(type(self))
        vars(made).update(vars(self) | {"soft": soft, "made_by": self.made_by if made_by is None else made_by} | fields)
        return made

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table of the soft labels: task, most probable label, confidence and the probability of each label."""
        return self.soft.columns()

    def _table_of_first_rows(self, n: int) -> dict[str, NDArray[Any]]:
        return self.soft._table_of_first_rows(n)

    def worker_ability_columns(self) -> dict[str, NDArray[Any]]:
        """Return a table of workers with their ability and its 95% interval, if the aggregator estimates them."""
        table: dict[str, NDArray[Any]] = {"worker": self.workers}
        for name in ("ability", "ability_low", "ability_high"):
            if (column := getattr(self, name)) is not None:
                table[name] = column
        return table

    def summary_values(self) -> dict[str, object]:
        return {
            "by": self.made_by,
            "estimates": None if self.soft.estimates == "unknown" else self.soft.estimates,
            "tasks": len(self.soft),
            "workers": len(self.workers),
            "labels": self.soft.n_labels,
            "passes": len(self.trace) or None,
            "converged": self.converged,
            **{name: value for name, value in self.found.items() if not isinstance(value, np.ndarray)},
        }


@dataclass(frozen=True, eq=False, repr=False)
class Scores(DataType):
    """Scores of tasks, workers, votes or the crowd: `raw` as its paper defines it, `badness` for ranking, higher is worse.

    >>> kappa = Scores("crowd", as_names(["crowd"]), raw=np.array([0.7]), badness=np.array([0.3]), made_by="fleiss-kappa")
    >>> list(kappa.columns())
    ['crowd', 'raw', 'badness']
    """

    version: ClassVar[int] = 2  # version 1 had `value`, the badness, and the interval of `value`

    of: ScoreTarget
    names: Names  # (n,) the tasks, workers or votes scored, or the single name "crowd"
    raw: Floats  # (n,) the number as its paper defines it; nan if it cannot be computed
    badness: Floats  # (n,) higher is worse, only for ranking; nan if it cannot be computed
    made_by: str
    low: Floats | None = None  # (n,) 95% interval of `raw`
    high: Floats | None = None
    n: Floats | None = None  # (n,) sample size of each score

    def __post_init__(self) -> None:
        if self.of not in get_args(ScoreTarget):
            raise InputError(f"`of` is one of {first_few(get_args(ScoreTarget), 4)}, not {self.of!r}")
        object.__setattr__(self, "names", readonly_names(self.names, "names"))
        for name in ("raw", "badness", "low", "high", "n"):
            if (column := getattr(self, name)) is not None:
                if len(column) != len(self.names):
                    raise InputError(f"{name} of the scores has {len(column)} values for {len(self.names)} names")
                object.__setattr__(self, name, as_readonly_array(column, np.float64))

    @property
    def value(self) -> NoReturn:
        """Raise AttributeError: `raw` and `badness` replaced `value` in version 0.2."""
        raise AttributeError(
            "Scores has no `value` since version 0.2: use `raw` for the published number (`low` and `high` are its 95% "
            "interval), and `badness`, higher is worse, for ranking"
        )

    def worst(self, n: int = 10) -> Names:
        """Return the names of the n tasks, workers or votes with the highest badness, worst first; without those of nan."""
        known = np.flatnonzero(~np.isnan(self.badness))
        return self.names[known[np.argsort(-self.badness[known], kind="stable")[:n]]]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns task, worker, vote or crowd, raw, its interval low and high, n, and badness."""
        table: dict[str, NDArray[Any]] = {self.of: self.names}
        for name in ("raw", "low", "high", "n", "badness"):
            if (column := getattr(self, name)) is not None:
                table[name] = column
        return table

    def summary_values(self) -> dict[str, object]:
        return {"by": self.made_by, f"{self.of}s": len(self.names)}

    @classmethod
    def upgrade(cls, saved_version: int, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of version 1 (value, raw or None, interval of value) as raw, badness and interval of raw."""
        del saved_version
        new = {name: one for name, one in fields.items() if name not in ("value", "raw", "low", "high")}
        badness, raw = fields["value"], fields.get("raw")
        raw = badness if raw is None else raw
        low, high = _interval_of_raw_from_interval_of_badness(raw, badness, fields.get("low"), fields.get("high"))
        return {**new, "raw": raw, "badness": badness, "low": low, "high": high}


def _interval_of_raw_from_interval_of_badness(
    raw: Floats, badness: Floats, low: Floats | None, high: Floats | None
) -> tuple[Floats | None, Floats | None]:
    """Return the interval of `raw`, given that of `badness`; (None, None) if raw is not a linear function of badness."""
    line = _slope_and_offset_of_raw(raw, badness)
    if low is None or high is None or line is None:
        return None, None
    slope, offset = line
    ends = offset + slope * low, offset + slope * high
    return ends if slope > 0 else ends[::-1]


def _slope_and_offset_of_raw(raw: Floats, badness: Floats) -> tuple[float, float] | None:
    """Return (slope, offset) with raw = offset + slope * badness for all rows without nan; None if there is no such line.

    Slope 1 with offset 0 and slope -1 with offset 1 or 0, the lines of nearly all scores, need one row; any other line through
    one or two different points is arbitrary, so slope -1 with another offset needs two of them and any other slope three.
    """
    known = np.isfinite(raw) & np.isfinite(badness)
    x, y = badness[known], raw[known]
    tolerance = 1e-9 * max(1.0, float(np.abs(np.concatenate([x, y])).max(initial=0)))
    n_different, lines = len(np.unique(x)), [(-1.0, 1.0), (1.0, 0.0), (-1.0, 0.0)]
    if n_different > 1:
        lines.append((-1.0, float((x + y).mean())))
    if n_different > 2:
        first, last = int(np.argmin(x)), int(np.argmax(x))
        slope = float((y[last] - y[first]) / (x[last] - x[first]))
        lines.append((slope, float(y[first] - slope * x[first])))
    for slope, offset in lines:
        if slope and bool((np.abs(offset + slope * x - y) <= tolerance).all()):
            return slope, offset
    return None


@dataclass(frozen=True, eq=False, repr=False)
class Dynamics(DataType):
    """Training dynamics: the logits of every task recorded after each epoch."""

    logits: Floats  # (n_epochs, n_tasks, n_labels)
    tasks: Names
    labels: Names

    def __post_init__(self) -> None:
        for name in ("tasks", "labels"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        object.__setattr__(self, "logits", as_readonly_array(self.logits))
        shape = self.logits.shape
        if len(shape) != 3 or shape[1:] != (len(self.tasks), len(self.labels)):
            raise InputError(
                f"logits have the shape {shape}; they need (epochs, {len(self.tasks)}, {len(self.labels)})"
            )

    @property
    def n_epochs(self) -> int:
        return len(self.logits)

    def on(self, tasks: Names) -> "Dynamics":
        """Return the training dynamics of the given tasks, in their order. Raise InputError if a task was not recorded."""
        wanted = as_names(tasks, "tasks")
        place = positions(self.tasks, wanted)
        if len(absent := wanted[place < 0]):
            raise InputError(f"{len(absent)} of {len(wanted)} tasks were not recorded: {first_few(absent)}")
        return Dynamics(self.logits[:, place], wanted, self.labels)

    def mask_tasks_with_finite_logits(self) -> Bools:
        """(n_tasks,) whether all recorded logits of each task are finite."""
        return np.asarray(np.isfinite(self.logits).all((0, 2)))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return a table with one row per task: its logits after the last epoch, one column per label."""
        return {"task": self.tasks} | {
            f"logit:{label}": self.logits[-1, :, k] for k, label in enumerate(self.labels.tolist())
        }

    def summary_values(self) -> dict[str, object]:
        return {"epochs": self.n_epochs, "tasks": len(self.tasks), "labels": len(self.labels)}
