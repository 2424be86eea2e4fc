"""EM of Raykar et al. around any scikit-learn classifier. Needs neither torch nor scikit-learn itself."""

import copy
import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.progress import Progress, no_progress
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints, Names
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import ConfusionEM, KeyedVotes, Params, accuracy

PSEUDO_HELP = "pseudo-count in every cell of a worker's matrix"
FLOOR = np.finfo(float).tiny  # probabilities below it count as that: an impossible vote leaves tasks comparable
CLIP_HELP = "the classifier's probabilities are taken to be at least this"


class RaykarSteps:
    """E-step and M-step over votes, with a classifier's probabilities as the prior of each task.

    Tasks whose label is known keep it.

    >>> votes = Votes.of(task=list("aab"), worker=[1, 2, 1], label=list("xyy"))
    >>> steps = RaykarSteps(votes)
    >>> steps.e_step(np.full((2, 2), .5), steps.identity())[0].round(3)
    array([[0.5 , 0.5 ],
           [0.01, 0.99]])
    """

    def __init__(self, votes: Votes, gold: SoftLabels | None = None, pseudo: float = 0.01, clip: float = 1e-3) -> None:
        self.votes, self.pseudo, self.clip, k = votes.require_workers("raykar"), pseudo, clip, votes.n_labels
        keyed = KeyedVotes.of(votes.start, votes.worker, votes.label, votes.weight, k)
        self.em = ConfusionEM(keyed, votes.n_workers, k)
        self.known: Ints = np.empty(0, np.int64)  # (n_known,) places of tasks whose label is known
        self.truth: Floats = np.empty((0, k))
        if gold is not None:
            self._set_known(gold)

    def _set_known(self, gold: SoftLabels) -> None:
        strange = positions(self.votes.labels, gold.labels) < 0
        if strange.any() and bool((gold.prob[:, strange] > 0).any()):
            raise InputError(
                f"known labels hold {first_few(gold.labels[strange])}, which no vote names; list all labels"
            )
        place = positions(self.votes.tasks, gold.tasks)
        self.known, mine = place[place >= 0], gold.on(gold.tasks[place >= 0])
        self.truth = np.asarray(mine.on_labels(self.votes.labels).prob)

    def identity(self) -> Floats:
        """(n_workers, true, said) matrices of workers who nearly always say what is so."""
        k = self.votes.n_labels
        start = np.eye(k) + self.pseudo
        return np.tile(start / start.sum(1, keepdims=True), (self.votes.n_workers, 1, 1))

    def clipped(self, prior: Floats) -> Floats:
        """Probabilities, none of them next to nothing."""
        held = np.clip(prior, self.clip, 1 - self.clip) if self.clip else prior
        return held / held.sum(1, keepdims=True)

    def e_step(self, prior: Floats, matrices: Floats) -> tuple[Floats, float]:
        """((n_tasks, n_labels) posterior given the classifier and the votes, log-likelihood of the votes)."""
        log_prior = np.log(np.maximum(self.clipped(prior), FLOOR))
        posterior, value = self.em.e_step(Params(log_prior, self.em.log_table(matrices, FLOOR)))
        posterior[self.known] = self.truth
        return posterior, value

    def m_step(self, posterior: Floats) -> Floats:
        """(n_workers, true, said) matrices: shares of the counts that a posterior expects, pseudo-counts added."""
        pseudo = np.full((self.votes.n_labels, self.votes.n_labels), self.pseudo)
        return self.em.matrices(self.em.m_step(self.em.expected_counts(posterior).confusion, pseudo))

    def fit(
        self,
        made_by: str,
        posterior: Floats,
        matrices: Floats,
        trace: tuple[float, ...] = (),
        converged: bool | None = None,
    ) -> Fit:
        """Posterior and matrices as a fit."""
        votes, prior = self.votes, posterior.mean(0)
        return Fit(
            SoftLabels.of(posterior, votes.tasks, votes.labels, support=votes.support),
            votes.workers,
            made_by,
            prior=prior,
            confusion=Confusion(matrices, votes.workers, votes.labels),
            ability=accuracy(matrices, prior),
            trace=trace,
            converged=converged,
        )


