"""EBCC: confusion matrices that differ between kinds of tasks."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurivox.aggregate._shared.clamped_tasks import ClampedTasks
from plurivox.aggregate._shared.dirichlet_priors import (
    DIAGONAL_HELP,
    OFF_DIAGONAL_HELP,
    LabelPrior,
    accuracies,
    mean_confusion,
    pseudo_counts,
)
from plurivox.aggregate._shared.em_aggregator import (
    EMAggregator,
    accelerate_option,
    check_memory,
    fixed_prior,
    max_iter_option,
    prior_option,
    soft_labels,
    tol_option,
)
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.dirichlet import expected_logs
from plurivox.engine.em import EMResult, best_of_starts, run_em
from plurivox.engine.kernels import subtypes
from plurivox.engine.threads import Blocks

CHUNK = 4096  # tasks that get their random subtypes at a time
FEW = 1e-3  # tasks of a label that nobody chose, where the vote shares of the crowd are the prior


class Sums(NamedTuple):
    """What one pass over the votes finds: it says all about the Dirichlet distributions."""

    n_kind: Floats  # (n_kinds,) how many tasks are of each kind
    counts: Floats  # (n_workers * n_labels * n_kinds,) flat [worker, said, kind], weights of votes


@dataclass(frozen=True)
class Ebcc(EMAggregator):
    """IBCC whose tasks fall into subtypes, so that workers may err on the same tasks.

    Workers who fail together are no independent witnesses. Here the tasks of each label are a mixture of `subtypes`, and a
    worker has a row of the confusion matrix for each of them. Dirichlet priors: `diagonal` and `off_diagonal` on the rows,
    `sparsity` / subtypes on the subtypes of a label, and on the frequencies of labels what the votes of all tasks say, or
    `label_count` on each. Variational Bayes as in ibcc. The first start puts each label into one subtype, which is IBCC;
    the others are random; the one with the best bound is kept. Ability is a worker's mean chance to be right.

    Li, Rubinstein & Cohn (2019), Exploiting worker correlation for label aggregation in crowdsourcing,
    https://proceedings.mlr.press/v97/li19i.html

    >>> votes = Votes.of(task=list("aaabbbcccddd"), worker=[1, 2, 3] * 4, label=list("xxyyyyxxxyyx"))
    >>> Ebcc(subtypes=2).fit(votes).soft.hard().tolist()
    ['x', 'y', 'x', 'y']
    """

    subtypes: int = option(10, "kinds of tasks within each label", low=1)
    starts: int = option(10, "how many starts; the best is kept (the authors take 40)", low=1)
    seed: int = option(0, "of the random starts", low=0)
    diagonal: float = option(4.0, DIAGONAL_HELP, low=1e-6)
    off_diagonal: float = option(1.0, OFF_DIAGONAL_HELP, low=1e-6)
    sparsity: float = option(0.1, "tasks of each label seen before, shared by its subtypes: low keeps few", low=1e-6)
    label_count: float | None = option(None, "tasks of each label seen before; none: their vote shares", low=1e-6)
    prior: str = prior_option()
    max_iter: int = max_iter_option(200, " for each start")
    tol: float = tol_option()
    accelerate: bool = accelerate_option()

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        check_memory(votes, self.name(), votes.n_workers * votes.n_labels**2 * self.subtypes)
        model = _Model(self, ClampedTasks(votes, gold, start))

        def attempt(i: int, watch: Watch) -> EMResult[Sums]:
            return run_em(
                model.sweep,
                model.first(i),
                max_iter=self.max_iter,
                tol=self.tol * votes.n_answers,
                watch=watch,
                space=model if self.accelerate else None,
            )

        return model.answer(*best_of_starts(self.starts, self.max_iter, attempt, watch))


class _Model:
    """The model on some votes."""

    def __init__(self, method: Ebcc, told: ClampedTasks) -> None:
        self.method, self.told, votes = method, told, told.votes
        self.n_labels, self.n_kinds = votes.n_labels, votes.n_labels * method.subtypes
        self.table = votes.n_workers * votes.n_labels, self.n_kinds  # the shape of a table over keys
        self.n_cells = self.table[0] * self.n_kinds
        key = votes.worker.astype(np.uint32) * np.uint32(votes.n_labels) + votes.label
        self.rows = told.start, key, votes.weight
        self.blocks = Blocks(told.start, cells=self.n_cells, width=self.n_kinds)
        self.guess = told.posterior.copy()
        rows = pseudo_counts(self.n_labels, method.diagonal, method.off_diagonal)
        self.pseudo = np.repeat(rows, method.subtypes, 1)  # (said, kind)
        self.within = np.full((method.subtypes, self.n_labels), method.sparsity / method.subtypes)
        seen = np.maximum(told.vote_shares().sum(0), FEW) if method.label_count is None else method.label_count
        self.labels = LabelPrior(np.full(self.n_labels, seen), fixed_prior(method.prior, votes.labels))

    def first(self, start: int) -> Sums:
        """A first guess at every label, split over its subtypes: all in the first of them, or at random."""

        def work(first: int, last: int, n_kind: Floats, counts: Floats) -> float:
            for begin in range(first, last, CHUNK):
                end = min(begin + CHUNK, last)
                chance = np.random.default_rng([self.method.seed, start, begin])
                share = chance.standard_exponential((end - begin, self.n_labels, self.method.subtypes))
                if start == 0:
                    share[:, :, 1:] = 0
                share *= (self.guess[begin:end] / share.sum(2))[:, :, None]
                share = share.reshape(-1, self.n_kinds)
                subtypes.count(begin, end, *self.rows, share, n_kind, counts.reshape(self.table))
            return 0.0

        return Sums(*self.blocks.gather(work, self.n_kinds, self.n_cells)[1])

    def expect(self, sums: Sums) -> tuple[Floats, Floats, float]:
        """(E[log frequency] of each kind, E[log p(said | kind)] of each key and kind, -KL from the priors)."""
        by_label = sums.n_kind.reshape(self.n_labels, -1)
        log_label, first = self.labels.expect(by_label.sum(1) + self.told.n_silent)
        log_within, second = expected_logs(np.ascontiguousarray(by_label.T).ravel(), self.within)
        table, third = expected_logs(sums.counts, self.pseudo, self.told.n_workers)
        log_kind = (log_label[:, None] + log_within.reshape(self.within.shape).T).ravel()
        return log_kind, table.reshape(self.table), first + second + third + float(self.told.n_silent @ log_label)

    def sweep(self, sums: Sums) -> tuple[Sums, float]:
        """One pass: better counts, and the bound of those given."""
        log_kind, table, value = self.expect(sums)

        def work(first: int, last: int, n_kind: Floats, counts: Floats) -> float:
            given = (*self.rows, self.told.clamped, log_kind, table, self.told.posterior)
            return subtypes.sweep(first, last, *given, n_kind, counts.reshape(self.table))

        seen, better = self.blocks.gather(work, self.n_kinds, self.n_cells)
        return Sums(*better), value + seen

    def answer(self, end: EMResult[Sums], kept: int) -> Fit:
        """What the best climb ended with, as a fit."""
        told, votes = self.told, self.told.votes
        log_kind, table, _ = self.expect(end.params)

        def work(first: int, last: int, agree: Floats) -> float:
            return subtypes.believe(first, last, *self.rows, told.clamped, log_kind, table, told.posterior, agree)

        agree = self.blocks.gather(work, votes.n_workers)[1][0]
        by_label = end.params.n_kind.reshape(self.n_labels, -1)
        prior, within = self.labels.mean(by_label.sum(1) + self.told.n_silent), by_label + self.within.T
        kinds = (prior[:, None] * within / within.sum(1, keepdims=True)).ravel()
        matrices = end.params.counts.reshape(votes.n_workers, self.n_labels, self.n_kinds) + self.pseudo
        ability, low, high = accuracies(matrices, kinds)
        return Fit(
            soft_labels(votes, told.whole_posterior(prior)),
            votes.workers,
            self.method.word,
            prior=prior,
            confusion=mean_confusion(matrices, kinds, votes),
            ability=ability,
            ability_low=low,
            ability_high=high,
            trace=end.trace,
            converged=end.converged,
            found={"passes": end.passes, "start kept": kept, "left_out": told.left_out(agree)},
        )

    # ---- the state as one row of numbers, for long steps

    def pack(self, state: Sums) -> Floats:
        return np.concatenate(state)

    def unpack(self, flat: Floats) -> Sums:
        return Sums(*np.split(np.maximum(flat, 0), [self.n_kinds]))
