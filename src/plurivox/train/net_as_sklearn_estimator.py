"""CrowdClassifier: training on labels, soft labels or votes as a scikit-learn estimator."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    check_random_state,
    column_or_1d,
    validate_data,
)

from plurivox.core.arguments_as_users_hold_them import to_votes_or_labels
from plurivox.core.array_types import Floats
from plurivox.core.rows_by_task_name import (
    NamedRows,
    check_same_index,
    rows_with_task_names,
    select_rows_of_tasks,
    weights_by_row,
)
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import SUM_TOLERANCE
from plurivox.core.votes import Votes
from plurivox.train.fit_net import fit
from plurivox.train.targets._contract import Supervision
from plurivox.train.training_hyperparameters import DEFAULT_LOSS, DEFAULT_NET, Plan

DEFAULT_PLAN = Plan(epochs=100, batch=64, lr=0.01)


class CrowdClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn classifier: a net trained on labels, on label distributions, or on the votes of a crowd.

    `fit(X, y)` takes one label per row, a matrix of probabilities (`labels` may name its columns), a matrix of votes with a
    row per row of X and a column per worker (NaN, None or -1: no answer), `Votes`, `SoftLabels`, or a table or file of votes
    or soft labels. The rows of a matrix are probabilities if all sum to one, and votes if they are names of labels or whole
    numbers. The rows of X and the tasks of votes or soft labels meet by name, in any order: give the task of each row as
    `fit(X, votes, tasks=...)`, a DataFrame whose index names the tasks (or `tasks="COLUMN"`), or a mapping {task: row}. Rows
    without names are an InputError unless the tasks are the numbers 0, 1, 2, ... `net`, `loss`, `target` and `head` are specs
    as on the command line.

    >>> X = np.array([[0.0], [0.1], [0.9], [1.0]] * 5)
    >>> CrowdClassifier(net="linear", random_state=0).fit(X, ["no", "no", "yes", "yes"] * 5).predict([[0.0], [1.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> votes = Votes.of(task=["b.png", "a.png"] * 2, worker=[1, 1, 2, 2], label=["yes", "no", "yes", "no"])
    >>> model = CrowdClassifier(net="linear", random_state=0).fit([[1.0], [0.0]], votes, tasks=["b.png", "a.png"])
    >>> model.predict([[0.0], [1.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        net: str = DEFAULT_NET,
        *,
        loss: str = DEFAULT_LOSS,
        target: str | None = None,
        head: str | None = None,
        plan: Plan | None = None,
        labels: Any = None,
        random_state: Any = None,
    ) -> None:
        self.net, self.loss, self.target, self.head = net, loss, target, head
        self.plan, self.labels, self.random_state = plan, labels, random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, tasks: Any = None) -> Self:
        """Train the net; y is labels, probabilities, votes or soft labels, see the class. Sets `trained_` and `classes_`.

        `tasks` are the names of the rows of X, or the column of a DataFrame X with them, which is then no input.
        `sample_weight` is one weight per row of X, or a mapping {task: weight}.
        """
        y = _votes_or_soft_labels_or_unchanged(y)
        if isinstance(y, Votes | SoftLabels):
            table, target, sample_weight = self._check_inputs_of_named_tasks_set_classes(X, y, sample_weight, tasks)
        else:
            check_same_index(X, y)
            check_same_index(X, sample_weight, "sample_weight")
            # labels and probabilities have no task names: the index of X is used only with those of sample weights
            named = tasks is not None or isinstance(sample_weight, Mapping) or isinstance(X, Mapping)
            given = rows_with_task_names(X, tasks, "X") if named else NamedRows(X, None)
            sample_weight = weights_by_row(sample_weight, given)
            table, target = self._check_inputs_and_target_set_classes(given.rows, y)
        plan = self.plan or DEFAULT_PLAN
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            plan = Plan.from_options({one.name: getattr(plan, one.name) for one in plan.options()} | {"seed": seed})
        known = Supervision(votes=target) if isinstance(target, Votes) else Supervision(soft=target, gold=target)
        self.trained_ = fit(
            table,
            target if self.target is None else self.target,
            tasks=target.tasks,
            known=known,
            net=self.net,
            loss=self.loss,
            head=self.head,
            plan=plan,
            weight=_checked_sample_weights_or_none(sample_weight, table),
        )
        return self

    def _check_inputs_of_named_tasks_set_classes(
        self, X: Any, y: Votes | SoftLabels, sample_weight: Any, tasks: Any
    ) -> tuple[Floats, Votes | SoftLabels, Any]:
        """Return inputs, target and weights of the tasks of y that have a label, in the same order, and set `classes_`."""
        owner = "votes" if isinstance(y, Votes) else "soft labels"
        target = y.on(y.tasks_with_votes) if isinstance(y, Votes) else y
        rows, place, given = select_rows_of_tasks(X, target.tasks, tasks, owner=owner, all_tasks=y.tasks, what="X")
        weights = weights_by_row(sample_weight, given)
        table = _as_float32_unless_bytes(validate_data(self, rows, allow_nd=True))
        self.classes_ = _label_names_as_plain_array(y.labels)
        return table, target, None if weights is None else np.asarray(weights)[place]

    def _check_inputs_and_target_set_classes(self, X: Any, y: Any) -> tuple[Floats, SoftLabels]:
        """Check X and y, labels or probabilities, return them as inputs and soft labels, and set `classes_`."""
        table: Floats
        prob = np.asarray(y)
        if prob.ndim == 2 and prob.shape[1] > 1:
            table = _as_float32_unless_bytes(validate_data(self, X, allow_nd=True))
            soft = SoftLabels.of(prob, range(len(prob)), range(prob.shape[1]) if self.labels is None else self.labels)
            self.classes_ = _label_names_as_plain_array(soft.labels)
            return table, soft
        table, column = validate_data(self, X, y, allow_nd=True, ensure_min_samples=2)
        table = _as_float32_unless_bytes(table)
        check_classification_targets(column)
        column = column_or_1d(column, warn=True)
        self.classes_, codes = np.unique(column, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"a classifier needs at least two classes; y has only one class: {self.classes_[0]!r}")
        return table, SoftLabels.one_hot(codes, range(len(table)), range(len(self.classes_)))

    def predict_proba(self, X: Any) -> Floats:
        """(n, n_classes) the predicted probabilities of each row of X."""
        check_is_fitted(self)
        table = _as_float32_unless_bytes(validate_data(self, X, allow_nd=True, reset=False))
        return self.trained_.predict(table).prob

    def predict(self, X: Any) -> Any:
        """(n,) the most probable class of each row of X."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]


