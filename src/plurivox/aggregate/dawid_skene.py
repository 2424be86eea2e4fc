"""Dawid-Skene: a confusion matrix per worker, estimated by EM."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.aggregate._contract import EMAggregator, accelerate_option, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.tasks_without_gold import TasksWithoutGold, log_label_prior
from plurivox.aggregate._shared.worker_accuracy_intervals import accuracy_interval_when_read
from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.core.progress_callbacks import AtMost, Progress
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import Counts, KeyedVotes, Params, confusion_kernel_calls, worker_accuracy
from plurivox.engine.em import EMResult, run_em
from plurivox.engine.second_compiler import KernelCall

POOL_PASSES = 20  # maximum number of passes that fit a pooled prior
POOL_TOL = 1e-3  # a pooled prior whose shares change by less than this has converged


@dataclass(frozen=True)
class DawidSkene(EMAggregator):
    """Estimate a confusion matrix per worker together with the labels by EM.

    p(task has k) is proportional to prior_k * product over its votes of matrix_worker[k, said] ^ weight. The rows of a matrix
    are the expected counts of a worker's votes on tasks of true label k, plus pseudo-counts, divided by their sum; the prior
    is the mean of the posteriors. EM starts from vote shares and converges to a local maximum of the likelihood (times the
    density of the pseudo-counts); the trace holds this objective. Pseudo-counts are equal in all entries (`smooth`), differ
    on the `diagonal`, or follow the confusion matrix of the whole crowd with a strength of `pool` votes per row; that matrix
    is estimated in the first passes and then fixed. Gold labels are clamped and used to estimate the matrices. Ability is a
    worker's accuracy on a task drawn from the prior; its interval is that of a hierarchical model (see `Fit`).
    `found["left_out"]` is the leave-one-out agreement: the share of a worker's votes that agree with the other votes on their
    tasks (or the gold label).

    Dawid & Skene (1979), https://doi.org/10.2307/2346806; pooling: Paun et al. (2018),
    https://doi.org/10.1162/tacl_a_00040

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> fit = DawidSkene().fit(votes)
    >>> fit.soft.hard().tolist(), fit.confusion.of(3).round(2)
    (['x', 'y', 'x'], array([[0.5 , 0.5 ],
           [0.99, 0.01]]))
    """

    smooth: float = option(
        0.01, "pseudo-count in every entry of a confusion matrix; 0 is the method as published", low=0
    )
    diagonal: float | None = option(
        None, "pseudo-count on the diagonal of a confusion matrix; none: equal to smooth", low=0
    )
    pool: float = option(0.0, "strength of a prior pooled over all workers, in votes per row; average uses 4", low=0)
    prior: str = prior_option()
    max_iter: int = max_iter_option()
    tol: float = tol_option()
    accelerate: bool = accelerate_option()

    estimates: ClassVar[Estimand] = "truth"
    numbers_workers_and_labels: ClassVar[bool] = True

    def estimated_worker_table_floats(self, votes: Votes) -> int:
        return 13 * votes.n_workers * votes.n_labels**2 + len(votes) * votes.n_labels // 8

    def kernel_calls(self, votes: Votes) -> list[KernelCall]:
        return confusion_kernel_calls(KeyedVotes.without_rows(votes), votes.n_labels)

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        model = DawidSkeneModel(
            TasksWithoutGold(votes, gold), self.fixed_prior(votes.labels), self._confusion_pseudo_counts(votes)
        )
        params, spent = model.initial_params(start), 0
        if self.pool:
            params, spent = model.run_em_and_set_pooled_pseudo_counts(
                params, self.pool, min(POOL_PASSES, self.max_iter - 1), progress, self.max_iter
            )
        result = run_em(model.em_pass, params, **self.run_em_arguments(votes, progress, model.em), passes_spent=spent)
        return model.fit_from_em_result(self.spec, result)

    def _confusion_pseudo_counts(self, votes: Votes) -> Floats:
        """(n_labels, n_labels) pseudo-counts added to each worker's expected vote counts, by said and true label."""
        pseudo = np.full((votes.n_labels, votes.n_labels), self.smooth)
        if self.diagonal is not None:
            np.fill_diagonal(pseudo, self.diagonal)
        return pseudo


