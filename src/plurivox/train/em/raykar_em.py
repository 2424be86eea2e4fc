"""EM of Raykar et al. with any classifier that follows scikit-learn. Needs neither torch nor scikit-learn."""

import copy
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import AtMost, Progress, no_progress
from plurivox.core.results import Confusion, Fit
from plurivox.core.rows_by_task_name import rows_with_task_names, select_rows_of_tasks
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import ConfusionEM, KeyedVotes, Params, worker_accuracy

PSEUDO_HELP = "pseudo-count added to every cell of a worker's matrix"
MIN_FLOAT = np.finfo(float).tiny  # smallest probability before a logarithm, so that log-likelihoods stay finite
CLIP_HELP = "minimum of the classifier's probabilities; smaller ones are raised to it"


class RaykarSteps:
    """E-step and M-step on votes, with a classifier's probabilities as the prior of each task.

    Tasks with a gold label keep it.

    >>> votes = Votes.of(task=list("aab"), worker=[1, 2, 1], label=list("xyy"))
    >>> steps = RaykarSteps(votes)
    >>> steps.e_step(np.full((2, 2), .5), steps.near_diagonal_confusion_matrices())[0].round(3)
    array([[0.5 , 0.5 ],
           [0.01, 0.99]])
    """

    def __init__(self, votes: Votes, gold: SoftLabels | None = None, pseudo: float = 0.01, clip: float = 1e-3) -> None:
        self.votes, self.pseudo, self.clip, k = votes.require_worker_names("raykar"), pseudo, clip, votes.n_labels
        keyed = KeyedVotes.from_columns_adding_keys(
            votes.row_offsets_by_task, votes.worker, votes.label, votes.weight, k
        )
        self.em = ConfusionEM(keyed, votes.n_workers, k)
        self.gold_tasks: Ints = np.empty(0, np.int64)  # (n_gold,) indices of tasks with a gold label
        self.gold_prob: Floats = np.empty((0, k))  # (n_gold, n_labels)
        if gold is not None:
            self._store_gold_of_voted_tasks(gold)

    def _store_gold_of_voted_tasks(self, gold: SoftLabels) -> None:
        """Set the gold labels of the tasks that have votes; InputError if a gold label is not a label of the votes."""
        unknown = positions(self.votes.labels, gold.labels) < 0
        if unknown.any() and bool((gold.prob[:, unknown] > 0).any()):
            raise InputError(
                f"gold labels contain {first_few(gold.labels[unknown])}, which no vote has; give all labels to the votes"
            )
        row = positions(self.votes.tasks, gold.tasks)
        self.gold_tasks, gold = row[row >= 0], gold.on(gold.tasks[row >= 0])
        self.gold_prob = np.asarray(gold.on_labels(self.votes.labels).prob)

    def near_diagonal_confusion_matrices(self) -> Floats:
        """(n_workers, true label, given label) nearly diagonal confusion matrices, to start EM with."""
        k = self.votes.n_labels
        start = np.eye(k) + self.pseudo
        return np.tile(start / start.sum(1, keepdims=True), (self.votes.n_workers, 1, 1))

    def clip_and_normalise_task_priors(self, prior_per_task: Floats) -> Floats:
        """(n_tasks, n_labels) the prior probabilities of each task raised to at least `clip` and normalised."""
        clipped = np.clip(prior_per_task, self.clip, 1 - self.clip) if self.clip else prior_per_task
        return clipped / clipped.sum(1, keepdims=True)

    def e_step(self, prior: Floats, confusion_matrices: Floats) -> tuple[Floats, float]:
        """Return the posterior (n_tasks, n_labels) given the classifier and the votes, and the log-likelihood of the votes."""
        log_prior = np.log(np.maximum(self.clip_and_normalise_task_priors(prior), MIN_FLOAT))
        posterior, value = self.em.e_step(
            Params(log_prior, self.em.log_confusion_from_matrices(confusion_matrices, MIN_FLOAT))
        )
        posterior[self.gold_tasks] = self.gold_prob
        return posterior, value

    def m_step_confusion_matrices(self, posterior: Floats) -> Floats:
        """(n_workers, true label, given label) the confusion matrices: expected counts plus pseudo-counts, normalised."""
        pseudo = np.full((self.votes.n_labels, self.votes.n_labels), self.pseudo)
        return self.em.confusion_matrices_from_flat_logs(
            self.em.m_step(self.em.expected_task_and_vote_counts(posterior).confusion, pseudo)
        )

    def fit_from_posterior(
        self,
        made_by: str,
        posterior: Floats,
        confusion_matrices: Floats,
        trace: tuple[float, ...] = (),
        converged: bool | None = None,
    ) -> Fit:
        """Return a Fit with the posterior of each task and the confusion matrix of each worker."""
        votes, prior = self.votes, posterior.mean(0)
        return Fit(
            SoftLabels.of(posterior, votes.tasks, votes.labels, support=votes.support, estimates="truth"),
            votes.workers,
            made_by,
            prior=prior,
            confusion=Confusion(confusion_matrices, votes.workers, votes.labels),
            ability=worker_accuracy(confusion_matrices, prior),
            trace=trace,
            converged=converged,
        )


