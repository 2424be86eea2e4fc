"""95% intervals of worker accuracies from votes: Gibbs sampling of a hierarchical Dawid-Skene model, with unknown labels."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, digamma

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.engine.beta_intervals import beta_interval_95_from_moments
from plurivox.engine.confusion_em import ConfusionEM, Params

MAX_CELLS = 2**22  # entries of all confusion matrices; no intervals for larger crowds
MIN_DRAWS, MAX_DRAWS, WORK = 12, 300, 3e8  # draws kept: WORK / operations per draw, within these bounds
# factors of the variances due to votes and to unknown labels, chosen on simulated crowds: short chains underestimate them
WIDEN, WIDEN_UNKNOWN = 1.15, 1.8
WRONG_LABEL_COUNT = 3.0  # pseudo-count per wrong label, in the prior of the distribution of errors
CROWD_COUNT = 10.0  # pseudo-votes per row, in the prior of the crowd's mean matrix
TINY = 1e-9


def worker_accuracy_intervals_95(
    em: ConfusionEM, posterior: Floats, fixed_prior: Floats | None, seed: int = 0
) -> tuple[Floats, Floats]:
    """(low, high), each (n_workers,): 95% credible interval of each worker's accuracy on a task drawn from the label prior.

    The true labels, the label prior and the crowd are unknown and sampled together with the accuracies (Gibbs sampling, from
    the start `posterior` (n_open_tasks, n_labels)), so that few votes per task give wide intervals. Row k of worker w's matrix
    has the prior Dirichlet(s ((1 - r) own_wk + r crowd_k)): own_wk has the worker's accuracy a_w on the diagonal and errors
    distributed as those of all workers, crowd_k is the mean row of all workers; a_w ~ Beta(m v, (1 - m) v), with m above
    1 / n_labels. The strength s, the share r, m and v are learnt too: intervals of workers drawn from such a crowd cover 95% on
    average over workers. The interval is that of the Beta distribution with the mean and variance of the sampled posteriors.

    Hierarchical Dawid-Skene: Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040; the auxiliary counts that make the
    learning of s, r and a_w conjugate: Teh, Jordan, Beal & Blei (2006), https://doi.org/10.1198/016214506000000302
    """
    rng = np.random.default_rng(seed)
    chain = _Chain(em, posterior, fixed_prior, rng)
    work = len(em.votes.key) * em.n_labels + 30 * em.n_cells + 3e4
    n_draws = int(np.clip(WORK / work, MIN_DRAWS, MAX_DRAWS))
    for _ in range(n_draws // 3):
        chain.draw_all_unknowns()
    means, variances = zip(*(chain.draw_all_unknowns() for _ in range(n_draws)), strict=True)
    mean = np.mean(means, axis=0)
    variance = np.mean(variances, axis=0) + np.var(means, axis=0, ddof=1)
    votes = chain.counts.sum((1, 2))
    if_labels_known = mean * (1 - mean) / (votes + chain.hyper.size + 1)
    variance += (WIDEN_UNKNOWN - 1) * np.maximum(variance - if_labels_known, 0)
    variance *= WIDEN
    return beta_interval_95_from_moments(np.clip(mean, 1e-6, 1 - 1e-6), variance)


@dataclass
class _Hyper:
    """What the workers of a crowd have in common; see `worker_accuracy_intervals_95`."""

    mean: float  # m, of the accuracies
    size: float  # v: the accuracies have the variance m (1 - m) / (v + 1)
    strength: float  # s
    share: float  # r
    errors: Floats  # (true, said) distribution of wrong labels; 0 on the diagonal
    crowd: Floats  # (true, said) mean matrix


class _Chain:
    """State of the Gibbs sampler: a label per open task, the accuracy of each worker, and what the workers have in common."""

    def __init__(
        self, em: ConfusionEM, posterior: Floats, fixed_prior: Floats | None, rng: np.random.Generator
    ) -> None:
        self.em, self.fixed, self.rng, k = em, fixed_prior, rng, em.n_labels
        self.eye: Bools = np.eye(k, dtype=bool)
        self.task = np.repeat(np.arange(len(posterior)), np.diff(em.votes.start))
        self.key = em.votes.key.astype(np.int64) * k
        self.label = self._draw_labels(posterior)
        self.accuracy = np.full(em.n_workers, 0.7)
        errors = np.where(self.eye, 0, 1 / max(k - 1, 1))
        self.hyper = _Hyper(0.7, 5.0, 5.0 * k, 0.3, errors, np.where(self.eye, 0.7, 0.3 * errors))
        mean, size = np.linspace(1 / k, 1, 42)[1:-1, None], np.geomspace(1, 300, 24)
        self.grid = np.broadcast_arrays(mean, size)
        self.log_density = -em.n_workers * betaln(mean * size, (1 - mean) * size) - 1.5 * np.log1p(size)

    def draw_all_unknowns(self) -> tuple[Floats, Floats]:
        """Draw all unknowns once; return (mean, variance), each (n_workers,), of the accuracies given labels and crowd."""
        counts, n_true = self._count_votes()
        prior = self.rng.dirichlet(n_true + 1) if self.fixed is None else self.fixed
        for _ in range(2):
            self._draw_crowd_and_accuracies(counts)
        params = self.hyper.strength * self._mean_rows() + counts  # of the Dirichlet posteriors of the rows
        total = params.sum(2)
        right = np.einsum("wkk->wk", params) / total
        matrices = np.maximum(self.rng.standard_gamma(params), 1e-200)
        matrices /= matrices.sum(2, keepdims=True)
        log_prior = np.log(np.maximum(prior, 1e-300))
        self.label = self._draw_labels(
            self.em.e_step(Params(log_prior, self.em.log_confusion_from_matrices(matrices)))[0]
        )
        return right @ prior, (right * (1 - right) / (total + 1)) @ prior**2

    def _count_votes(self) -> tuple[Floats, Floats]:
        """Return ((n_workers, true, said) votes, (n_labels,) tasks of each true label), given the labels drawn."""
        em, k = self.em, self.em.n_labels
        table = np.bincount(self.key + self.label[self.task], em.votes.weight, em.n_cells)
        self.counts = table.reshape(em.n_workers, k, k).transpose(0, 2, 1).astype(np.float64)
        n_true = np.bincount(self.label, minlength=k).astype(np.float64)
        if em.known is not None:
            self.counts += em.worker_said_true_view(em.known.confusion).transpose(0, 2, 1)
            n_true += em.known.n_true
        return self.counts, n_true

    def _own_rows(self) -> Floats:
        """(n_workers, true, said) the part of each worker's prior mean matrix that follows from the worker's accuracy."""
        accuracy = self.accuracy[:, None, None]
        return np.asarray((1 - self.hyper.share) * np.where(self.eye, accuracy, (1 - accuracy) * self.hyper.errors))

    def _mean_rows(self) -> Floats:
        """(n_workers, true, said) prior mean of each worker's matrix."""
        return np.maximum(self._own_rows() + self.hyper.share * self.hyper.crowd, TINY)

    def _draw_crowd_and_accuracies(self, counts: Floats) -> None:
        """Draw the hyperparameters and accuracies, given the votes (n_workers, true, said) and the labels drawn."""
        rng, hyper, mean_rows = self.rng, self.hyper, self._mean_rows()
        tables = _draw_table_counts(counts, hyper.strength * mean_rows, rng)
        hyper.strength = _draw_strength(
            counts.sum(2), float(tables.sum()), hyper.strength, 10.0 * self.em.n_labels, rng
        )
        of_crowd = rng.binomial(tables, np.clip(hyper.share * hyper.crowd / mean_rows, 0, 1))
        own = tables - of_crowd
        hyper.share = float(rng.beta(1 + of_crowd.sum(), 1 + own.sum()))
        right = np.einsum("wkk->w", own)
        size = hyper.mean * hyper.size, (1 - hyper.mean) * hyper.size
        self.accuracy = np.clip(rng.beta(size[0] + right, size[1] + own.sum((1, 2)) - right), 1e-6, 1 - 1e-6)
        hyper.errors = _draw_rows(np.where(self.eye, 0, own.sum(0) + WRONG_LABEL_COUNT), rng)
        typical = np.where(self.eye, hyper.mean, (1 - hyper.mean) * hyper.errors)
        hyper.crowd = _draw_rows(of_crowd.sum(0) + CROWD_COUNT * typical, rng)
        mean, size_grid = self.grid
        log_p = self.log_density + (mean * size_grid - 1) * np.log(self.accuracy).sum()
        log_p = log_p + ((1 - mean) * size_grid - 1) * np.log1p(-self.accuracy).sum()
        p = np.exp(log_p - log_p.max()).ravel()
        place = rng.choice(p.size, p=p / p.sum())
        hyper.mean, hyper.size = float(mean.ravel()[place]), float(size_grid.ravel()[place])

    def _draw_labels(self, posterior: Floats) -> Ints:
        """(n_tasks,) a label per task, drawn from its posterior."""
        bounds = posterior.cumsum(1)
        drawn = self.rng.random(len(posterior)) * bounds[:, -1]
        return np.minimum((bounds < drawn[:, None]).sum(1), posterior.shape[1] - 1)