LEAST = 1e-4  # the classifier is not fitted to labels less likely than this


@dataclass(frozen=True, eq=False)
class RaykarFit:
    """A classifier fitted to votes, and the fit of tasks and workers that it and the votes give."""

    classifier: Any  # fitted; it knows labels by their places in `labels`
    fit: Fit
    labels: Names

    def predict(self, x: Any, tasks: Any = None) -> SoftLabels:
        """The classifier's probabilities for inputs nobody voted on; tasks without names are called 0, 1, 2, ..."""
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
    progress: Progress = no_progress,
) -> RaykarFit:
    """Fit a classifier, the labels and the workers' matrices together by EM, from inputs and votes.

    E-step: q_i(k) is proportional to p_i(k) * product over its votes of matrix_worker[k, said], p being the classifier's
    probabilities held above `clip`. M-step: the matrices are the counts that q expects plus `pseudo`, divided by their
    sums, and the classifier is fitted to every row of x with each label, weighing q. It begins with the posterior of a fit to
    `start` from, else with even p and workers who nearly always say what is so, and ends when no q moves by `tol` in the mean.
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
    steps = RaykarSteps(votes, gold, pseudo, clip)
    even = np.full((votes.n_tasks, votes.n_labels), 1 / votes.n_labels)
    posterior = steps.e_step(even, steps.identity())[0] if start is None else _earlier_posterior(steps, start)
    trace: list[float] = []
    converged = False
    for step in range(max_iter):
        matrices = steps.m_step(posterior)
        _fit_classifier(model, inputs, posterior)
        before, (posterior, value) = posterior, steps.e_step(_predict(model, inputs, votes.n_labels), matrices)
        trace.append(value)
        progress(step, max_iter, value)
        if converged := bool(np.abs(posterior - before).sum(1).mean() / 2 < tol):
            break
    word = f"raykar-em[{type(classifier).__name__}]"
    fit = steps.fit(word, posterior, steps.m_step(posterior), tuple(trace), converged)
    return RaykarFit(model, fit, votes.labels)


def _inputs(x: Any, votes: Votes) -> Any:
    inputs = x if hasattr(x, "shape") else np.asarray(x)
    if inputs.shape[0] != votes.n_tasks:
        raise InputError(f"there are {inputs.shape[0]} rows of x for {votes.n_tasks} tasks of the votes")
    return inputs


def _earlier_posterior(steps: RaykarSteps, start: Fit) -> Floats:
    """(n_tasks, n_labels) the posterior of an earlier fit, known labels as they are."""
    posterior = np.array(start.soft.on(steps.votes.tasks).on_labels(steps.votes.labels).prob, np.float64)
    posterior[steps.known] = steps.truth
    return posterior


def _fit_classifier(model: Any, x: Any, posterior: Floats) -> None:
    """Fit the classifier to a distribution: each task with every label it may have, weighing its probability."""
    used = posterior > LEAST
    used[posterior.argmax(0), np.arange(posterior.shape[1])] = True  # every label once, so that a warm start fits
    task, label = np.nonzero(used)
    weight = np.maximum(posterior[task, label], LEAST)
    last, prefix = model, ""
    while hasattr(last, "steps"):  # a pipeline hands weights to the step they are named after
        name, last = last.steps[-1]
        prefix += f"{name}__"
    if not callable(getattr(last, "predict_proba", None)):
        raise InputError(f"{type(last).__name__} gives no probabilities; take a classifier with predict_proba")
    if "sample_weight" not in inspect.signature(last.fit).parameters:
        raise InputError(
            f"{type(last).__name__} cannot weigh its examples; take a classifier with fit(..., sample_weight)"
        )
    model.fit(x[task], label, **{f"{prefix}sample_weight": weight})


def _predict(model: Any, x: Any, n_labels: int) -> Floats:
    """(n, n_labels) the classifier's probabilities; labels it never saw have 0."""
    said = np.asarray(model.predict_proba(x), np.float64)
    known = np.asarray(model.classes_)
    if said.shape[1] != len(known):
        raise InputError(f"the classifier gives {said.shape[1]} probabilities for the labels {first_few(known)}")
    whole = np.zeros((len(said), n_labels))
    whole[:, known] = said
    return whole