class DawidSkeneModel:
    """Dawid-Skene model of given votes, with point estimates of confusion matrices and prior; soft EM, or hard EM if `hard`."""

    def __init__(
        self, tasks: TasksWithoutGold, fixed_prior: Floats | None, pseudo_counts: Floats, *, hard: bool = False
    ) -> None:
        self.tasks, self.em, self.hard = tasks, tasks.make_confusion_em_from_votes_and_gold(), hard
        self.fixed = fixed_prior  # (n_labels,) the prior, if it is not learnt
        self.pseudo = pseudo_counts  # (said, true) counts that are added to those of each worker
        self.counts: Counts | None = None  # of the latest pass

    def initial_params(self, earlier_fit: Fit | None) -> Params:
        """Return parameters from the earlier fit, else from vote shares, or from majority labels (ties split) if EM is hard."""
        if (params := self.tasks.warm_start_params(self.em, earlier_fit)) is not None:
            return params
        posterior = self.tasks.initial_posterior(earlier_fit)
        if self.hard:
            best = posterior >= posterior.max(1, keepdims=True, initial=0) - 1e-9
            posterior = best / best.sum(1, keepdims=True)
        return self.m_step(self.em.expected_task_and_vote_counts(posterior))

    def em_pass(self, params: Params) -> tuple[Params, float]:
        """Run one E-step and M-step: return (updated parameters, objective at `params`); store expected counts in `counts`."""
        self.counts, objective = self.em.expected_counts_and_log_likelihood(params, hard=self.hard)
        if self.pseudo.any():
            objective += float((self.pseudo * self.em.worker_said_true_view(params.log_confusion).sum(0)).sum())
        return self.m_step(self.counts), objective

    def m_step(self, counts: Counts) -> Params:
        """Return the label prior and confusion matrices that maximise the objective, given expected vote counts."""
        return Params(log_label_prior(counts.n_true, self.fixed), self.em.m_step(counts.confusion, self.pseudo))

    def run_em_and_set_pooled_pseudo_counts(
        self, params: Params, strength: float, max_passes: int, progress: Progress, progress_total: int
    ) -> tuple[Params, int]:
        """Run EM until the pooled confusion matrix of all workers converges; make it `pseudo`. Return (params, passes run)."""
        base, before = self.pseudo, np.full_like(self.pseudo, np.inf)
        for step in range(max_passes):
            counts, _ = self.em.expected_counts_and_log_likelihood(params)
            said = self.em.worker_said_true_view(counts.confusion).sum(0)  # (said, true) counts of all workers
            pooled = np.where(said.sum(0) > 0, said / np.maximum(said.sum(0), 1e-300), 1 / self.em.n_labels)
            self.pseudo = base + strength * pooled
            params = self.m_step(counts)
            progress(step, AtMost(progress_total), None)
            if np.abs(pooled - before).max() < POOL_TOL:
                return params, step + 1
            before = pooled
        return params, max_passes

    def fit_from_em_result(self, made_by: str, result: EMResult[Params]) -> Fit:
        """Return the result of Dawid-Skene's EM as a `Fit`, with worker accuracies and their 95% intervals."""
        params, votes, prior = result.params, self.tasks.votes, np.exp(result.params.log_prior)
        posterior, agree = self.em.posterior_and_agreeing_weight_per_worker(params)
        confusion = Confusion(
            self.em.confusion_matrices_from_flat_logs(params.log_confusion), votes.workers, votes.labels
        )
        ability = worker_accuracy(confusion.matrices, prior)
        low, high = accuracy_interval_when_read(votes, self.tasks.gold, self.fixed)
        return Fit(
            self.tasks.soft_labels_of_all_tasks(posterior, prior),
            votes.workers,
            made_by,
            prior=prior,
            confusion=confusion,
            ability=ability,
            ability_low=low,
            ability_high=high,
            trace=result.trace,
            converged=result.converged,
            found={"passes": result.passes, "left_out": self.tasks.agreeing_share_per_worker(agree)},
        )
