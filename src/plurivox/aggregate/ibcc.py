"""IBCC: Bayesian Dawid-Skene, with Dirichlet priors."""

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
from plurivox.aggregate._shared.tasks_without_gold import TasksWithoutGold
from plurivox.aggregate._shared.worker_accuracy_intervals import accuracy_interval_when_read
from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import ConfusionEM, Counts, KeyedVotes, Params, confusion_kernel_calls
from plurivox.engine.dirichlet_expected_logs import dirichlet_expected_logs_and_minus_kl, dirichlet_kernel_calls
from plurivox.engine.em import EMResult, run_em
from plurivox.engine.kernels.simd_vector_type import flatten_align_and_pad
from plurivox.engine.second_compiler import KernelCall


@dataclass(frozen=True)
class Ibcc(EMAggregator):
    """Bayesian Dawid-Skene: confusion matrices with Dirichlet priors, estimated by variational Bayes.

    Each row of a worker's matrix has a Dirichlet prior with `diagonal` on the true label and `off_diagonal` on every other
    label; the label frequencies have one with `label_count` on each. The posterior is approximated by independent
    distributions q of labels, matrices and frequencies, which a pass updates: q(task has k) is proportional to exp(E log
    prior_k + sum over votes of weight * E log matrix_worker[k, said]), and the Dirichlet counts are expected counts under q.
    The objective is the lower bound on the evidence. Ability is a worker's mean accuracy on a task drawn from the prior; its
    interval is that of a hierarchical model with unknown labels (see `Fit`). `found["left_out"]` is the leave-one-out
    agreement: the share of a worker's votes that agree with the other votes on their tasks (or the gold label).

    Kim & Ghahramani (2012), https://proceedings.mlr.press/v22/kim12.html; Simpson, Roberts, Psorakis & Smith (2013),
    https://doi.org/10.1007/978-3-642-36406-8_1; default priors: Li, Rubinstein & Cohn (2019),
    https://proceedings.mlr.press/v97/li19i.html

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> fit = Ibcc().fit(votes)
    >>> fit.soft.hard().tolist(), fit.ability.round(2)
    (['x', 'y', 'x'], array([0.84, 0.84, 0.7 ]))
    """

    diagonal: float = option(4.0, DIAGONAL_HELP, low=1e-6)
    off_diagonal: float = option(1.0, OFF_DIAGONAL_HELP, low=1e-6)
    label_count: float = option(
        1.0, "pseudo-count per label, in the Dirichlet prior of the label frequencies", low=1e-6
    )
    prior: str = prior_option()
    max_iter: int = max_iter_option(200)
    tol: float = tol_option()
    accelerate: bool = accelerate_option()

    estimates: ClassVar[Estimand] = "truth"
    numbers_workers_and_labels: ClassVar[bool] = True

    def estimated_worker_table_floats(self, votes: Votes) -> int:
        return 13 * votes.n_workers * votes.n_labels**2 + len(votes) * votes.n_labels // 8

    def kernel_calls(self, votes: Votes) -> list[KernelCall]:
        return [
            *dirichlet_kernel_calls(),
            *confusion_kernel_calls(KeyedVotes.without_rows(votes), votes.n_labels)[1::2],
        ]

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        tasks = TasksWithoutGold(votes, gold)
        labels = LabelPrior(np.full(votes.n_labels, self.label_count), self.fixed_prior(votes.labels))
        pseudo = confusion_pseudo_counts(votes.n_labels, self.diagonal, self.off_diagonal)
        model = _Model(tasks, tasks.make_confusion_em_from_votes_and_gold(), labels, pseudo)
        result = run_em(
            model.em_pass, model.initial_expected_counts(start), **self.run_em_arguments(votes, progress, model)
        )
        return model.fit_from_em_result(self.spec, result)


@dataclass(frozen=True)
class _Model:
    """IBCC model of given votes. Its parameters are expected counts, which determine the Dirichlet posteriors."""

    tasks: TasksWithoutGold
    em: ConfusionEM
    labels: LabelPrior
    pseudo: Floats  # (said, true)

    def initial_expected_counts(self, earlier_fit: Fit | None) -> Counts:
        """Return initial expected counts: under the matrices of the earlier fit, else from its posterior or vote shares."""
        params = self.tasks.warm_start_params(self.em, earlier_fit)
        return (
            self.em.expected_task_and_vote_counts(self.tasks.initial_posterior(earlier_fit))
            if params is None
            else self.em.expected_counts_and_log_likelihood(params)[0]
        )

    def expected_log_params_and_minus_kl(self, counts: Counts) -> tuple[Params, float]:
        """Return (E[log] of label prior and confusion matrices, -KL from their Dirichlet priors), given expected counts."""
        log_prior, first = self.labels.expected_log_frequencies_and_minus_kl(counts.n_true)
        log_confusion, second = dirichlet_expected_logs_and_minus_kl(counts.confusion, self.pseudo, self.em.n_workers)
        return Params(log_prior, log_confusion), first + second

    def em_pass(self, counts: Counts) -> tuple[Counts, float]:
        """Run one pass of variational EM: return (updated expected counts, lower bound on the log evidence at `counts`)."""
        params, minus_kl = self.expected_log_params_and_minus_kl(counts)
        updated, log_likelihood = self.em.expected_counts_and_log_likelihood(params)
        return updated, minus_kl + log_likelihood

    def fit_from_em_result(self, made_by: str, result: EMResult[Counts]) -> Fit:
        """Return the result of IBCC's variational EM as a `Fit`, with worker accuracies and their 95% credible intervals."""
        counts, votes = result.params, self.tasks.votes
        prior = self.labels.mean_label_frequencies(counts.n_true)
        params, _ = self.expected_log_params_and_minus_kl(counts)
        posterior, agree = self.em.posterior_and_agreeing_weight_per_worker(params)
        dirichlet = self.em.worker_said_true_view(counts.confusion) + self.pseudo
        low, high = accuracy_interval_when_read(votes, self.tasks.gold, self.labels.fixed)
        return Fit(
            self.tasks.soft_labels_of_all_tasks(posterior, np.exp(params.log_prior)),
            votes.workers,
            made_by,
            prior=prior,
            confusion=posterior_mean_confusion(dirichlet, prior, votes),
            ability=worker_accuracy_means(dirichlet, prior),
            ability_low=low,
            ability_high=high,
            trace=result.trace,
            converged=result.converged,
            found={"passes": result.passes, "left_out": self.tasks.agreeing_share_per_worker(agree)},
        )

    # ---- SQUAREM extrapolates the counts

    def params_to_squarem_vector(self, counts: Counts) -> Floats:
        return np.concatenate([counts.n_true, counts.confusion[: self.em.n_cells]])

    def params_from_squarem_vector(self, vector: Floats, _: Counts) -> Counts:
        n_true, counts = np.split(np.maximum(vector, 0), [self.em.n_labels])
        return Counts(n_true, flatten_align_and_pad(counts))
