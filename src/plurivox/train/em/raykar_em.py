"""EM of Raykar et al. around any scikit-learn classifier. Needs neither torch nor scikit-learn itself."""

import copy
import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, some
from plurivox.core.progress import Watch, quiet
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints, Names
from plurivox.core.votes import Votes

PSEUDO_HELP = "pseudo-count in every cell of a worker's matrix"
CLIP_HELP = "the classifier's probabilities are taken to be at least this"


class Believing:
    """E-step and M-step over votes, each a product with one sparse matrix [task, (worker, said)].

    Tasks whose label is known keep it.

    >>> votes = Votes.of(task=list("aab"), worker=[1, 2, 1], label=list("xyy"))
    >>> steps = Believing(votes)
    >>> steps.posterior(np.full((2, 2), .5), steps.identity())[0].round(3)
    array([[0.5 , 0.5 ],
           [0.01, 0.99]])
    """

    def __init__(self, votes: Votes, gold: SoftLabels | None = None, pseudo: float = 0.01, clip: float = 1e-3) -> None:
        if len(votes) and bool((votes.worker < 0).any()):
            raise InputError("raykar must know who voted; these votes hold counts without names")
        self.votes, self.pseudo, self.clip = votes, pseudo, clip
        k, key = votes.n_labels, votes.worker.astype(np.int64) * votes.n_labels + votes.label
        self.said = csr_array((votes.weights, (votes.task, key)), shape=(votes.n_tasks, votes.n_workers * k))
        self.known: Ints = np.empty(0, np.int64)  # (n_known,) places of tasks whose label is known
        self.truth: Floats = np.empty((0, k))
        if gold is not None:
            self._know(gold)

    def _know(self, gold: SoftLabels) -> None:
        strange = positions(self.votes.labels, gold.labels) < 0
        if strange.any() and bool((gold.prob[:, strange] > 0).any()):
            raise InputError(f"known labels hold {some(gold.labels[strange])}, which no vote names; list all labels")
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

    def posterior(self, prior: Floats, matrices: Floats) -> tuple[Floats, float]:
        """(n_tasks, n_labels) what is so by the classifier and the votes, and the log likelihood of the votes."""
        k = prior.shape[1]
        tiny = np.finfo(float).tiny
        log_said = np.log(np.maximum(matrices, tiny)).transpose(0, 2, 1).reshape(-1, k)  # [(worker, said), true]
        row = np.log(np.maximum(self.clipped(prior), tiny)) + self.said @ log_said
        best = row.max(1, keepdims=True)
        raised = np.exp(row - best)
        mass = raised.sum(1, keepdims=True)
        posterior = raised / mass
        posterior[self.known] = self.truth
        return posterior, float((best + np.log(mass)).sum())

    def matrices(self, posterior: Floats) -> Floats:
        """(n_workers, true, said) how each worker answers, by the counts that a posterior expects."""
        k = self.votes.n_labels
        counts = (self.said.T @ posterior).reshape(-1, k, k).transpose(0, 2, 1) + self.pseudo
        mass = counts.sum(2, keepdims=True)
        return np.divide(counts, mass, out=np.full_like(counts, 1 / k), where=mass > 0)

    def fit(
        self,
        word: str,
        posterior: Floats,
        matrices: Floats,
        trace: tuple[float, ...] = (),
        converged: bool | None = None,
    ) -> Fit:
        """The answer."""
        votes, prior = self.votes, posterior.mean(0)
        soft = SoftLabels.of(posterior, votes.tasks, votes.labels, support=votes.support)
        return Fit(
            soft,
            votes.workers,
            word,
            prior=prior,
            confusion=Confusion(matrices, votes.workers, votes.labels),
            ability=np.einsum("wkk,k->w", matrices, prior),
            trace=trace,
            converged=converged,
        )


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
