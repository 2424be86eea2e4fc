"""Dawid-Skene with worker clusters: workers of a cluster share one confusion matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.confusion_model import accuracy
from plurivox.aggregate._shared.em_options import PRIOR_HELP, TOL_HELP, check_room, fixed_prior, log_prior, soft_labels
from plurivox.aggregate._shared.keyed_votes import Crowd, Params, Sums
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.em import Climb, climb
from plurivox.engine.kernels.confusion_tables import TINY

NOISE = 0.1  # spread of what is added to the vote shares of a new start
EMPTY = 1e-10  # added to what a worker said before its first matrix is made


@dataclass(frozen=True)
class DawidSkeneClusters(Aggregator):
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
    prior: str = option("learnt", PRIOR_HELP)
    max_iter: int = option(500, "most passes over the votes, in each start", low=1)
    tol: float = option(1e-7, TOL_HELP, low=0)
    published: bool = option(
        False, "labels and clusters both from the state before, as in the released code; the bound may fall"
    )
    restarts: int = option(10, "most new starts when all tasks fall to one label", low=0)
    seed: int = option(0, "chooses the noise of new starts", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        check_room(votes, self.name())
        crowd, chance = Crowd(votes, gold), np.random.default_rng(self.seed)
        n_clusters = min(self.clusters, votes.n_workers)
        if not n_clusters:
            raise InputError(f"{self.name()} needs at least one worker; the votes name none")
        model = _Clusters(crowd, n_clusters, fixed_prior(self.prior, votes.labels), self.published)
        follow = _follow if self.published else climb
        guess = crowd.first_guess(start)
        for attempt in range(self.restarts + 1):  # noqa: B007
            state = model.begin(crowd.count(guess))
            end = follow(model.sweep, state, max_iter=self.max_iter, tol=self.tol * votes.n_answers, watch=watch)
            posterior, left_out = crowd.believe(model.params(end.state))
            if not _all_alike(posterior[crowd.open]) or _all_alike(crowd.vote_shares()):
                break
            noisy = np.clip(crowd.vote_shares() + chance.normal(0, NOISE, guess.shape), 1e-6, 1)
            guess = noisy / noisy.sum(1, keepdims=True)
        found = {"restarts": attempt, "passes": end.passes, "left_out": left_out}
        return model.answer(self.word, end, posterior, found)


class _State(NamedTuple):
    log_prior: Floats  # (n_labels,)
    log_size: Floats  # (n_clusters,)
    log_matrix: Floats  # (n_clusters, said, true)
    belongs: Floats  # (n_workers, n_clusters) how much of a worker is in each cluster
    said: Floats | None = (
        None  # (n_workers, said * true) what was said under the labels before, where clusters follow them
    )


@dataclass
class _Clusters:
    """The model on some votes."""

    crowd: Crowd
    n: int
    fixed: Floats | None  # (n_labels,) the prior, where it is not learnt
    together: bool = False  # labels and clusters are both taken from the state before

    def begin(self, sums: Sums) -> _State:
        """Workers by the nuclear norm of their matrices, largest first, in runs of equal length."""
        pseudo = np.full((self.crowd.n_labels, self.crowd.n_labels), EMPTY)
        own = np.exp(self.crowd.tensor(self.crowd.log_shares(sums.counts, pseudo)))
        norm = np.linalg.svd(own, compute_uv=False).sum(1)
        rank = np.argsort(np.argsort(-norm, kind="stable"))
        edges = np.arange(1, self.n) * self.crowd.n_workers // self.n
        belongs = np.eye(self.n)[np.searchsorted(edges, rank, side="right")]
        mean = np.einsum("wl,wsk->lsk", belongs, own) / belongs.sum(0)[:, None, None]
        said = self.crowd.tensor(sums.counts).reshape(self.crowd.n_workers, -1) if self.together else None
        return _State(log_prior(sums.n_true, self.fixed), _log(belongs.mean(0)), _log(mean), belongs, said)

    def params(self, state: _State) -> Params:
        """What the passes over the votes need: each worker's expected logs."""
        flat = state.belongs @ state.log_matrix.reshape(self.n, -1)
        return Params(state.log_prior, self.crowd.flat(flat.reshape(-1, *state.log_matrix.shape[1:])))

    def sweep(self, state: _State) -> tuple[_State, float]:
        """One pass: labels, then clusters, then parameters; and the bound of the state given."""
        sums, value = self.crowd.sweep(self.params(state))
        value += float((state.belongs * (state.log_size - _log(state.belongs))).sum())
        counts = self.crowd.tensor(sums.counts).reshape(self.crowd.n_workers, -1)
        logit = state.log_size + (counts if state.said is None else state.said) @ state.log_matrix.reshape(self.n, -1).T
        belongs = np.exp(logit - logit.max(1, keepdims=True))
        belongs /= belongs.sum(1, keepdims=True)
        return self._maximise(sums.n_true, belongs, counts), value

    def _maximise(self, n_true: Floats, belongs: Floats, counts: Floats) -> _State:
        shape = self.n, self.crowd.n_labels, self.crowd.n_labels
        said = (belongs.T @ counts).reshape(shape)
        total = said.sum(1, keepdims=True)
        share = np.where(total > 0, said / np.where(total > 0, total, 1), 1 / shape[1])
        before = counts if self.together else None
        return _State(log_prior(n_true, self.fixed), _log(belongs.mean(0)), _log(share), belongs, before)

    def answer(self, word: str, end: Climb[_State], posterior: Floats, found: dict[str, object]) -> Fit:
        state, votes = end.state, self.crowd.votes
        cluster, prior = state.belongs.argmax(1), np.exp(state.log_prior)
        matrices = np.exp(state.log_matrix).transpose(0, 2, 1)
        return Fit(
            soft_labels(votes, posterior),
            votes.workers,
            word,
            prior=prior,
            confusion=Confusion(matrices, votes.workers, votes.labels, which=cluster),
            ability=accuracy(matrices, prior)[cluster],
            trace=end.trace,
            converged=end.converged,
            found={"cluster": cluster, **found},
        )


def _follow(
    sweep: Callable[[_State], tuple[_State, float]], state: _State, *, max_iter: int, tol: float, watch: Watch
) -> Climb[_State]:
    """Repeat `sweep`, also where the bound falls, until it rises by less than `tol`."""
    trace: list[float] = []
    for step in range(max_iter):
        better, value = sweep(state)
        trace.append(value)
        watch(step, max_iter, value)
        if step and 0 <= trace[-1] - trace[-2] < tol:
            return Climb(state, better, tuple(trace), True, step + 1)
        state = better
    return Climb(state, better, tuple(trace), False, max_iter)


def _log(share: Floats) -> Floats:
    return np.log(np.maximum(share, TINY))


def _all_alike(prob: Floats) -> bool:
    """Whether all tasks, of more than one, have the same label for certain."""
    return len(prob) > 1 and bool(prob.sum(0).max() > len(prob) - 1e-6)