MIN_PROB = 1e-4  # labels of a task with a smaller posterior are left out of the classifier's training data


@dataclass(frozen=True, eq=False)
class RaykarFit:
    """Result of `raykar_em`: the fitted classifier, and the Fit of tasks and workers."""

    classifier: Any  # fitted; its classes are indices into `labels`
    fit: Fit
    labels: Names

    def predict(self, x: Any, tasks: Iterable[object] | str | None = None) -> SoftLabels:
        """Return the classifier's probabilities for the inputs x, whose tasks are named as in `raykar_em`, or 0, 1, 2, ..."""
        rows, names = rows_with_task_names(x, tasks)
        prob = _predict_prob_of_all_labels(self.classifier, _frame_as_array(rows), len(self.labels))
        given = np.arange(len(prob)) if names is None else names
        return SoftLabels.of(prob, given, self.labels, estimates="truth")


def raykar_em(
    votes: Votes,
    x: Any,
    classifier: Any,
    *,
    tasks: Iterable[object] | str | None = None,
    gold: SoftLabels | None = None,
    start: Fit | None = None,
    pseudo: float = 0.01,
    clip: float = 1e-3,
    warm: bool = True,
    max_iter: int = 50,
    tol: float = 1e-3,
    progress: Progress = no_progress,
) -> RaykarFit:
    """Estimate a classifier, soft labels and the workers' confusion matrices together by EM, from inputs and votes.

    E-step: q_i(k) is proportional to p_i(k) * product over its votes of matrix_worker[k, said], p being the classifier's
    probabilities clipped to at least `clip`. M-step: the matrices are the expected counts under q plus `pseudo`, normalised by
    row, and the classifier is fitted to every row of x with each label, weighted by q. EM starts with the posterior of the fit
    `start`, or else with uniform p and nearly diagonal matrices, and ends when the mean total variation between successive q
    is below `tol`. The trace is the log-likelihood of the votes; with a classifier that is regularised or not fitted to
    convergence it may decrease slightly. Tasks with a `gold` label keep it. `tasks` are the names of the rows of x, or a
    column of x with them; without `tasks` x is a DataFrame whose index names the tasks, a mapping {task: row}, or the tasks of
    the votes are the numbers 0, 1, 2, ... Every task of the votes needs a row; rows of other tasks are left out with a warning.
    `classifier` needs fit with `sample_weight` and predict_proba (a pipeline needs them in its last step); a copy of it is
    fitted, with `warm` starting from the previous fit if it has the parameter warm_start.

    Raykar et al. (2010), http://jmlr.org/papers/v11/raykar10a.html

    >>> from sklearn.linear_model import LogisticRegression
    >>> votes = Votes.of(task=[0, 0, 1, 1, 2, 2, 3], worker=[1, 2, 1, 2, 1, 2, 1], label=list("nnynyyn"))
    >>> done = raykar_em(votes, [[0.], [1.], [1.], [0.]], LogisticRegression())
    >>> done.fit.soft.hard().tolist(), done.predict([[0.], [1.]]).hard().tolist()
    (['n', 'y', 'y', 'n'], ['n', 'y'])
    """
    model = copy.deepcopy(classifier)
    inputs = _frame_as_array(select_rows_of_tasks(x, votes.tasks, tasks, owner="votes", all_tasks=votes.tasks)[0])
    if warm and "warm_start" in (model.get_params() if hasattr(model, "get_params") else {}):
        model.set_params(warm_start=True)
    steps = RaykarSteps(votes, gold, pseudo, clip)
    uniform = np.full((votes.n_tasks, votes.n_labels), 1 / votes.n_labels)
    posterior = (
        steps.e_step(uniform, steps.near_diagonal_confusion_matrices())[0]
        if start is None
        else _posterior_from_start_fit_and_gold(steps, start)
    )
    trace: list[float] = []
    converged = False
    for step in range(max_iter):
        matrices = steps.m_step_confusion_matrices(posterior)
        _fit_classifier_to_posterior_in_place(model, inputs, posterior)
        before, (posterior, value) = (
            posterior,
            steps.e_step(_predict_prob_of_all_labels(model, inputs, votes.n_labels), matrices),
        )
        trace.append(value)
        progress(step, AtMost(max_iter), value)
        if converged := bool(np.abs(posterior - before).sum(1).mean() / 2 < tol):
            break
    made_by = f"raykar-em[{type(classifier).__name__}]"
    fit = steps.fit_from_posterior(
        made_by, posterior, steps.m_step_confusion_matrices(posterior), tuple(trace), converged
    )
    return RaykarFit(model, fit, votes.labels)


