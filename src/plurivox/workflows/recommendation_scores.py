"""Scores of candidate methods on simulated crowds and on gold labels, for each question that `recommend` answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plurivox import evaluate
from plurivox.aggregate import DEFAULT_METHODS, DEFAULT_TRAINING_LABELS
from plurivox.core.array_types import Floats, Ints
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import NLL_CLIP
from plurivox.workflows.hidden_vote_evidence import UNIFORM_SHARE
from plurivox.workflows.simulate_crowds_like import DrawnTasks
from plurivox.workflows.training_target_proxy import TrainingTargetProxy

CONFUSION_METHODS = (
    "average",
    "vote-shares",
    "wawa",
    "one-coin",
    "dawid-skene",
    "dawid-skene[pool=4]",
    "mace",
    "ibcc",
    "temperature",
)
SHARE_METHODS = (
    "vote-shares",
    "dirichlet-shares",
    "dirichlet-shares[prior=crowd]",
    "dirichlet-shares[added=0.3,prior=crowd]",
    "softmax-shares",
)


@dataclass(frozen=True)
class Question:
    """A question that `recommend` answers: which methods are tried, which measures are shown, and which one decides."""

    name: str
    default: str  # a method
    methods: tuple[str, ...]
    measures: tuple[str, ...]
    decided_by: str  # one of the measures, lower is better
    margin: float  # another method has to be better than the default by this
    noise: float  # methods within this of the best cannot be told apart from it

    @property
    def decided_at(self) -> int:
        """The place of the measure that decides."""
        return self.measures.index(self.decided_by)


def question_called(name: str) -> Question:
    """Return the question truth, people or training, with the default of today."""
    truth, people = DEFAULT_METHODS["truth"], DEFAULT_METHODS["people"]
    if name == "people":
        return Question(
            "people",
            people,
            SHARE_METHODS,
            ("cross-entropy", "manhattan", "jsd"),
            "cross-entropy",
            margin=0.005,
            noise=0.01,
        )
    if name == "truth":
        return Question(
            name, truth, CONFUSION_METHODS, ("accuracy", "nll", "brier", "ece"), "brier", margin=0.01, noise=0.01
        )
    default, methods = DEFAULT_TRAINING_LABELS["truth"], (*CONFUSION_METHODS, truth, "dirichlet-shares")
    return Question(name, default, methods, ("accuracy", "nll", "brier"), "brier", margin=0.01, noise=0.01)


def scores_against_truth(prob: Floats, truth: Ints) -> Floats:
    """Return (n_tasks, 3) accuracy (ties share it), NLL and Brier score of each task; truth -1 has no column."""
    rows, known = np.arange(len(truth)), truth >= 0
    own = np.where(known, prob[rows, np.maximum(truth, 0)], 0.0)
    top = prob >= prob.max(1, keepdims=True) - 1e-9
    right = np.where(known & top[rows, np.maximum(truth, 0)], 1 / top.sum(1), 0.0)
    brier = (prob**2).sum(1) - 2 * own + 1
    return np.stack([right, -np.log(np.maximum(own, NLL_CLIP)), brier], 1)


def scores_against_shares(prob: Floats, shares: Floats) -> Floats:
    """Return (n_tasks, 3) cross-entropy (with one percent of the uniform), Manhattan distance and JSD in nats."""
    mixed = (1 - UNIFORM_SHARE) * prob + UNIFORM_SHARE / prob.shape[1]
    middle = (prob + shares) / 2
    jsd = (_kl(prob, middle) + _kl(shares, middle)) / 2
    return np.stack([-(shares * np.log(mixed)).sum(1), np.abs(prob - shares).sum(1), jsd], 1)


def _kl(p: Floats, q: Floats) -> Floats:
    return np.asarray((p * np.log(np.where(p > 0, p, 1) / np.maximum(q, 1e-300))).sum(1))


def scores_on_simulated_crowd(
    question: Question, fits: Sequence[Fit | None], drawn: DrawnTasks, seed: Sequence[int]
) -> Floats:
    """Return (n_fits, n_measures) the measures of fits of one simulated crowd; NaN without a fit."""
    found = np.full((len(fits), len(question.measures)), np.nan)
    n_labels = drawn.shares.shape[1]
    rng = np.random.default_rng(seed)
    proxy = TrainingTargetProxy(drawn.truth, n_labels, drawn.easiness, rng) if question.name == "training" else None
    for i, fit in enumerate(fits):
        if fit is not None and proxy is not None:
            found[i] = scores_against_truth(proxy.probabilities_after_training(fit.soft.prob), proxy.test_truth).mean(0)
        elif fit is not None and question.name == "people":
            found[i] = scores_against_shares(fit.soft.prob, drawn.shares).mean(0)
        elif fit is not None:
            truth = SoftLabels.one_hot(drawn.truth, fit.soft.tasks, fit.soft.labels)
            found[i, :3] = scores_against_truth(fit.soft.prob, drawn.truth).mean(0)
            found[i, 3] = evaluate.ece(fit.soft, truth, ties="share")
    return found


def scores_per_task(question: Question, fit: Fit, drawn: DrawnTasks) -> Floats:
    """Return (n_tasks, 3) the scores of each task that another vote may improve; for training, those of the labels."""
    if question.name == "people":
        return scores_against_shares(fit.soft.prob, drawn.shares)
    return scores_against_truth(fit.soft.prob, drawn.truth)


def scores_on_gold(fit: Fit, votes: Votes, gold: SoftLabels) -> Floats:
    """Return (n_gold, 3) accuracy, NLL and Brier score of a fit on each gold task."""
    place = positions(fit.soft.tasks, gold.tasks)
    return scores_against_truth(fit.soft.prob[place], positions(votes.labels, as_names(gold.hard())))
