"""Simulate crowds whose answer shares are known: worlds in which every task has its own distribution of answers.

The worlds differ in how the distributions of the tasks are spread; their parameters are fitted to the votes.
"""

from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.core.votes import Votes
from plurivox.workflows.simulate_crowds_like import DrawnTasks, World

CONCENTRATIONS = np.geomspace(0.05, 200, 25)  # sums of Dirichlet parameters that are tried
MIXTURE_PASSES = 6
MAX_TYPES = 20  # of tasks; with more labels those with most votes have a type each
MIN_SHARE = 1e-4  # least mean share of a label in a Dirichlet distribution


@dataclass(frozen=True)
class DirichletMixture:
    """A mixture of Dirichlet distributions of answer shares: each task belongs to one type."""

    weight: Floats  # (n_types,)
    mean: Floats  # (n_types, n_labels)
    concentration: Floats  # (n_types,)


def shares_worlds(votes: Votes) -> list[World]:
    """Return worlds in which the answer shares of every task are known and all people are alike.

    `one kind of task`: shares follow one Dirichlet distribution. `types of tasks`: a mixture of as many Dirichlet distributions
    as there are labels (at most 20), by EM. `tasks as voted`: the shares of each task follow their posterior, given its votes
    and the first model. Concentrations are the most likely ones. The Dirichlet-multinomial distribution of vote counts:
    Minka (2000), Estimating a Dirichlet distribution, https://tminka.github.io/papers/dirichlet/
    """
    counts = votes.counts()
    counts = counts[counts.sum(1) > 0]
    one = fit_dirichlet_mixture(counts, 1)
    many = fit_dirichlet_mixture(counts, min(votes.n_labels, MAX_TYPES))
    prior = one.concentration[0] * one.mean[0]
    return [
        World("one kind of task", "all tasks are alike", lambda rng: _draw_from_mixture(one, votes.n_tasks, rng)),
        World("types of tasks", "tasks are of several types", lambda rng: _draw_from_mixture(many, votes.n_tasks, rng)),
        World("tasks as voted", "each task is as its votes suggest", lambda rng: _draw(votes.counts() + prior, rng)),
    ]


def fit_dirichlet_mixture(counts: Floats, n_types: int) -> DirichletMixture:
    """Fit a mixture of Dirichlet-multinomial distributions to (n_tasks, n_labels) vote counts, from the top label of each task.

    If there are more labels than types, the types are those of the labels with most votes; the last one has all others.
    """
    rows, times = np.unique(counts, axis=0, return_counts=True)
    rank = np.argsort(np.argsort(-counts.sum(0), kind="stable"), kind="stable")
    kind = rank[rows.argmax(1)] if counts.shape[1] > n_types else rows.argmax(1)
    member = np.eye(n_types)[np.minimum(kind, n_types - 1)] if n_types > 1 else np.ones((len(rows), 1))
    model = _m_step(rows, member * times[:, None])
    for _ in range(MIXTURE_PASSES if n_types > 1 else 0):
        log = np.log(np.maximum(model.weight, 1e-300)) + np.stack(
            [_log_likelihood(rows, c * m) for m, c in zip(model.mean, model.concentration, strict=True)], 1
        )
        member = np.exp(log - log.max(1, keepdims=True))
        model = _m_step(rows, member / member.sum(1, keepdims=True) * times[:, None])
    return model


def _m_step(rows: Floats, weight: Floats) -> DirichletMixture:
    """Return the mixture given how many tasks with these counts belong to each type, `weight` (n_rows, n_types)."""
    share = rows / rows.sum(1, keepdims=True)
    mean = weight.T @ share + MIN_SHARE
    mean = np.maximum(mean / mean.sum(1, keepdims=True), MIN_SHARE)
    mean /= mean.sum(1, keepdims=True)
    likelihood = np.array(
        [[float(w @ _log_likelihood(rows, c * m)) for c in CONCENTRATIONS] for m, w in zip(mean, weight.T, strict=True)]
    )
    return DirichletMixture(weight.sum(0) / weight.sum(), mean, CONCENTRATIONS[likelihood.argmax(1)])


def _log_likelihood(counts: Floats, alpha: Floats) -> Floats:
    """(n,) the log-likelihood of vote counts (n, n_labels) under a Dirichlet-multinomial, up to the coefficient."""
    from scipy.special import gammaln  # imported here because it is slow

    n, total = counts.sum(1), alpha.sum()
    return np.asarray(gammaln(total) - gammaln(n + total) + (gammaln(counts + alpha) - gammaln(alpha)).sum(1))


def _draw_from_mixture(model: DirichletMixture, n_tasks: int, rng: np.random.Generator) -> DrawnTasks:
    kind = rng.choice(len(model.weight), n_tasks, p=model.weight)
    return _draw((model.concentration[:, None] * model.mean)[kind], rng)


def _draw(alpha: Floats, rng: np.random.Generator) -> DrawnTasks:
    """Return tasks whose shares are drawn from Dirichlet distributions with the parameters `alpha` (n_tasks, n_labels)."""
    shares = rng.standard_gamma(alpha) + 1e-12
    shares /= shares.sum(1, keepdims=True)

    def label_probabilities(task: Ints, worker: Ints) -> Floats:
        del worker
        return np.asarray(shares[task])

    return DrawnTasks(shares.argmax(1), shares, label_probabilities)