def _frame_as_array(rows: Any) -> Any:
    """Return a DataFrame as an array, and an array or sparse matrix unchanged."""
    return np.asarray(rows) if hasattr(rows, "columns") else rows


def _posterior_from_start_fit_and_gold(steps: RaykarSteps, start: Fit) -> Floats:
    """(n_tasks, n_labels) the soft labels of the fit `start`, with which EM begins; gold labels replace them."""
    posterior = np.array(start.soft.on(steps.votes.tasks).on_labels(steps.votes.labels).prob, np.float64)
    posterior[steps.gold_tasks] = steps.gold_prob
    return posterior


def _fit_classifier_to_posterior_in_place(model: Any, x: Any, posterior: Floats) -> None:
    """Fit the classifier in place to the posterior: each task with every possible label, weighted by its probability.

    Raises InputError if the classifier has no predict_proba or its fit no sample_weight.
    """
    used = posterior > MIN_PROB
    used[posterior.argmax(0), np.arange(posterior.shape[1])] = True  # every label at least once: a warm start needs it
    task, label = np.nonzero(used)
    weight = np.maximum(posterior[task, label], MIN_PROB)
    last, prefix = model, ""
    while hasattr(last, "steps"):  # a pipeline passes weights to the step in their name
        name, last = last.steps[-1]
        prefix += f"{name}__"
    if not callable(getattr(last, "predict_proba", None)):
        raise InputError(f"{type(last).__name__} gives no probabilities; use a classifier with predict_proba")
    if "sample_weight" not in inspect.signature(last.fit).parameters:
        raise InputError(
            f"{type(last).__name__} does not accept sample weights; use a classifier with fit(..., sample_weight)"
        )
    model.fit(x[task], label, **{f"{prefix}sample_weight": weight})


def _predict_prob_of_all_labels(model: Any, x: Any, n_labels: int) -> Floats:
    """(n, n_labels) the classifier's probabilities; 0 for labels that were not in its training data."""
    prob = np.asarray(model.predict_proba(x), np.float64)
    classes = np.asarray(model.classes_)
    if prob.shape[1] != len(classes):
        raise InputError(f"the classifier gives {prob.shape[1]} probabilities for the labels {first_few(classes)}")
    full = np.zeros((len(prob), n_labels))
    full[:, classes] = prob
    return full
