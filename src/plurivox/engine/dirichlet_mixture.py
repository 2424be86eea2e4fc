"""Mixture of Dirichlet distributions as the distribution of label shares over tasks: fit to vote counts, posterior means.

A task t draws a component c with probability pi_c, its label shares p_t from Dirichlet(alpha_c), and its votes from p_t.
The shares are integrated out, so the log-likelihood of the counts n_t is log sum_c pi_c DM(n_t | alpha_c), with
DM = Gamma(A) / Gamma(A + n) prod_k Gamma(alpha_k + n_k) / Gamma(alpha_k) and A = sum alpha, up to the multinomial coefficient.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array
from scipy.special import betainc, gammaln, psi

from plurivox.core.array_types import Floats, Ints
from plurivox.core.progress_callbacks import AtMost, Progress, no_progress

__all__ = [
    "BLOCK_CELLS",
    "FIT_CELLS",
    "FIT_TASKS",
    "MAX_MIXTURE_LABELS",
    "DirichletMixture",
    "MixtureFit",
    "evenly_spaced",
    "expected_absolute_errors",
    "fit_dirichlet_mixture",
    "start_mixture",
    "tasks_that_teach",
]

MAX_MIXTURE_LABELS = 64  # with more labels, callers use a single Dirichlet distribution
FIT_TASKS, FIT_CELLS = 20_000, 1_000_000  # at most so many tasks, and tasks x components, teach a mixture

PRIOR_SHAPE, PRIOR_RATE = 0.3, 0.1  # Gamma(1 + shape, rate) prior of every alpha: mode 3, as weak as a third of a task
LOWEST, HIGHEST = 1e-4, 1e4  # range of alpha
TINY = 1e-12
BLOCK_CELLS = 2**19  # tasks x (components + labels) in memory at once
NEGLIGIBLE = 1e-4  # components with a smaller posterior probability are left out of expected errors


@dataclass(frozen=True, eq=False)
class DirichletMixture:
    """A mixture of Dirichlet distributions over labels.

    >>> even = DirichletMixture(np.ones((1, 2)), np.ones(1))
    >>> even.posterior_means(np.array([[2.0, 0.0]]))
    array([[0.75, 0.25]])
    """

    alpha: Floats  # (n_components, n_labels)
    weight: Floats  # (n_components,) sum 1

    def posterior_means(self, counts: Floats) -> Floats:
        """(n_tasks, n_labels) the mean of each task's label shares, given its vote counts (n_tasks, n_labels)."""
        out = np.empty(counts.shape)
        size = max(1, BLOCK_CELLS // (self.alpha.shape[0] + self.alpha.shape[1]))
        for first in range(0, len(counts), size):
            block = counts[first : first + size]
            scaled = self.responsibilities(block) / (block.sum(1)[:, None] + self.alpha.sum(1))
            out[first : first + size] = block * scaled.sum(1)[:, None] + scaled @ self.alpha
        return out / out.sum(1, keepdims=True)

    def posterior_concentrations(self, counts: Floats) -> Floats:
        """(n_tasks,) how certain each task's label shares are, given its vote counts (n_tasks, n_labels): the concentration of
        the Dirichlet distribution that has the same mean m and variance m (1 - m) / (concentration + 1) of the top label.

        >>> DirichletMixture(np.ones((1, 2)), np.ones(1)).posterior_concentrations(np.array([[2.0, 0.0]]))
        array([4.])
        """
        out, whole = np.empty(len(counts)), self.alpha.sum(1)
        size = max(1, BLOCK_CELLS // (self.alpha.shape[0] + self.alpha.shape[1]))
        for first in range(0, len(counts), size):
            block = counts[first : first + size]
            means = self.posterior_means(block)
            top, mean = means.argmax(1), means.max(1)
            a = block[np.arange(len(block)), top][:, None] + self.alpha.T[top]  # (n_tasks, n_components)
            total = block.sum(1)[:, None] + whole
            of_square = (self.responsibilities(block) * a * (a + 1) / (total * (total + 1))).sum(1)
            variance = np.maximum(of_square - mean**2, TINY)
            out[first : first + size] = np.clip(mean * (1 - mean) / variance - 1, LOWEST, None)
        return out

    def responsibilities(self, counts: Floats) -> Floats:
        """(n_tasks, n_components) the posterior probability of each component, given the vote counts of each task."""
        joint = _Counts(counts).log_likelihoods(self.alpha) + np.log(self.weight)
        return _normalised_exp(joint)[0]


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """A fitted mixture of Dirichlet distributions, with the objective after each pass of EM."""

    mixture: DirichletMixture
    trace: tuple[float, ...]
    converged: bool


@dataclass(eq=False)
class _Counts:
    """Vote counts, prepared so that log Gamma and digamma are computed once per label and distinct count."""

    counts: Floats  # (n_tasks, n_labels)
    label: Ints = field(init=False)  # (n_cells,) label of each distinct pair of label and positive count
    value: Floats = field(init=False)  # (n_cells,) its count
    cell_of_task: csr_array = field(init=False)  # (n_tasks, n_cells) 1 where the task has that count of that label
    total: Floats = field(init=False)  # (n_totals,) each distinct number of votes
    total_code: Ints = field(init=False)  # (n_tasks,) index into `total`

    def __post_init__(self) -> None:
        task, label = np.nonzero(self.counts)
        value, value_code = np.unique(self.counts[task, label], return_inverse=True)
        code, cell = np.unique(label * max(len(value), 1) + value_code, return_inverse=True)
        self.label, self.value = code // max(len(value), 1), value[code % max(len(value), 1)]
        self.cell_of_task = csr_array(
            (np.ones(len(task)), (task, cell)), shape=(len(self.counts), len(code)), dtype=np.float64
        )
        self.total, self.total_code = np.unique(self.counts.sum(1), return_inverse=True)

    def log_likelihoods(self, alpha: Floats) -> Floats:
        """(n_tasks, n_components) the Dirichlet-multinomial log-likelihood of each task, without multinomial coefficient."""
        own = alpha.T[self.label]
        found: Floats = self.cell_of_task @ (gammaln(own + self.value[:, None]) - gammaln(own))
        whole = alpha.sum(1)
        return found - (gammaln(self.total[:, None] + whole) - gammaln(whole))[self.total_code]

    def updated_alpha(self, alpha: Floats, responsibility: Floats) -> Floats:
        """Return alpha after a fixed-point step (Minka 2000) with weights of tasks per component; it raises the posterior."""
        own, whole = alpha.T[self.label], alpha.sum(1)
        per_cell = (self.cell_of_task.T @ responsibility) * (psi(own + self.value[:, None]) - psi(own))
        up = np.zeros((alpha.shape[1], len(alpha)))
        np.add.at(up, self.label, per_cell)
        per_total = np.zeros((len(self.total), len(alpha)))
        np.add.at(per_total, self.total_code, responsibility)
        down = (per_total * (psi(self.total[:, None] + whole) - psi(whole))).sum(0)
        new: Floats = np.clip((alpha * up.T + PRIOR_SHAPE) / (down + PRIOR_RATE)[:, None], LOWEST, HIGHEST)
        return new


def fit_dirichlet_mixture(
    counts: Floats,
    start: DirichletMixture,
    *,
    max_iter: int = 500,
    tol: float = 1e-5,
    progress: Progress = no_progress,
) -> MixtureFit:
    """Fit a mixture of Dirichlet distributions to vote counts (n_tasks, n_labels) by EM, and return it with its trace.

    The objective is the log marginal likelihood plus a weak Gamma prior of every alpha, and of one task per component.
    Stop when a pass improves it by less than `tol` per task.

    Minka (2000), Estimating a Dirichlet distribution, section 3.
    """
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    cells, alpha, weight = _Counts(patterns), start.alpha, start.weight
    trace: list[float] = []
    for step in range(max_iter):
        responsibility, log_sum = _normalised_exp(cells.log_likelihoods(alpha) + np.log(weight))
        prior = (PRIOR_SHAPE * np.log(alpha) - PRIOR_RATE * alpha).sum() + np.log(weight).sum() / len(weight)
        trace.append(float(times @ log_sum + prior))
        progress(step, AtMost(max_iter), trace[-1])
        if step and trace[-1] - trace[-2] < tol * len(counts):
            return MixtureFit(DirichletMixture(alpha, weight), tuple(trace), converged=True)
        responsibility *= times[:, None]
        alpha = cells.updated_alpha(alpha, responsibility)
        weight = responsibility.sum(0) + 1 / len(weight)
        weight = weight / weight.sum()
    return MixtureFit(DirichletMixture(alpha, weight), tuple(trace), converged=False)


def start_mixture(label_shares: Floats) -> DirichletMixture:
    """Return the mixture from which EM starts: per label two components with most of their mass on it, and a flat one.

    One of the two is concentrated (tasks on which people agree), one spread (tasks with a rival label). Their other mass, and
    the flat component, follow the shares of the labels in the crowd, half way to uniform.
    """
    n = len(label_shares)
    near_even = (label_shares + 1 / n) / 2
    peaks = [concentration * (top * np.eye(n) + (1 - top) * near_even) for concentration, top in ((20, 0.95), (3, 0.7))]
    weight = np.concatenate([near_even, near_even, [0.2]])
    return DirichletMixture(np.concatenate([*peaks, n * near_even[None]]), weight / weight.sum())


def evenly_spaced(places: Ints, most: int) -> Ints:
    """Return at most `most` of the places, evenly spaced.

    >>> evenly_spaced(np.arange(10), 4)
    array([0, 2, 5, 7])
    """
    return places if len(places) <= most else places[np.arange(most) * len(places) // most]


def tasks_that_teach(tasks: Ints, mixture: DirichletMixture) -> Ints:
    """Return those of the tasks to fit a mixture of this size to: all, or evenly spaced ones if there are many."""
    return evenly_spaced(tasks, min(FIT_TASKS, FIT_CELLS // len(mixture.weight)))


def expected_absolute_errors(mixture: DirichletMixture, counts: Floats, predicted: Floats) -> Floats:
    """(n_tasks,) the expected Manhattan distance of `predicted` (n_tasks, n_labels) to the label shares, given the counts.

    Given a component, the share of a label has the distribution Beta(a, b), a = n_k + alpha_k, b = n + A - a, and
    E|x - q| = q (2 I_q(a, b) - 1) + a / (a + b) (1 - 2 I_q(a + 1, b)), with the regularised incomplete beta function I.

    >>> even = DirichletMixture(np.ones((1, 2)), np.ones(1))
    >>> expected_absolute_errors(even, np.zeros((1, 2)), np.array([[0.5, 0.5]]))  # E|x - 1/2| = 1/4 for uniform x, twice
    array([0.5])
    """
    responsibility = mixture.responsibilities(counts)
    total = counts.sum(1)
    out = np.zeros(len(counts))
    for component, alpha in enumerate(mixture.alpha):
        task = np.flatnonzero(responsibility[:, component] > NEGLIGIBLE)
        a, q = counts[task] + alpha, predicted[task]
        b = (total[task] + alpha.sum())[:, None] - a
        b = np.maximum(b, LOWEST)
        error = q * (2 * betainc(a, b, q) - 1) + a / (a + b) * (1 - 2 * betainc(a + 1, b, q))
        out[task] += responsibility[task, component] * error.sum(1)
    return out


def _normalised_exp(log_values: Floats) -> tuple[Floats, Floats]:
    """Return exp of each row divided by its sum, and the log of that sum."""
    top = log_values.max(1, keepdims=True)
    values = np.exp(log_values - top)
    total = values.sum(1, keepdims=True)
    return values / total, (np.log(total) + top)[:, 0]
