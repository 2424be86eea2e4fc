"""raykar_em: EM around any classifier of scikit-learn's kind. Needs neither torch nor scikit-learn itself."""

import copy
import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox.core.errors import InputError, some
from plurivox.core.labels import SoftLabels
from plurivox.core.names import Floats, Names
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.core.watch import Watch, quiet
from plurivox.train.believing import Believing

LEAST = 1e-4  # a label less likely than this is not taught


@dataclass(frozen=True, eq=False)
class RaykarFit:
    """A classifier that learnt from votes, and what it and they say of tasks and workers."""

    classifier: Any  # fitted; it knows labels by their places in `labels`
    fit: Fit
    labels: Names

    def predict(self, x: Any, tasks: Any = None) -> SoftLabels:
        """What the classifier believes of inputs nobody voted on; tasks without names are called 0, 1, 2, ..."""
        prob = _predict(self.classifier, x, len(self.labels))
        return SoftLabels.of(prob, np.arange(len(prob)) if tasks is None else tasks, self.labels)


def raykar_em(
    votes: Votes,
    x: Any,
    classifier: Any,
    *,
    gold: SoftLabels | None = None,
    start: Fit | None = None,
    pseudo: float = 0.01,
    clip: float = 1e-3,
    warm: bool = True,
    max_iter: int = 50,
    tol: float = 1e-3,
    watch: Watch = quiet,
) -> RaykarFit:
    """Fit a classifier, the labels and the workers' matrices together by EM, from inputs and votes.

    E-step: q_i(k) is proportional to p_i(k) * product over its votes of matrix_worker[k, said], p being the classifier's
    probabilities held above `clip`. M-step: the matrices are the counts that q expects plus `pseudo`, divided by their
    sums, and the classifier learns from every row of x with each label, weighing q. It begins with what a fit to `start` from
    believes, else with even p and workers who nearly always say what is so, and ends when no q moves by `tol` in the mean.
    The trace is the log likelihood of the votes; a classifier that is regularised, or not fitted to its end, may let it fall
    a little. Row i of x is task i of `votes.tasks`. Known labels (`gold`) stay as they are. `classifier` has fit with
    `sample_weight` and predict_proba (a pipeline whose last step has them will do); a copy of it is fitted, from where it
    stands at each pass where it can (`warm`).

    Raykar et al. (2010), http://jmlr.org/papers/v11/raykar10a.html

    >>> from sklearn.linear_model import LogisticRegression
    >>> votes = Votes.of(task=[0, 0, 1, 1, 2, 2, 3], worker=[1, 2, 1, 2, 1, 2, 1], label=list("nnynyyn"))
    >>> done = raykar_em(votes, [[0.], [1.], [1.], [0.]], LogisticRegression())
    >>> done.fit.soft.hard().tolist(), done.predict([[0.], [1.]]).hard().tolist()
    (['n', 'y', 'y', 'n'], ['n', 'y'])
    """
    model, inputs = copy.deepcopy(classifier), _inputs(x, votes)
    if warm and "warm_start" in (model.get_params() if hasattr(model, "get_params") else {}):
        model.set_params(warm_start=True)
    steps = Believing(votes, gold, pseudo, clip)
    even = np.full((votes.n_tasks, votes.n_labels), 1 / votes.n_labels)
    posterior = steps.posterior(even, steps.identity())[0] if start is None else _believed(steps, start)
    trace: list[float] = []
    converged = False
    for step in range(max_iter):
        matrices = steps.matrices(posterior)
        _teach(model, inputs, posterior)
        before, (posterior, value) = posterior, steps.posterior(_predict(model, inputs, votes.n_labels), matrices)
        trace.append(value)
        watch(step, max_iter, value)
        if converged := bool(np.abs(posterior - before).sum(1).mean() / 2 < tol):
            break
    word = f"raykar-em[{type(classifier).__name__}]"
    fit = steps.fit(word, posterior, steps.matrices(posterior), tuple(trace), converged)
    return RaykarFit(model, fit, votes.labels)


def _inputs(x: Any, votes: Votes) -> Any:
    inputs = x if hasattr(x, "shape") else np.asarray(x)
    if inputs.shape[0] != votes.n_tasks:
        raise InputError(f"there are {inputs.shape[0]} rows of x for {votes.n_tasks} tasks of the votes")
    return inputs


def _believed(steps: Believing, start: Fit) -> Floats:
    """(n_tasks, n_labels) what an earlier fit believes of the tasks, known ones as they are."""
    posterior = np.array(start.soft.on(steps.votes.tasks).on_labels(steps.votes.labels).prob, np.float64)
    posterior[steps.known] = steps.truth
    return posterior


def _teach(model: Any, x: Any, posterior: Floats) -> None:
    """Let the classifier learn a distribution: each task with every label it may have, weighing its probability."""
    taught = posterior > LEAST
    taught[posterior.argmax(0), np.arange(posterior.shape[1])] = True  # every label once, so that a warm start fits
    task, label = np.nonzero(taught)
    weight = np.maximum(posterior[task, label], LEAST)
    last, prefix = model, ""
    while hasattr(last, "steps"):  # a pipeline hands weights to the step they are named after
        name, last = last.steps[-1]
        prefix += f"{name}__"
    if not callable(getattr(last, "predict_proba", None)):
        raise InputError(f"{type(last).__name__} gives no probabilities; take a classifier with predict_proba")
    if "sample_weight" not in inspect.signature(last.fit).parameters:
        raise InputError(
            f"{type(last).__name__} cannot weigh its lessons; take a classifier with fit(..., sample_weight)"
        )
    model.fit(x[task], label, **{f"{prefix}sample_weight": weight})


def _predict(model: Any, x: Any, n_labels: int) -> Floats:
    """(n, n_labels) what the classifier believes; labels it never saw have 0."""
    said = np.asarray(model.predict_proba(x), np.float64)
    known = np.asarray(model.classes_)
    if said.shape[1] != len(known):
        raise InputError(f"the classifier gives {said.shape[1]} probabilities for the labels {some(known)}")
    whole = np.zeros((len(said), n_labels))
    whole[:, known] = said
    return whole
