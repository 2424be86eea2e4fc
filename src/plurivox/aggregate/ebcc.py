"""EBCC: confusion matrices that differ between kinds of tasks."""

from dataclasses import dataclass

import numpy as np

from plurivox.aggregate._contract import EMAggregator, accelerate_option, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.dirichlet_priors import (
    DIAGONAL_HELP,
    OFF_DIAGONAL_HELP,
    LabelPrior,
    accuracies,
    mean_confusion,
    pseudo_counts,
)
from plurivox.aggregate._shared.open_tasks import ClampedTasks, soft_labels
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import KeyedVotes
from plurivox.engine.dirichlet import expected_logs
from plurivox.engine.em import EMResult, best_run, run_em_together
from plurivox.engine.subtype_em import SubtypeCounts, SubtypeEM, SubtypeParams

FEW = 1e-3  # tasks of a label that nobody chose, where the vote shares of the crowd are the prior


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

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        self.check_memory(votes, votes.n_workers * votes.n_labels**2 * self.subtypes)
        model = _Model(self, ClampedTasks(votes, gold, start))
        starts = [model.first(i) for i in range(self.starts)]
        return model.to_fit(
            *best_run(run_em_together(model.em_pass, starts, **self.em_settings(votes, progress, model)))
        )


class _Model:
    """The model on some votes. With a low `sparsity` most kinds lose all their tasks in a few passes and are dropped."""

    def __init__(self, method: Ebcc, tasks: ClampedTasks) -> None:
        self.method, self.tasks, votes = method, tasks, tasks.votes
        self.n_labels, self.n_kinds = votes.n_labels, votes.n_labels * method.subtypes
        keyed = KeyedVotes.of(tasks.start, tasks.worker, tasks.said, tasks.weight, self.n_labels)
        known = tasks.posterior[tasks.clamped]
        self.em = SubtypeEM(keyed, tasks.clamped, known, votes.n_workers, method.subtypes)
        rows = pseudo_counts(self.n_labels, method.diagonal, method.off_diagonal)
        self.pseudo = np.repeat(rows, method.subtypes, 1)  # (said, kind)
        self.within = np.full((method.subtypes, self.n_labels), method.sparsity / method.subtypes)
        seen = np.maximum(tasks.vote_shares().sum(0), FEW) if method.label_count is None else method.label_count
        self.labels = LabelPrior(np.full(self.n_labels, seen), method.fixed_prior(votes.labels))

    def first(self, start: int) -> SubtypeCounts:
        """A first posterior of every label, split over its subtypes: all in the first of them, or at random."""
        posterior, n_subtypes = self.tasks.posterior, self.method.subtypes
        if start == 0:
            return self.em.expected_counts(
                np.arange(self.n_labels) * n_subtypes, lambda begin, end: posterior[begin:end]
            )

        def shares(begin: int, end: int) -> Floats:
            rng = np.random.default_rng([self.method.seed, start, begin])
            share = rng.standard_exponential((end - begin, self.n_labels, n_subtypes))
            share *= (posterior[begin:end] / share.sum(2))[:, :, None]
            return share.reshape(-1, self.n_kinds)

        return self.em.expected_counts(np.arange(self.n_kinds), shares)

    def expect(self, counts: SubtypeCounts) -> tuple[SubtypeParams, float]:
        """(E[log] of every parameter, -KL from the priors)."""
        by_label = self._by_label(counts)
        log_label, first = self.labels.expect(by_label.sum(1) + self.tasks.n_silent)
        log_within, second = expected_logs(np.ascontiguousarray(by_label.T).ravel(), self.within)
        pseudo = np.ascontiguousarray(self.pseudo[:, counts.kinds])
        table, third = expected_logs(counts.counts.ravel(), pseudo, self.em.n_workers)
        log_kind = (log_label[:, None] + log_within.reshape(self.within.shape).T).ravel()
        value = first + second + third + float(self.tasks.n_silent @ log_label)
        return SubtypeParams(counts.kinds, log_kind[counts.kinds], table.reshape(counts.counts.shape)), value

    def _by_label(self, counts: SubtypeCounts) -> Floats:
        """(n_labels, n_subtypes) how many tasks are of each kind."""
        n_kind = np.zeros(self.n_kinds)
        n_kind[counts.kinds] = counts.n_kind
        return n_kind.reshape(self.n_labels, -1)

    def em_pass(self, runs: list[SubtypeCounts]) -> list[tuple[SubtypeCounts, float]]:
        """One pass over the votes for all runs: better counts, and the bound of those given."""
        expected = [self.expect(counts) for counts in runs]
        passed = self.em.em_pass([params for params, _ in expected])
        return [(better, value + seen) for (_, value), (better, seen) in zip(expected, passed, strict=True)]

    def to_fit(self, end: EMResult[SubtypeCounts], kept: int) -> Fit:
        """The result of the best run."""
        tasks, votes, counts = self.tasks, self.tasks.votes, end.params
        posterior, agree = self.em.posterior(self.expect(counts)[0])
        tasks.posterior[~tasks.clamped] = posterior
        by_label = self._by_label(counts)
        prior, within = self.labels.mean(by_label.sum(1) + tasks.n_silent), by_label + self.within.T
        kinds = (prior[:, None] * within / within.sum(1, keepdims=True)).ravel()
        matrices = np.tile(self.pseudo, (votes.n_workers, 1, 1))
        matrices[:, :, counts.kinds] += counts.counts.reshape(votes.n_workers, self.n_labels, -1)
        ability, low, high = accuracies(matrices, kinds)
        return Fit(
            soft_labels(votes, tasks.whole_posterior(prior)),
            votes.workers,
            self.method.spec,
            prior=prior,
            confusion=mean_confusion(matrices, kinds, votes),
            ability=ability,
            ability_low=low,
            ability_high=high,
            trace=end.trace,
            converged=end.converged,
            found={"passes": end.passes, "start kept": kept, "left_out": tasks.left_out(agree)},
        )

    # ---- SQUAREM extrapolates the counts

    def pack(self, params: SubtypeCounts) -> Floats:
        """All counts in one vector."""
        return np.concatenate([params.n_kind, params.counts.ravel()])

    def unpack(self, vector: Floats, like: SubtypeCounts) -> SubtypeCounts:
        """The nearest counts that are not negative, of the kinds of `like`."""
        n_kind, counts = np.split(np.maximum(vector, 0), [len(like.kinds)])
        return SubtypeCounts(like.kinds, n_kind, counts.reshape(like.counts.shape))
