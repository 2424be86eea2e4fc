"""IBCC: Dawid-Skene with priors, every parameter a distribution."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.confusion_model import earlier_params
from plurivox.aggregate._shared.dirichlet_priors import (
    DIAGONAL_HELP,
    OFF_DIAGONAL_HELP,
    LabelPrior,
    accuracies,
    mean_confusion,
    pseudo_counts,
)
from plurivox.aggregate._shared.em_options import PRIOR_HELP, TOL_HELP, check_room, fixed_prior, soft_labels
from plurivox.aggregate._shared.keyed_votes import Crowd, Params, Sums
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.dirichlet import expected_logs
from plurivox.engine.em import Climb, climb
from plurivox.engine.kernels.simd import PAD


@dataclass(frozen=True)
class Ibcc(Aggregator):
    """Confusion matrices with priors, found by variational Bayes: doubt about workers counts.

    Every row of a worker's matrix has a Dirichlet prior with `diagonal` on the true label and `off_diagonal` on every
    other, and the frequencies of the labels one with `label_count` on each. Labels, matrices and frequencies are taken to
    be independent a posteriori, and a pass finds the best q of each: q(task has k) is proportional to
    exp(E log prior_k + sum over votes of weight * E log matrix_worker[k, said]), and the Dirichlet counts are expected
    counts under q. The objective is the bound on the evidence. Ability is a worker's mean chance to be right on a task
    drawn by the prior, with its 95% credible interval; `found["left_out"]` is as in dawid-skene.

    Kim & Ghahramani (2012), https://proceedings.mlr.press/v22/kim12.html; Simpson, Roberts, Psorakis & Smith (2013),
    https://doi.org/10.1007/978-3-642-36406-8_1; the values of the priors: Li, Rubinstein & Cohn (2019),
    https://proceedings.mlr.press/v97/li19i.html

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> fit = Ibcc().fit(votes)
    >>> fit.soft.hard().tolist(), fit.ability.round(2), fit.ability_low.round(2)
    (['x', 'y', 'x'], array([0.84, 0.84, 0.7 ]), array([0.62, 0.62, 0.45]))
    """

    diagonal: float = option(4.0, DIAGONAL_HELP, low=1e-6)
    off_diagonal: float = option(1.0, OFF_DIAGONAL_HELP, low=1e-6)
    label_count: float = option(1.0, "tasks of each label that are taken to have been seen before", low=1e-6)
    prior: str = option("learnt", PRIOR_HELP)
    max_iter: int = option(200, "most passes over the votes", low=1)
    tol: float = option(1e-6, TOL_HELP, low=0)
    accelerate: bool = option(True, "try longer steps, and take back those that do not pay")

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        check_room(votes, self.name())
        crowd = Crowd(votes, gold)
        labels = LabelPrior(np.full(votes.n_labels, self.label_count), fixed_prior(self.prior, votes.labels))
        model = _Model(crowd, labels, pseudo_counts(votes.n_labels, self.diagonal, self.off_diagonal))
        params = earlier_params(crowd, start)
        end = climb(
            model.sweep,
            crowd.count(crowd.first_guess(start)) if params is None else crowd.sweep(params)[0],
            max_iter=self.max_iter,
            tol=self.tol * votes.n_answers,
            watch=watch,
            space=model if self.accelerate else None,
        )
        return model.answer(self.word, end)


@dataclass(frozen=True)
class _Model:
    """The model on some votes. Its state is what was counted: it says all about the Dirichlet distributions."""

    crowd: Crowd
    labels: LabelPrior
    pseudo: Floats  # (said, true)

    def expect(self, sums: Sums) -> tuple[Params, float]:
        """(E[log] of every parameter, -KL from the priors)."""
        log_prior, first = self.labels.expect(sums.n_true)
        table, second = expected_logs(sums.counts, self.pseudo, self.crowd.n_workers)
        return Params(log_prior, table), first + second

    def sweep(self, sums: Sums) -> tuple[Sums, float]:
        """One pass: better counts, and the bound of those given."""
        params, value = self.expect(sums)
        better, seen = self.crowd.sweep(params)
        return better, value + seen

    def answer(self, word: str, end: Climb[Sums]) -> Fit:
        """What a climb ended with, as a fit."""
        crowd, prior = self.crowd, self.labels.mean(end.state.n_true)
        posterior, left_out = crowd.believe(self.expect(end.state)[0])
        matrices = crowd.tensor(end.state.counts) + self.pseudo
        ability, low, high = accuracies(matrices, prior)
        return Fit(
            soft_labels(crowd.votes, posterior),
            crowd.votes.workers,
            word,
            prior=prior,
            confusion=mean_confusion(matrices, prior, crowd.votes),
            ability=ability,
            ability_low=low,
            ability_high=high,
            trace=end.trace,
            converged=end.converged,
            found={"passes": end.passes, "left_out": left_out},
        )

    # ---- the state as one row of numbers, for long steps

    def flat(self, state: Sums) -> Floats:
        return np.concatenate([state.n_true, state.counts[: self.crowd.n_cells]])

    def state(self, flat: Floats) -> Sums:
        n_true, counts = np.split(np.maximum(flat, 0), [self.crowd.n_labels])
        return Sums(n_true, np.concatenate([counts, np.zeros(PAD)]))
