"""IBCC: Dawid-Skene with priors, every parameter a distribution."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.aggregate._bayes import LabelPrior, accuracies, diagonal_prior, mean_confusion
from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._crowd import Crowd, Params, Sums
from plurivox.core.labels import SoftLabels
from plurivox.core.method import option
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.core.watch import Watch
from plurivox.engine.dirichlet import expected_logs
from plurivox.engine.em import climb


@dataclass(frozen=True)
class Ibcc(Aggregator):
    """Confusion matrices with priors, found by variational Bayes: doubt about workers counts.

    Every row of a worker's matrix has a Dirichlet prior with `diagonal` on the true label and `off_diagonal` on every
    other; how frequent labels are has one with `label_count` on each. Labels, matrices and frequencies are taken to be
    independent a posteriori, q(labels) q(matrices) q(frequencies); a pass finds the best of each in turn:
    q(t = k) ~ exp(E log p_k + sum_votes E log pi_wkl), and Dirichlet counts from q(t). The objective is the bound on the
    evidence. The ability of a worker is the mean chance of a right vote, with its 95% credible interval.

    Kim & Ghahramani (2012), https://proceedings.mlr.press/v22/kim12.html; variational: Simpson, Roberts, Psorakis & Smith
    (2013), https://doi.org/10.1007/978-3-642-36406-8_1; the priors of Li, Rubinstein & Cohn (2019).

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> fit = Ibcc().fit(votes)
    >>> fit.soft.hard().tolist(), bool(fit.ability_low[0] < fit.ability[0] < fit.ability_high[0])
    (['x', 'y', 'x'], True)
    """

    diagonal: float = option(4.0, "votes on the true label that a worker is taken to have given before", low=1e-6)
    off_diagonal: float = option(1.0, "votes on each other label, likewise", low=1e-6)
    label_count: float = option(1.0, "tasks of each label that are taken to have been seen before", low=1e-6)
    prior: str = option("learnt", "how frequent labels are: learnt, uniform, or a share for each, such as .2,.8")
    max_iter: int = option(500, "most passes over the votes", low=1)
    tol: float = option(1e-7, "stop when a pass gains less than this a vote", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        crowd = Crowd(votes, gold)
        pseudo = diagonal_prior(votes.n_labels, self.diagonal, self.off_diagonal)
        labels = LabelPrior.of(self.prior, votes, np.full(votes.n_labels, self.label_count))

        def parameters(sums: Sums) -> tuple[Params, float]:
            log_prior, first = labels.expect(sums.n_true)
            table, second = expected_logs(sums.counts, pseudo, votes.n_workers)
            return Params(log_prior, table), first + second

        def sweep(sums: Sums) -> tuple[Sums, float]:
            params, value = parameters(sums)
            better, seen = crowd.sweep(params)
            return better, value + seen

        tol = self.tol * max(votes.n_answers, 1)
        shares = votes.counts()[crowd.open]
        shares /= shares.sum(1, keepdims=True)
        top = climb(sweep, crowd.count(shares), max_iter=self.max_iter, tol=tol, watch=watch)
        posterior, _ = crowd.believe(parameters(top.state)[0])
        prior = labels.mean(top.state.n_true)
        told = crowd.tensor(top.state.counts) + pseudo
        ability, low, high = accuracies(told, prior)
        return Fit(
            SoftLabels.of(posterior, votes.tasks, votes.labels, support=votes.support, scale=votes.scale),
            votes.workers,
            self.word,
            prior=prior,
            confusion=mean_confusion(told, prior, votes),
            ability=ability,
            ability_low=low,
            ability_high=high,
            trace=top.trace,
            converged=top.converged,
        )
