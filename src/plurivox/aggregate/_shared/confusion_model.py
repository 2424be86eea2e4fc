"""The confusion-matrix model: E-step, M-step, warm start, accuracy and its interval."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from plurivox.aggregate._shared.em_options import log_prior, soft_labels
from plurivox.aggregate._shared.keyed_votes import Crowd, Params, Sums
from plurivox.core.encoding import positions
from plurivox.core.progress import Watch
from plurivox.core.results import Confusion, Fit
from plurivox.core.types import Floats
from plurivox.engine.em import Climb
from plurivox.engine.kernels.confusion_tables import TINY
from plurivox.engine.kernels.simd import PAD

LOWEST = -40.0  # logs below it are all the same to a long step: e^-40 is no more than nothing
DOUBT = 0.01  # share of doubt put into an earlier fit's matrices, so that new votes can change every cell of them


# ---- where to begin


def earlier_params(crowd: Crowd, start: Fit | None) -> Params | None:
    """The parameters of an earlier fit for the workers of these votes; None where it has none over the same labels.

    A worker it did not know gets the mean of its matrices.
    """
    if start is None or start.confusion is None or start.prior is None or not len(start.workers):
        return None
    place = positions(start.confusion.labels, crowd.votes.labels)
    if (place < 0).any() or len(place) != len(start.confusion.labels):
        return None
    dense = start.confusion.dense()[:, place[:, None], place]
    whose = positions(start.workers, crowd.votes.workers)
    mine = np.where((whose >= 0)[:, None, None], dense[whose], dense.mean(0))  # (n_workers, true, said)
    mine = (1 - DOUBT) * mine + DOUBT / crowd.n_labels
    table = crowd.flat(np.log(np.maximum(mine, TINY)).transpose(0, 2, 1))
    return Params(log_prior(start.prior[place] + TINY, None), table)


@dataclass(frozen=True)
class LogSpace:
    """Steps are made in logs of probabilities, and what comes out is made to sum to one again."""

    crowd: Crowd

    def flat(self, state: Params) -> Floats:
        whole = np.concatenate([state.log_prior, state.table[: self.crowd.n_cells]])
        return np.maximum(whole, LOWEST, out=whole)

    def state(self, flat: Floats) -> Params:
        n = self.crowd.n_labels
        table = np.zeros(self.crowd.n_cells + PAD)
        table[: self.crowd.n_cells] = flat[n:]
        return Params(flat[:n] - np.logaddexp.reduce(flat[:n]), self.crowd.renormalise(table))


def confusion_of(crowd: Crowd, table: Floats) -> Confusion:
    """The matrices [worker, true, said] of a table of logs."""
    matrices = np.exp(crowd.tensor(table).transpose(0, 2, 1))
    matrices[matrices < 2 * TINY] = 0
    return Confusion(matrices, crowd.votes.workers, crowd.votes.labels)


def accuracy(matrices: Floats, prior: Floats) -> Floats:
    """(n_workers,) how often each is right on a task drawn at random: the diagonal, weighted by the prior."""
    return np.asarray(np.einsum("wkk,k->w", matrices, prior))


def accuracy_interval(right: Floats, wrong: Floats, prior: Floats, point: Floats) -> tuple[Floats, Floats]:
    """95% credible interval of that accuracy: (low, high), each (n_workers,).

    `right`, `wrong` (n_workers, n_labels): how often a worker was right or wrong on each true label, prior counts
    included. Each chance of being right is Beta(right + 1/2, wrong + 1/2); their weighted mean is given the Beta
    distribution of the same mean and variance. The interval always holds the point estimate.
    """
    a, b = right + 0.5, wrong + 0.5
    mean = (a / (a + b)) @ prior
    variance = (a * b / ((a + b) ** 2 * (a + b + 1))) @ prior**2
    low, high = share_interval(mean, variance)
    return np.minimum(low, point), np.maximum(high, point)


def share_interval(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """(low, high) that hold 95% of the Beta distributions with these means and variances."""
    size = np.maximum(mean * (1 - mean) / np.maximum(variance, TINY) - 1, 1e-6)
    low, high = (betaincinv(mean * size, (1 - mean) * size, tail) for tail in (0.025, 0.975))
    return np.where(variance > 0, low, mean), np.where(variance > 0, high, mean)


SETTLE = 20  # passes in which a pooled prior may move
SETTLED = 1e-3  # a pooled prior whose shares move by less than this has come to rest


@dataclass
class MatrixModel:
    """Point estimates of matrices and prior. `look` is the pass over the votes: soft, or every task's best label."""

    crowd: Crowd
    look: Callable[[Params], tuple[Sums, float]]
    fixed: Floats | None  # (n_labels,) the prior, where it is not learnt
    pseudo: Floats  # (said, true) counts that are added to everybody's
    sums: Sums | None = None  # of the latest pass

    def maximise(self, sums: Sums) -> Params:
        """The M-step."""
        return Params(log_prior(sums.n_true, self.fixed), self.crowd.log_shares(sums.counts, self.pseudo))

    def sweep(self, params: Params) -> tuple[Params, float]:
        """One pass: better parameters, and the objective of those given."""
        self.sums, value = self.look(params)
        if self.pseudo.any():
            value += float((self.pseudo * self.crowd.tensor(params.table).sum(0)).sum())
        return self.maximise(self.sums), value

    def settle(self, params: Params, strength: float, most: int, watch: Watch, total: int) -> tuple[Params, int]:
        """Passes in which the pseudo-counts follow the crowd's pooled matrix, until it is at rest: (params, passes)."""
        base, before = self.pseudo, np.full_like(self.pseudo, np.inf)
        for step in range(most):
            sums, _ = self.look(params)
            said = self.crowd.tensor(sums.counts).sum(0)  # (said, true) the whole crowd's counts
            pooled = np.where(said.sum(0) > 0, said / np.maximum(said.sum(0), 1e-300), 1 / self.crowd.n_labels)
            self.pseudo = base + strength * pooled
            params = self.maximise(sums)
            watch(step, total, None)
            if np.abs(pooled - before).max() < SETTLED:
                return params, step + 1
            before = pooled
        return params, most

    def answer(self, word: str, end: Climb[Params]) -> Fit:
        """What a climb ended with, as a fit."""
        assert self.sums is not None
        crowd, prior = self.crowd, np.exp(end.state.log_prior)
        posterior, left_out = crowd.believe(end.state)
        confusion = confusion_of(crowd, end.state.table)
        ability = accuracy(confusion.matrices, prior)
        counts = crowd.tensor(self.sums.counts) + self.pseudo
        right = np.einsum("wkk->wk", counts)
        low, high = accuracy_interval(right, counts.sum(1) - right, prior, ability)
        return Fit(
            soft_labels(crowd.votes, posterior),
            crowd.votes.workers,
            word,
            prior=prior,
            confusion=confusion,
            ability=ability,
            ability_low=low,
            ability_high=high,
            trace=end.trace,
            converged=end.converged,
            found={"passes": end.passes, "left_out": left_out},
        )
