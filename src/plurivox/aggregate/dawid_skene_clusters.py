"""Dawid-Skene with worker clusters: workers of a cluster share one confusion matrix."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import softmax

from plurivox.aggregate._contract import EMAggregator, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.tasks_without_gold import TasksWithoutGold, log_label_prior
from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import Counts, Params, worker_accuracy
from plurivox.engine.em import EMResult, run_em
from plurivox.engine.kernels.confusion_m_step import TINY

NOISE = 0.1  # standard deviation of the noise added to the vote shares of a restart
FIRST_PSEUDO_COUNT = 1e-10  # in the workers' first matrices


@dataclass(frozen=True)
class DawidSkeneClusters(EMAggregator):
    """Dawid-Skene with clusters of workers: the workers of a cluster share one confusion matrix.

    A task has label k with probability prior_k, a worker belongs to cluster l with probability size_l, and the worker's votes
    follow the matrix of the cluster. Mean-field variational EM updates q(label of a task), q(cluster of a worker), and prior,
    sizes and matrices in turn, so that the lower bound on the likelihood (the trace) never decreases. The start is vote shares,
    with workers sorted by the nuclear norm of their own matrices and divided into clusters of equal size. If all tasks get
    the same label, EM restarts from vote shares with noise, at most `restarts` times. Confusion holds for each worker the
    matrix of its most probable cluster; `found["cluster"]` is that cluster. `published` updates labels and clusters both from
    the previous state instead of in turn: that reproduces the numbers of Lefort et al.
    (`plurivox recipe peerannot-tables`), but the bound may decrease.

    Imamura, Sato & Sugiyama (2018), https://proceedings.mlr.press/v80/imamura18a.html; "DSWC" in Lefort et al. (2024),
    https://doi.org/10.57750/qmaz-gr91

    >>> votes = Votes.of(task=sorted("abcdef" * 5), worker=[1, 2, 3, 4, 5] * 6, label="xxxxxyyyxx" * 3)
    >>> DawidSkeneClusters(clusters=2).fit(votes).found["cluster"]  # the last two workers always say x
    array([0, 0, 0, 1, 1])
    """

    clusters: int = option(2, "number of clusters of workers", low=1)
    prior: str = prior_option()
    max_iter: int = max_iter_option(500, " per start")
    tol: float = tol_option(1e-7)
    published: bool = option(
        False, "update labels and clusters from the previous state, as in the released code; the bound may decrease"
    )
    restarts: int = option(10, "maximum number of restarts if all tasks get the same label", low=0)
    seed: int = option(0, "random seed of the noise of restarts", low=0)

    estimates: ClassVar[Estimand] = "truth"
    numbers_workers_and_labels: ClassVar[bool] = True

    def estimated_worker_table_floats(self, votes: Votes) -> int:
        return 6 * votes.n_workers * votes.n_labels**2 + len(votes) * votes.n_labels // 8

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        tasks, rng = TasksWithoutGold(votes, gold), np.random.default_rng(self.seed)
        n_clusters = min(self.clusters, votes.n_workers)
        if not n_clusters:
            raise InputError(f"{self.name()} needs at least one worker; the votes have none")
        model = _Clusters(tasks, n_clusters, self.fixed_prior(votes.labels), lagged=self.published)
        first = tasks.initial_posterior(start)
        for attempt in range(self.restarts + 1):  # noqa: B007
            params = model.initial_worker_cluster_params(model.em.expected_task_and_vote_counts(first))
            result = run_em(
                model.em_pass, params, **self.run_em_arguments(votes, progress), objective_may_fall=self.published
            )
            posterior, agree = model.em.posterior_and_agreeing_weight_per_worker(
                model.expected_log_params_per_worker(result.params)
            )
            if not _all_tasks_certain_of_same_label(posterior) or _all_tasks_certain_of_same_label(
                tasks.vote_shares_of_open_tasks()
            ):
                break
            noisy = np.clip(tasks.vote_shares_of_open_tasks() + rng.normal(0, NOISE, first.shape), 1e-6, 1)
            first = noisy / noisy.sum(1, keepdims=True)
        found = {"restarts": attempt, "passes": result.passes, "left_out": tasks.agreeing_share_per_worker(agree)}
        return model.fit_from_em_result(self.spec, result, posterior, found)


class _ClusterParams(NamedTuple):
    """Parameters of Dawid-Skene with worker clusters: log prior, sizes and matrices, and each worker's cluster posterior."""

    log_prior: Floats  # (n_labels,)
    log_size: Floats  # (n_clusters,)
    log_matrix: Floats  # (n_clusters, said, true)
    q_cluster: Floats  # (n_workers, n_clusters) the posterior of each worker's cluster
    last_counts: Floats | None = None  # (n_workers, said * true) counts of the pass before, if `lagged`


