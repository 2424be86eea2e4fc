"""CrowdClassifier: training on labels, soft labels or votes as a scikit-learn estimator."""

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

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train.fit_net import fit
from plurivox.train.targets._contract import Supervision
from plurivox.train.training_hyperparameters import DEFAULT_LOSS, DEFAULT_NET, Plan

DEFAULT_PLAN = Plan(epochs=100, batch=64, lr=0.01)


class CrowdClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn classifier: a net trained on labels, on label distributions, or on the votes of a crowd.

    `fit(X, y)` takes one label per row, a matrix of probabilities (`labels` may name its columns), or `Votes` whose tasks are
    the rows of X in their order. `net`, `loss`, `target` and `head` are specs as on the command line.

    >>> X = np.array([[0.0], [0.1], [0.9], [1.0]] * 5)
    >>> CrowdClassifier(net="linear", random_state=0).fit(X, ["no", "no", "yes", "yes"] * 5).predict([[0.0], [1.0]])
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the net; y is labels, probabilities or `Votes`, see the class. Sets `trained_` and `classes_`."""
        table, target = self._check_inputs_and_target_set_classes(X, y)
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

    def _check_inputs_and_target_set_classes(self, X: Any, y: Any) -> tuple[Floats, SoftLabels | Votes]:
        """Check X and y, return them as inputs and target (soft labels or votes), and set `classes_`."""
        table: Floats
        if isinstance(y, Votes):
            table = _as_float32_unless_bytes(validate_data(self, X, allow_nd=True))
            if len(table) != y.n_tasks:
                raise InputError(f"there are {len(table)} rows of X for {y.n_tasks} tasks of the votes")
            self.classes_ = _label_names_as_plain_array(y.labels)
            return table, y
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
