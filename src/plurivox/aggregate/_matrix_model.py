"""Dawid-Skene's model on some votes: its passes, and its answer."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plurivox.aggregate._confusion import accuracy, accuracy_interval, confusion_of, log_prior, soft_labels
from plurivox.aggregate._crowd import Crowd, Params, Sums
from plurivox.core.names import Floats
from plurivox.core.results import Fit
from plurivox.core.watch import Watch
from plurivox.engine.em import Climb

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
