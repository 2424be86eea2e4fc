"""Dawid-Skene with worker clusters: workers of a cluster share one confusion matrix."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from plurivox.aggregate._contract import EMAggregator, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.open_tasks import UnlabelledTasks, log_prior
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import Counts, Params, accuracy
from plurivox.engine.em import EMResult, run_em
from plurivox.engine.kernels.confusion_tables import TINY

NOISE = 0.1  # spread of what is added to the vote shares of a new start
EMPTY = 1e-10  # added to what a worker said before its first matrix is made


@dataclass(frozen=True)
class DawidSkeneClusters(EMAggregator):
    """Workers fall into clusters, and those of a cluster share one confusion matrix.

    A task has the label k with chance prior_k, a worker belongs to cluster l with chance size_l, and its votes follow
    the matrix of its cluster. Mean-field: q(label of a task) and q(cluster of a worker) in turn with prior, sizes and
    matrices, so that the bound on the likelihood (the trace) never falls. It begins with vote shares and with the
    workers in the order of the nuclear norm of their own matrices, cut into runs of equal length. Where all tasks fall
    to one label it starts again from vote shares with noise, at most `restarts` times. Confusion gives each worker the
    matrix of its likeliest cluster; `found["cluster"]` says which that is. `published` takes labels and clusters both
    from the state before instead of in turn: that gives the figures of Lefort et al., but the bound may fall.

    Imamura, Sato & Sugiyama (2018), https://proceedings.mlr.press/v80/imamura18a.html; "DSWC" in Lefort et al. (2024),
    https://doi.org/10.57750/qmaz-gr91

    >>> votes = Votes.of(task=sorted("abcdef" * 5), worker=[1, 2, 3, 4, 5] * 6, label="xxxxxyyyxx" * 3)
    >>> DawidSkeneClusters(clusters=2).fit(votes).found["cluster"]  # the last two say x whatever they see
    array([0, 0, 0, 1, 1])
    """

    clusters: int = option(2, "how many clusters of workers", low=1)
    prior: str = prior_option()
    max_iter: int = max_iter_option(500, ", in each start")
    tol: float = tol_option(1e-7)
    published: bool = option(
        False, "labels and clusters both from the state before, as in the released code; the bound may fall"
    )
    restarts: int = option(10, "most new starts when all tasks fall to one label", low=0)
    seed: int = option(0, "chooses the noise of new starts", low=0)

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        self.check_memory(votes)
        tasks, rng = UnlabelledTasks(votes, gold), np.random.default_rng(self.seed)
        n_clusters = min(self.clusters, votes.n_workers)
        if not n_clusters:
            raise InputError(f"{self.name()} needs at least one worker; the votes name none")
        model = _Clusters(tasks, n_clusters, self.fixed_prior(votes.labels), lagged=self.published)
        first = tasks.first_posterior(start)
        for attempt in range(self.restarts + 1):  # noqa: B007
            params = model.first_params(model.em.expected_counts(first))
            result = run_em(model.em_pass, params, **self.em_settings(votes, progress), may_fall=self.published)
            posterior, agree = model.em.posterior(model.worker_params(result.params))
            if not _all_alike(posterior) or _all_alike(tasks.vote_shares()):
                break
            noisy = np.clip(tasks.vote_shares() + rng.normal(0, NOISE, first.shape), 1e-6, 1)
            first = noisy / noisy.sum(1, keepdims=True)
        found = {"restarts": attempt, "passes": result.passes, "left_out": tasks.left_out(agree)}
        return model.to_fit(self.spec, result, posterior, found)


class _ClusterParams(NamedTuple):
    log_prior: Floats  # (n_labels,)
    log_size: Floats  # (n_clusters,)
    log_matrix: Floats  # (n_clusters, said, true)
    q_cluster: Floats  # (n_workers, n_clusters) the posterior of each worker's cluster
    last_counts: Floats | None = None  # (n_workers, said * true) the counts before, where clusters lag behind labels


class _Clusters:
    """The model on some votes. `lagged`: q(cluster) follows from the labels of the pass before, as published."""

    def __init__(self, tasks: UnlabelledTasks, n_clusters: int, fixed: Floats | None, *, lagged: bool = False) -> None:
        self.tasks, self.em, self.n, self.lagged = tasks, tasks.confusion_em(), n_clusters, lagged
        self.fixed = fixed  # (n_labels,) the prior, where it is not learnt

    def first_params(self, counts: Counts) -> _ClusterParams:
        """Workers by the nuclear norm of their matrices, largest first, in runs of equal length."""
        em = self.em
        own = np.exp(em.tensor(em.m_step(counts.confusion, np.full((em.n_labels, em.n_labels), EMPTY))))
        norm = np.linalg.svd(own, compute_uv=False).sum(1)
        rank = np.argsort(np.argsort(-norm, kind="stable"))
        edges = np.arange(1, self.n) * em.n_workers // self.n
        q_cluster = np.eye(self.n)[np.searchsorted(edges, rank, side="right")]
        mean = np.einsum("wl,wsk->lsk", q_cluster, own) / q_cluster.sum(0)[:, None, None]
        last = em.tensor(counts.confusion).reshape(em.n_workers, -1) if self.lagged else None
        prior = log_prior(counts.n_true, self.fixed)
        return _ClusterParams(prior, _log(q_cluster.mean(0)), _log(mean), q_cluster, last)

    def worker_params(self, params: _ClusterParams) -> Params:
        """Each worker's expected log matrix, for the passes over the votes."""
        tensor = params.q_cluster @ params.log_matrix.reshape(self.n, -1)
        return Params(params.log_prior, self.em.table(tensor.reshape(-1, *params.log_matrix.shape[1:])))

    def em_pass(self, params: _ClusterParams) -> tuple[_ClusterParams, float]:
        """One pass: q of the labels, q of the clusters, then parameters; and the bound of those given."""
        counts, bound = self.em.em_pass(self.worker_params(params))
        bound += float((params.q_cluster * (params.log_size - _log(params.q_cluster))).sum())
        said = self.em.tensor(counts.confusion).reshape(self.em.n_workers, -1)
        seen = said if params.last_counts is None else params.last_counts
        logit = params.log_size + seen @ params.log_matrix.reshape(self.n, -1).T
        return self.m_step(counts.n_true, softmax(logit, axis=1), said), bound

    def m_step(self, n_true: Floats, q_cluster: Floats, counts: Floats) -> _ClusterParams:
        """Prior, sizes and matrices of the clusters, from (n_workers, said * true) counts."""
        shape = self.n, self.em.n_labels, self.em.n_labels
        said = (q_cluster.T @ counts).reshape(shape)
        total = said.sum(1, keepdims=True)
        share = np.where(total > 0, said / np.where(total > 0, total, 1), 1 / shape[1])
        last, prior = counts if self.lagged else None, log_prior(n_true, self.fixed)
        return _ClusterParams(prior, _log(q_cluster.mean(0)), _log(share), q_cluster, last)

    def to_fit(
        self, made_by: str, result: EMResult[_ClusterParams], posterior: Floats, found: dict[str, object]
    ) -> Fit:
        """The result of EM as a fit."""
        params, votes = result.params, self.tasks.votes
        cluster, prior = params.q_cluster.argmax(1), np.exp(params.log_prior)
        matrices = np.exp(params.log_matrix).transpose(0, 2, 1)
        return Fit(
            self.tasks.soft_labels(posterior, prior),
            votes.workers,
            made_by,
            prior=prior,
            confusion=Confusion(matrices, votes.workers, votes.labels, which=cluster),
            ability=accuracy(matrices, prior)[cluster],
            trace=result.trace,
            converged=result.converged,
            found={"cluster": cluster, **found},
        )


def _log(share: Floats) -> Floats:
    return np.log(np.maximum(share, TINY))


def _all_alike(prob: Floats) -> bool:
    """Whether all tasks, of more than one, have the same label for certain."""
    return len(prob) > 1 and bool(prob.sum(0).max() > len(prob) - 1e-6)