def _votes_or_soft_labels_or_unchanged(y: Any) -> Any:
    """Return y as Votes or SoftLabels if it is a table, file or matrix of votes; labels or probabilities unchanged."""
    if isinstance(y, Votes | SoftLabels):
        return y
    if isinstance(y, str | Path | Mapping):
        return to_votes_or_labels(y)
    if getattr(y, "ndim", 2) != 2 or not hasattr(y, "__len__") or not len(y):
        return y
    matrix = _as_numbers_if_possible(y) if isinstance(y, np.ndarray) else None
    if matrix is None and isinstance(y, list | tuple):
        is_matrix = all(isinstance(row, list | tuple | np.ndarray) and len(row) > 1 for row in y)
        matrix = np.array([list(row) for row in y], object) if is_matrix and len({len(row) for row in y}) == 1 else None
        matrix = None if matrix is None else _as_numbers_if_possible(matrix)
    if matrix is None:
        is_frame = (
            hasattr(y, "columns") and y.shape[1] > 1 and not _rows_sum_to_one(_as_numbers_if_possible(np.asarray(y)))
        )
        return to_votes_or_labels(y) if is_frame else y
    return y if matrix.shape[1] < 2 or _rows_sum_to_one(matrix) else to_votes_or_labels(_matrix_of_votes(matrix))


def _as_numbers_if_possible(matrix: Any) -> Any:
    """Return a matrix of objects as floats, None as NaN, if all others are numbers; else unchanged."""
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError):
        return matrix


def _rows_sum_to_one(matrix: Any) -> bool:
    """Return whether a matrix is of numbers whose rows sum to one: probabilities."""
    return matrix.dtype.kind in "biuf" and bool((np.abs(matrix.sum(1) - 1) <= SUM_TOLERANCE).all())


def _matrix_of_votes(matrix: Any) -> Any:
    """Return a matrix of votes in which -1 is missing; ValueError if it is neither of votes nor of probabilities."""
    if matrix.dtype.kind not in "biuf":
        return matrix
    numbers = np.where(matrix == -1, np.nan, matrix.astype(np.float64))
    if not bool((np.isnan(numbers) | (numbers == np.floor(numbers))).all()):
        raise ValueError(
            "y is neither a matrix of probabilities, whose rows sum to one, nor a matrix of votes, which are whole numbers or "
            "names of labels (no answer: NaN, None or -1)"
        )
    return numbers


def _as_float32_unless_bytes(X: Any) -> Any:
    """Return an array of bytes unchanged (training reads them as pixels), and any other array, integers too, as float32."""
    return X if X.dtype == np.uint8 else X.astype(np.float32, copy=False)


def _label_names_as_plain_array(names: Any) -> Any:
    """Return label names as a plain numpy array of text or numbers, as scikit-learn expects."""
    return np.array(names.tolist())


def _checked_sample_weights_or_none(sample_weight: Any, X: Floats) -> Floats | None:
    """(n,) the checked sample weights, None if there are none; ValueError (as scikit-learn requires) if all are zero."""
    if sample_weight is None:
        return None
    weights: Floats = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("all sample weights are zero; at least one must be above zero")
    return weights
