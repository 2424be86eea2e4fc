"""95% intervals of worker accuracies from votes: Gibbs sampling of a hierarchical Dawid-Skene model, with unknown labels."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from plurivox.core.array_types import Bools, Floats
from plurivox.engine.confusion_em import ConfusionEM, KeyedVotes
from plurivox.engine.kernels.hierarchical_dawid_skene_gibbs import (
    draw_labels_adding_counts,
    draw_workers_adding_auxiliary_counts,
    fill_logs,
)
from plurivox.engine.parallel_task_blocks import parallel_map
from plurivox.engine.second_compiler import KernelCall

MAX_CELLS = 2**22  # entries of all confusion matrices; no intervals for larger crowds
N_CHAINS = 4
MIN_DRAWS, MAX_DRAWS = 50, 125  # draws kept per chain
WORK = 4e9  # draws kept of all chains: WORK / operations per draw, within these bounds
ERROR_COUNT = 3.0  # pseudo-count per wrong label, in the prior of the distribution of errors
CROWD_COUNT = 10.0  # pseudo-votes per row, in the prior of the crowd's mean matrix
STRENGTH_PER_LABEL = 3.0  # prior median of the strength, divided by the number of labels
MIN_STRENGTH, MAX_STRENGTH = 0.3, 1e4
TINY = 1e-200


def interval_kernel_calls(votes: KeyedVotes) -> list[KernelCall]:
    """Return the kernels of `worker_accuracy_intervals_95` for votes of these types, with example arguments."""
    vector, matrix, matrices, rng = np.empty(0), np.empty((0, 0)), np.empty((0, 0, 0)), np.random.default_rng(0)
    of_workers = (matrices, 1.0, 1.0, matrix, matrix, (1.0, 1.0), rng, vector, matrices, matrix, matrix)
    return [
        (draw_workers_adding_auxiliary_counts, of_workers),
        (fill_logs, (vector, vector)),
        (draw_labels_adding_counts, (*votes[:3], vector, vector, rng, vector, vector)),
    ]


def worker_accuracy_intervals_95(
    em: ConfusionEM, posterior: Floats, fixed_prior: Floats | None, seed: int = 0
) -> tuple[Floats, Floats]:
    """(low, high), each (n_workers,): 95% credible interval of each worker's accuracy on a task drawn from the label prior.

    The true labels, the label prior and the crowd are unknown and sampled together with the accuracies (Gibbs sampling), so
    that few votes per task give wide intervals. Several chains start from labels drawn from `posterior` (n_open_tasks,
    n_labels); the ends are quantiles of the accuracies drawn by all of them: for n independent draws, the interval from the
    i-th smallest to the j-th smallest contains one more draw with the probability (j - i) / (n + 1).

    Row k of worker w's matrix has the prior Dirichlet(s ((1 - r) own_wk + r crowd_k)): own_wk has the worker's accuracy a_w on
    the diagonal and errors distributed as those of all workers, crowd_k is the mean row of all workers; a_w ~ Beta(m v,
    (1 - m) v). The strength s, the share r, m and v are learnt too. m and the mean of crowd_kk are above 1 / n_labels, with
    a density that increases from 0 there: votes cannot tell a crowd from one that errs as often with permuted labels. The prior
    of log v is proportional to (1 + v)^(-3/2): of four exponents, the one with the best coverage on four simulated designs.

    Hierarchical Dawid-Skene: Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040; the auxiliary counts that make the
    learning of s, r and a_w conjugate: Teh, Jordan, Beal & Blei (2006), https://doi.org/10.1198/016214506000000302
    """
    operations = 10.0 * len(em.votes.key) * em.n_labels + 100 * em.n_cells + 3e5
    n_draws = int(np.clip(WORK / operations / N_CHAINS, MIN_DRAWS, MAX_DRAWS))

    draws = np.empty((N_CHAINS, n_draws, em.n_workers), np.float32)

    def run_chain(number: int) -> None:
        chain = _Chain(em, posterior, fixed_prior, np.random.default_rng([seed, number]))
        for _ in range(n_draws // 2):
            chain.draw_all_unknowns()
        for i in range(n_draws):
            draws[number, i] = chain.draw_all_unknowns()

    parallel_map(run_chain, N_CHAINS)
    low, high = np.quantile(
        draws.reshape(-1, em.n_workers), (0.025, 0.975), axis=0, method="weibull", overwrite_input=True
    )
    return low.astype(np.float64), high.astype(np.float64)


@dataclass
class Hyper:
    """What the workers of a crowd have in common; see `worker_accuracy_intervals_95`."""

    mean: float  # m, of the accuracies
    size: float  # v: the accuracies have the variance m (1 - m) / (v + 1)
    strength: float  # s
    share: float  # r
    errors: Floats  # (true, said) distribution of wrong labels; 0 on the diagonal
    crowd: Floats  # (true, said) mean matrix

    @classmethod
    def draw_from_prior(cls, n_labels: int, rng: np.random.Generator) -> Self:
        """Draw what the workers of a crowd have in common from the prior of the model."""
        mean, size = GridOfMeanAndSize(1, n_labels).draw_from_prior(rng)
        rate = rng.gamma(1) / (STRENGTH_PER_LABEL * n_labels)
        strength = float(np.clip(rng.exponential() / rate, MIN_STRENGTH, MAX_STRENGTH))
        eye = np.eye(n_labels, dtype=bool)
        errors = draw_rows(np.where(eye, 0, ERROR_COUNT), rng)
        crowd = draw_rows(CROWD_COUNT * np.where(eye, mean, (1 - mean) / (n_labels - 1)), rng)
        return cls(mean, size, strength, rng.random(), errors, crowd)

    def draw_matrices(self, n_workers: int, rng: np.random.Generator) -> Floats:
        """Draw the (n_workers, true, said) matrices of workers of this crowd."""
        accuracy = rng.beta(self.mean * self.size, (1 - self.mean) * self.size, n_workers)[:, None, None]
        own = np.where(np.eye(len(self.crowd), dtype=bool), accuracy, (1 - accuracy) * self.errors)
        drawn = np.maximum(rng.standard_gamma(self.strength * ((1 - self.share) * own + self.share * self.crowd)), TINY)
        return np.asarray(drawn / drawn.sum(2, keepdims=True))


class GridOfMeanAndSize:
    """Values of (m, v), and the log-density of accuracies and of the crowd's matrix at each of them."""

    def __init__(self, n_workers: int, n_labels: int) -> None:
        from scipy.special import betaln, gammaln  # imported here because it is slow, and few commands read intervals

        mean, size = np.linspace(1 / n_labels, 1, 42)[1:-1, None], np.geomspace(1, 300, 24)
        self.prior = (mean - 1 / n_labels) * (1 + size) ** -1.5
        self.right, self.wrong = mean * size, (1 - mean) * size
        self.mean, self.size = (column.ravel() for column in np.broadcast_arrays(mean, size))
        self.crowd_right, self.crowd_wrong = CROWD_COUNT * mean, CROWD_COUNT * (1 - mean) / (n_labels - 1)
        of_crowd = -gammaln(self.crowd_right) - (n_labels - 1) * gammaln(self.crowd_wrong)
        self.log_density = np.log(self.prior) - n_workers * betaln(self.right, self.wrong) + n_labels * of_crowd

    def draw_from_prior(self, rng: np.random.Generator) -> tuple[float, float]:
        """Draw (m, v) from their prior."""
        return self._draw_place(self.prior, rng)

    def draw(self, accuracy: Floats, crowd: Floats, rng: np.random.Generator) -> tuple[float, float]:
        """Draw (m, v), given the workers' accuracies and the crowd's mean matrix (true, said)."""
        log_crowd = np.log(np.maximum(crowd, TINY))
        right = np.trace(log_crowd)
        log_p = self.log_density + self.right * np.log(accuracy).sum() + self.wrong * np.log1p(-accuracy).sum()
        log_p = log_p + self.crowd_right * right + self.crowd_wrong * (log_crowd.sum() - right)
        return self._draw_place(np.exp(log_p - log_p.max()), rng)

    def _draw_place(self, weight: Floats, rng: np.random.Generator) -> tuple[float, float]:
        """Draw (m, v) with probabilities proportional to `weight` (n_means, n_sizes)."""
        bound = weight.ravel().cumsum()
        place = min(int(np.searchsorted(bound, rng.random() * bound[-1])), len(bound) - 1)
        return float(self.mean[place]), float(self.size[place])


