"""EBCC: confusion matrices that differ between subtypes of tasks."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.aggregate._contract import EMAggregator, accelerate_option, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.dirichlet_priors import (
    DIAGONAL_HELP,
    OFF_DIAGONAL_HELP,
    LabelPrior,
    confusion_pseudo_counts,
    posterior_mean_confusion,
    worker_accuracy_means,
)
from plurivox.aggregate._shared.tasks_without_gold import ClampedTasks, posterior_to_soft_labels
from plurivox.aggregate._shared.worker_accuracy_intervals import accuracy_interval_when_read
from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import KeyedVotes
from plurivox.engine.dirichlet_expected_logs import dirichlet_expected_logs_and_minus_kl, dirichlet_kernel_calls
from plurivox.engine.ebcc_subtype_em import (
    TASKS_PER_CHUNK,
    SubtypeCounts,
    SubtypeEM,
    SubtypeParams,
    subtype_kernel_calls,
)
from plurivox.engine.em import EMResult, best_em_result_and_index, run_em_together
from plurivox.engine.second_compiler import KernelCall

MIN_LABEL_COUNT = 1e-3  # pseudo-count of a label without votes, if the pseudo-counts are vote shares


@dataclass(frozen=True)
class Ebcc(EMAggregator):
    """IBCC with subtypes of tasks within each label: models workers who make correlated errors.

    Workers who are wrong on the same tasks are not independent. Here the tasks of each label are a mixture of `subtypes`, and
    a worker's confusion matrix has a row per subtype. Dirichlet priors: `diagonal` and `off_diagonal` on the rows, `sparsity` /
    subtypes on the subtypes of a label, and on the label frequencies `label_count` each, or the vote shares summed over all
    tasks. Variational Bayes as in ibcc. The first start puts each label into one subtype, which is IBCC; the others are
    random; the start with the highest lower bound is kept. Ability is a worker's mean probability of a right vote; its
    interval is that of a hierarchical model of independent errors (see `Fit`), too narrow if errors are correlated.

    Li, Rubinstein & Cohn (2019), Exploiting worker correlation for label aggregation in crowdsourcing,
    https://proceedings.mlr.press/v97/li19i.html

    >>> votes = Votes.of(task=list("aaabbbcccddd"), worker=[1, 2, 3] * 4, label=list("xxyyyyxxxyyx"))
    >>> Ebcc(subtypes=2).fit(votes).soft.hard().tolist()
    ['x', 'y', 'x', 'y']
    """

    subtypes: int = option(10, "number of subtypes of tasks within each label", low=1)
    starts: int = option(
        10, "number of starts; the result with the highest objective is kept (the authors use 40)", low=1
    )
    seed: int = option(0, "random seed of the starts", low=0)
    diagonal: float = option(4.0, DIAGONAL_HELP, low=1e-6)
    off_diagonal: float = option(1.0, OFF_DIAGONAL_HELP, low=1e-6)
    sparsity: float = option(
        0.1,
        "total pseudo-count of the Dirichlet prior of the subtypes of a label; small values keep few subtypes",
        low=1e-6,
    )
    label_count: float | None = option(
        None,
        "pseudo-count per label, in the Dirichlet prior of the label frequencies; none: sum of its vote shares",
        low=1e-6,
    )
    prior: str = prior_option()
    max_iter: int = max_iter_option(200, " per start")
    tol: float = tol_option()
    accelerate: bool = accelerate_option()

    estimates: ClassVar[Estimand] = "truth"
    numbers_workers_and_labels: ClassVar[bool] = True

    def estimated_worker_table_floats(self, votes: Votes) -> int:
        table = votes.n_workers * votes.n_labels**2 * self.subtypes
        chunk = min(votes.n_tasks, TASKS_PER_CHUNK) * votes.n_labels * self.subtypes
        return (10 * self.starts + 4) * table + chunk + len(votes) * votes.n_labels // 8

    def kernel_calls(self, votes: Votes) -> list[KernelCall]:
        return [*dirichlet_kernel_calls(), *subtype_kernel_calls(KeyedVotes.without_rows(votes), votes.n_labels)]

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        model = _Model(self, ClampedTasks(votes, gold, start))
        starts = [model.initial_expected_counts(i) for i in range(self.starts)]
        return model.fit_from_em_result(
            *best_em_result_and_index(
                run_em_together(model.em_pass, starts, **self.run_em_arguments(votes, progress, model))
            )
        )


class _Model:
    """EBCC model of given votes. A kind is a subtype of a label; kinds that lose all their tasks are dropped."""

    def __init__(self, method: Ebcc, tasks: ClampedTasks) -> None:
        self.method, self.tasks, votes = method, tasks, tasks.votes
        self.n_labels, self.n_kinds = votes.n_labels, votes.n_labels * method.subtypes
        keyed = KeyedVotes.from_columns_adding_keys(tasks.start, tasks.worker, tasks.said, tasks.weight, self.n_labels)
        known = tasks.posterior[tasks.clamped]
        self.em = SubtypeEM(keyed, tasks.clamped, known, votes.n_workers, method.subtypes)
        rows = confusion_pseudo_counts(self.n_labels, method.diagonal, method.off_diagonal)
        self.pseudo = np.repeat(rows, method.subtypes, 1)  # (said, kind)
        self.within = np.full((method.subtypes, self.n_labels), method.sparsity / method.subtypes)
        pseudo = (
            np.maximum(tasks.vote_shares_of_open_tasks().sum(0), MIN_LABEL_COUNT)
            if method.label_count is None
            else method.label_count
        )
        self.labels = LabelPrior(np.full(self.n_labels, pseudo), method.fixed_prior(votes.labels))

    def initial_expected_counts(self, start_number: int) -> SubtypeCounts:
        """Return initial expected counts: each label in its first subtype (start 0), or split over its subtypes at random."""
        posterior, n_subtypes = self.tasks.posterior, self.method.subtypes
        if start_number == 0:
            return self.em.expected_task_and_vote_counts(
                np.arange(self.n_labels) * n_subtypes, lambda first_task, end_task: posterior[first_task:end_task]
            )

        def random_subtype_posteriors(first_task: int, end_task: int) -> Floats:
            rng = np.random.default_rng([self.method.seed, start_number, first_task])
            share = rng.standard_exponential((end_task - first_task, self.n_labels, n_subtypes))
            share *= (posterior[first_task:end_task] / share.sum(2))[:, :, None]
            return share.reshape(-1, self.n_kinds)

        return self.em.expected_task_and_vote_counts(np.arange(self.n_kinds), random_subtype_posteriors)

    def expected_log_params_and_minus_kl(self, counts: SubtypeCounts) -> tuple[SubtypeParams, float]:
        """Return (E[log] of EBCC's frequencies and confusion matrices, -KL from their priors), given expected counts."""
        by_label = self._expected_tasks_per_subtype(counts)
        log_label, first = self.labels.expected_log_frequencies_and_minus_kl(by_label.sum(1) + self.tasks.n_unvoted)
        log_within, second = dirichlet_expected_logs_and_minus_kl(np.ascontiguousarray(by_label.T).ravel(), self.within)
        pseudo = np.ascontiguousarray(self.pseudo[:, counts.kinds])
        table, third = dirichlet_expected_logs_and_minus_kl(counts.counts.ravel(), pseudo, self.em.n_workers)
        log_kind = (log_label[:, None] + log_within.reshape(self.within.shape).T).ravel()
        value = first + second + third + float(self.tasks.n_unvoted @ log_label)
        return SubtypeParams(counts.kinds, log_kind[counts.kinds], table.reshape(counts.counts.shape)), value

    def _expected_tasks_per_subtype(self, counts: SubtypeCounts) -> Floats:
        """(n_labels, n_subtypes) the expected number of tasks of each subtype of each label."""
        n_kind = np.zeros(self.n_kinds)
        n_kind[counts.kinds] = counts.n_kind
        return n_kind.reshape(self.n_labels, -1)

    def em_pass(self, runs: list[SubtypeCounts]) -> list[tuple[SubtypeCounts, float]]:
        """Run one EM pass for several starts together: return (updated counts, lower bound before the update) for each."""
        expected = [self.expected_log_params_and_minus_kl(counts) for counts in runs]
        passed = self.em.expected_counts_and_log_likelihoods([params for params, _ in expected])
        return [(updated, value + bound) for (_, value), (updated, bound) in zip(expected, passed, strict=True)]

    def fit_from_em_result(self, result: EMResult[SubtypeCounts], best_start: int) -> Fit:
        """Return the best run of EBCC's EM as a `Fit`, with the number of its start; updates `tasks.posterior`."""
        tasks, votes, counts = self.tasks, self.tasks.votes, result.params
        posterior, agree = self.em.posterior_and_agreeing_weight_per_worker(
            self.expected_log_params_and_minus_kl(counts)[0]
        )
        tasks.posterior[~tasks.clamped] = posterior
        by_label = self._expected_tasks_per_subtype(counts)
        prior, within = self.labels.mean_label_frequencies(by_label.sum(1) + tasks.n_unvoted), by_label + self.within.T
        kinds = (prior[:, None] * within / within.sum(1, keepdims=True)).ravel()
        matrices = np.tile(self.pseudo, (votes.n_workers, 1, 1))
        matrices[:, :, counts.kinds] += counts.counts.reshape(votes.n_workers, self.n_labels, -1)
        low, high = accuracy_interval_when_read(votes, tasks.known, self.labels.fixed)
        return Fit(
            posterior_to_soft_labels(votes, tasks.posterior_of_all_tasks(prior)),
            votes.workers,
            self.method.spec,
            prior=prior,
            confusion=posterior_mean_confusion(matrices, kinds, votes),
            ability=worker_accuracy_means(matrices, kinds),
            ability_low=low,
            ability_high=high,
            trace=result.trace,
            converged=result.converged,
            found={
                "passes": result.passes,
                "start kept": best_start,
                "left_out": tasks.agreeing_share_per_worker(agree),
            },
        )

    # ---- SQUAREM extrapolates the counts

    def params_to_squarem_vector(self, params: SubtypeCounts) -> Floats:
        """Return all expected counts as one vector, for SQUAREM."""
        return np.concatenate([params.n_kind, params.counts.ravel()])

    def params_from_squarem_vector(self, vector: Floats, like: SubtypeCounts) -> SubtypeCounts:
        """Return a SQUAREM vector as expected counts again, negative values set to 0, with the subtypes of `like`."""
        n_kind, counts = np.split(np.maximum(vector, 0), [len(like.kinds)])
        return SubtypeCounts(like.kinds, n_kind, counts.reshape(like.counts.shape))