def _draw_table_counts(counts: Floats, pseudo: Floats, rng: np.random.Generator) -> Ints:
    """Draw the auxiliary counts of a Dirichlet prior: of n votes in a cell with the pseudo-count c, how many are new draws.

    The number is 1 + a sum of Bernoulli variables with probabilities c / (c + i), i = 1 to n - 1; here 1 + a binomial variable
    of the same mean, which is exact up to n = 2.
    """
    mean = pseudo * (digamma(pseudo + counts) - digamma(pseudo))
    more = np.maximum(np.ceil(counts) - 1, 0).astype(np.int64)
    drawn = 1 + rng.binomial(more, np.clip((mean - 1) / np.maximum(more, 1), 0, 1))
    return np.where(counts > 0, drawn, 0)


def _draw_strength(row_sums: Floats, n_tables: float, strength: float, scale: float, rng: np.random.Generator) -> float:
    """Draw the strength of a Dirichlet prior of many rows, whose own prior is exponential with the mean `scale`.

    Escobar & West (1995), https://doi.org/10.1080/01621459.1995.10476550, with auxiliary variables for each row.
    """
    sums = row_sums[row_sums > 0]
    eta = rng.beta(strength + 1, sums)
    n_flagged = int((rng.random(len(sums)) < sums / (sums + strength)).sum())
    rate = 1 / scale - np.log(np.maximum(eta, 1e-300)).sum()
    return float(np.clip(rng.gamma(max(1 + n_tables - n_flagged, 1e-3)) / rate, 0.3, 1e4))


def _draw_rows(pseudo: Floats, rng: np.random.Generator) -> Floats:
    """Draw each row from the Dirichlet distribution with these pseudo-counts; a row of zeros stays zero."""
    drawn = rng.standard_gamma(pseudo)
    return np.asarray(drawn / np.maximum(drawn.sum(1, keepdims=True), 1e-300))