class _Chain:
    """State of the Gibbs sampler: counts of the votes given labels, each worker's accuracy and what the workers share."""

    def __init__(
        self, em: ConfusionEM, posterior: Floats, fixed_prior: Floats | None, rng: np.random.Generator
    ) -> None:
        self.em, self.fixed, self.rng, k = em, fixed_prior, rng, em.n_labels
        self.eye: Bools = np.eye(k, dtype=bool)
        self.accuracy, self.matrices = np.full(em.n_workers, 0.7), np.empty((em.n_workers, k, k))
        self.log_confusion = np.empty(em.n_cells)
        errors = np.where(self.eye, 0, 1 / (k - 1))
        self.hyper = Hyper(0.7, 5.0, 5.0 * k, 0.3, errors, np.where(self.eye, 0.7, 0.3 * errors))
        self.grid = GridOfMeanAndSize(em.n_workers, k)
        bounds = posterior.cumsum(1)
        label = np.minimum((bounds < rng.random((len(posterior), 1)) * bounds[:, -1:]).sum(1), k - 1)
        cell = em.votes.key.astype(np.int64) * k + np.repeat(label, np.diff(em.votes.start))
        self.n_true = np.bincount(label, minlength=k).astype(np.float64)
        self.counts = np.bincount(cell, em.votes.weight, em.n_cells).astype(np.float64)
        self._add_known_tasks()

    def draw_all_unknowns(self) -> Floats:
        """Draw all unknowns once; return the (n_workers,) accuracies on a task drawn from the label prior."""
        prior = self.rng.dirichlet(self.n_true + 1) if self.fixed is None else self.fixed
        self._draw_workers_and_crowd()
        accuracy = np.einsum("wkk,k->w", self.matrices, prior)
        fill_logs(self.matrices.ravel(), self.log_confusion)
        self.n_true, self.counts = np.zeros(self.em.n_labels), np.zeros(self.em.n_cells)
        log_prior = np.log(np.maximum(prior, TINY))
        draw_labels_adding_counts(*self.em.votes[:3], log_prior, self.log_confusion, self.rng, self.n_true, self.counts)
        self._add_known_tasks()
        return np.asarray(accuracy)

    def _add_known_tasks(self) -> None:
        """Add the tasks with gold labels, and their votes, to the counts."""
        if self.em.known is not None:
            self.n_true += self.em.known.n_true
            self.counts += self.em.known.confusion[: self.em.n_cells]

    def _draw_workers_and_crowd(self) -> None:
        """Draw hyperparameters, then accuracies and matrices, given the counts of the votes.

        The hyperparameters are drawn with the matrices integrated out, so the matrices have to be drawn again after them.
        """
        rng, hyper, k = self.rng, self.hyper, self.em.n_labels
        own, of_crowd, sum_log_eta, n_flags = self._draw_workers()
        n_own, n_crowd = own.sum(), of_crowd.sum()
        rate = rng.gamma(2) / (hyper.strength + STRENGTH_PER_LABEL * k)  # exponential mixed over rates: a heavy tail
        strength = rng.gamma(max(1 + n_own + n_crowd - n_flags, 1e-3)) / (rate - sum_log_eta)
        hyper.strength = float(np.clip(strength, MIN_STRENGTH, MAX_STRENGTH))
        hyper.share = float(rng.beta(1 + n_crowd, 1 + n_own))
        hyper.errors = draw_rows(np.where(self.eye, 0, own + ERROR_COUNT), rng)
        typical = np.where(self.eye, hyper.mean, (1 - hyper.mean) / (k - 1))
        hyper.crowd = draw_rows(of_crowd + CROWD_COUNT * typical, rng)
        hyper.mean, hyper.size = self.grid.draw(self.accuracy, hyper.crowd, rng)
        self._draw_workers()

    def _draw_workers(self) -> tuple[Floats, Floats, float, float]:
        """Draw accuracies and matrices given the hyperparameters, and return the auxiliary counts that these are drawn from.

        They are counts of errors per label of workers' own kind and of the crowd's kind (n_labels, n_labels), the sum of the
        logarithms of the auxiliary Beta variables, and a number of flags; see `draw_workers_adding_auxiliary_counts`.
        """
        hyper, k = self.hyper, self.em.n_labels
        own, of_crowd = np.zeros((k, k)), np.zeros((k, k))
        sum_log_eta, n_flags = draw_workers_adding_auxiliary_counts(
            self.em.worker_said_true_view(self.counts),
            hyper.strength,
            hyper.share,
            hyper.errors,
            hyper.crowd,
            (hyper.mean * hyper.size, (1 - hyper.mean) * hyper.size),
            self.rng,
            self.accuracy,
            self.matrices,
            own,
            of_crowd,
        )
        return own, of_crowd, sum_log_eta, n_flags


def draw_rows(pseudo: Floats, rng: np.random.Generator) -> Floats:
    """Draw each row from the Dirichlet distribution with these pseudo-counts; a row of zeros stays zero."""
    drawn = rng.standard_gamma(pseudo)
    return np.asarray(drawn / np.maximum(drawn.sum(1, keepdims=True), TINY))