class _Clusters:
    """Dawid-Skene model with worker clusters; if `lagged`, q(cluster) uses the labels of the previous pass, as published."""

    def __init__(
        self, tasks: TasksWithoutGold, n_clusters: int, fixed_prior: Floats | None, *, lagged: bool = False
    ) -> None:
        self.tasks, self.em = tasks, tasks.make_confusion_em_from_votes_and_gold()
        self.n, self.lagged = n_clusters, lagged
        self.fixed = fixed_prior  # (n_labels,) the prior, if it is not learnt

    def initial_worker_cluster_params(self, counts: Counts) -> _ClusterParams:
        """Return initial parameters: workers sorted by the nuclear norm of their matrices, cut into clusters of equal size."""
        em = self.em
        own = np.exp(
            em.worker_said_true_view(
                em.m_step(counts.confusion, np.full((em.n_labels, em.n_labels), FIRST_PSEUDO_COUNT))
            )
        )
        norm = np.linalg.svd(own, compute_uv=False).sum(1)
        rank = np.argsort(np.argsort(-norm, kind="stable"))
        edges = np.arange(1, self.n) * em.n_workers // self.n
        q_cluster = np.eye(self.n)[np.searchsorted(edges, rank, side="right")]
        mean = np.einsum("wl,wsk->lsk", q_cluster, own) / q_cluster.sum(0)[:, None, None]
        last = em.worker_said_true_view(counts.confusion).reshape(em.n_workers, -1) if self.lagged else None
        prior = log_label_prior(counts.n_true, self.fixed)
        return _ClusterParams(
            prior, _log_of_shares_floored(q_cluster.mean(0)), _log_of_shares_floored(mean), q_cluster, last
        )

    def expected_log_params_per_worker(self, params: _ClusterParams) -> Params:
        """Return the log prior and each worker's expected log confusion matrix under the posterior of the worker's cluster."""
        tensor = params.q_cluster @ params.log_matrix.reshape(self.n, -1)
        return Params(
            params.log_prior,
            self.em.flat_table_with_spare_cells_at_end(tensor.reshape(-1, *params.log_matrix.shape[1:])),
        )

    def em_pass(self, params: _ClusterParams) -> tuple[_ClusterParams, float]:
        """Run one EM pass: update q(label), q(cluster) and parameters; return (new parameters, lower bound at `params`)."""
        counts, bound = self.em.expected_counts_and_log_likelihood(self.expected_log_params_per_worker(params))
        bound += float((params.q_cluster * (params.log_size - _log_of_shares_floored(params.q_cluster))).sum())
        said = self.em.worker_said_true_view(counts.confusion).reshape(self.em.n_workers, -1)
        counted = said if params.last_counts is None else params.last_counts
        logit = params.log_size + counted @ params.log_matrix.reshape(self.n, -1).T
        return self.m_step(counts.n_true, softmax(logit, axis=1), said), bound

    def m_step(self, tasks_per_label: Floats, q_cluster: Floats, vote_counts: Floats) -> _ClusterParams:
        """Return prior, cluster sizes and cluster matrices, from q(cluster) and expected vote counts of the workers."""
        shape = self.n, self.em.n_labels, self.em.n_labels
        said = (q_cluster.T @ vote_counts).reshape(shape)
        total = said.sum(1, keepdims=True)
        share = np.where(total > 0, said / np.where(total > 0, total, 1), 1 / shape[1])
        last, prior = vote_counts if self.lagged else None, log_label_prior(tasks_per_label, self.fixed)
        return _ClusterParams(
            prior, _log_of_shares_floored(q_cluster.mean(0)), _log_of_shares_floored(share), q_cluster, last
        )

    def fit_from_em_result(
        self, made_by: str, result: EMResult[_ClusterParams], posterior: Floats, other_results: dict[str, object]
    ) -> Fit:
        """Return the result of EM with worker clusters as a `Fit`; `other_results` are added to its field `found`."""
        params, votes = result.params, self.tasks.votes
        cluster, prior = params.q_cluster.argmax(1), np.exp(params.log_prior)
        matrices = np.exp(params.log_matrix).transpose(0, 2, 1)
        return Fit(
            self.tasks.soft_labels_of_all_tasks(posterior, prior),
            votes.workers,
            made_by,
            prior=prior,
            confusion=Confusion(matrices, votes.workers, votes.labels, which=cluster),
            ability=worker_accuracy(matrices, prior)[cluster],
            trace=result.trace,
            converged=result.converged,
            found={"cluster": cluster, **other_results},
        )


def _log_of_shares_floored(share: Floats) -> Floats:
    """Return the elementwise logarithm of shares; shares below TINY count as TINY, so that the result is finite."""
    return np.log(np.maximum(share, TINY))


def _all_tasks_certain_of_same_label(soft_labels: Floats) -> bool:
    """Return whether there are several tasks and all their soft labels are certain of the same label."""
    return len(soft_labels) > 1 and bool(soft_labels.sum(0).max() > len(soft_labels) - 1e-6)
