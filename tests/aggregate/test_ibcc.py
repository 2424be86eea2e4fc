"""ibcc against plain numpy, and against published accuracies."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.special import digamma, gammaln, logsumexp

import plurivox as pv
from crowds import crowd, soft_crowd
from plurivox import evaluate
from plurivox.aggregate import Ibcc
from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

pytestmark = pytest.mark.long


def dirichlet_kl(a: np.ndarray, b: np.ndarray) -> float:
    """Return KL(Dirichlet(a) | Dirichlet(b)) over the last axis, summed over the others."""
    b = np.broadcast_to(b, a.shape)
    norm = gammaln(a.sum(-1)) - gammaln(a).sum(-1) - gammaln(b.sum(-1)) + gammaln(b).sum(-1)
    return float((norm + ((a - b) * (digamma(a) - digamma(a.sum(-1, keepdims=True)))).sum(-1)).sum())


def plain_ibcc(votes: Votes, rounds: int) -> tuple[np.ndarray, list[float], np.ndarray]:
    """Return (q(labels), bound after each round, Dirichlet parameters [worker, true, said]), with dense tables."""
    said = np.zeros((votes.n_tasks, votes.n_workers, votes.n_labels))
    np.add.at(said, (votes.task, votes.worker, votes.label), votes.weights)
    prior = 1 + 3 * np.eye(votes.n_labels)
    q, bounds = said.sum(1) / said.sum((1, 2))[:, None], []
    for _ in range(rounds):
        n, counts = 1 + q.sum(0), prior + np.einsum("tk,twl->wkl", q, said)
        score = digamma(n) - digamma(n.sum())
        score = score + np.einsum("twl,wkl->tk", said, digamma(counts) - digamma(counts.sum(2, keepdims=True)))
        value = logsumexp(score, 1).sum() - dirichlet_kl(n, np.ones(len(n))) - dirichlet_kl(counts, prior)
        bounds.append(float(value))
        q = np.exp(score - logsumexp(score, 1)[:, None])
    return q, bounds, counts


@pytest.mark.parametrize(
    "votes", [Votes.of(**crowd(n_labels=2)), Votes.of(**crowd(n_tasks=40, n_labels=9, seed=3)), soft_crowd(seed=1)]
)
def test_each_pass_equals_numpy(votes: Votes) -> None:
    q, bounds, counts = plain_ibcc(votes, 9)
    fit = Ibcc(accelerate=False, max_iter=9, tol=0).fit(votes)
    np.testing.assert_allclose(fit.trace, bounds, rtol=1e-11)
    np.testing.assert_allclose(fit.soft.prob, q, atol=1e-9)
    np.testing.assert_allclose(fit.confusion.dense(), counts / counts.sum(2, keepdims=True), atol=1e-9)


def test_acceleration_converges_to_the_same_maximum() -> None:
    votes = Votes.of(**crowd(n_tasks=200, n_workers=20, feedback=3, seed=5))
    plain, fast = (Ibcc(accelerate=how, tol=1e-9, max_iter=2000).fit(votes) for how in (False, True))
    assert plain.converged and fast.converged and fast.found["passes"] < plain.found["passes"]
    assert fast.trace[-1] == pytest.approx(plain.trace[-1], abs=1e-4)
    np.testing.assert_allclose(fast.soft.prob, plain.soft.prob, atol=0.02)


def test_gold_labels_are_used_for_the_matrices() -> None:
    """Worker 1 is always wrong; with two workers only gold labels can show that."""
    votes = Votes.of(task=np.repeat(np.arange(40), 2), worker=[0, 1] * 40, label=[0, 1, 1, 0] * 20)
    gold = SoftLabels.gold(range(10), [0, 1] * 5, labels=votes.labels)
    fit = Ibcc().fit(votes, gold=gold)
    assert fit.soft.most_probable_label_codes().tolist() == [0, 1] * 20
    assert fit.ability[0] > 0.9 and fit.ability[1] < 0.3 and fit.found["left_out"][1] < 0.3


def test_a_warm_start_is_fast_and_converges_to_the_same_maximum() -> None:
    votes = Votes.of(**crowd(n_tasks=300, n_workers=12, feedback=4, seed=1))
    cold = Ibcc(tol=1e-8, max_iter=1000).fit(votes)
    warm = Ibcc(tol=1e-8, max_iter=1000).fit(votes, start=cold)
    assert warm.trace[0] > cold.trace[0] and warm.trace[-1] == pytest.approx(cold.trace[-1], abs=1e-3)
    fresh = Votes.of(**crowd(n_tasks=20, n_workers=12, feedback=4, seed=9))
    assert Ibcc(max_iter=1).fit(fresh, start=cold).trace[0] > Ibcc(max_iter=1).fit(fresh).trace[0]


def test_fixed_priors_and_tasks_and_workers_without_votes() -> None:
    votes = Votes.of(**crowd(n_labels=2), tasks=range(31), workers=range(7))
    fit = Ibcc(prior="0=.9/1=.1").fit(votes)
    np.testing.assert_allclose(fit.prior, [0.9, 0.1])
    np.testing.assert_allclose(fit.soft.prob[-1], [0.9, 0.1])  # a task without votes has the prior
    # a worker without votes has the mean of the prior
    np.testing.assert_allclose(fit.confusion.of(6), [[0.8, 0.2], [0.2, 0.8]])
    assert np.isnan(fit.found["left_out"][6])
    with pytest.raises(OptionError, match="prior needs 2 shares"):
        Ibcc(prior=".2/.3/.5").fit(votes)


def test_matrices_too_large_for_memory_raise_an_error() -> None:
    votes = Votes.of(
        task=["a"], worker=["w"], label=[0], labels=range(20000), workers=[f"w{i}" for i in range(9000)] + ["w"]
    )
    with pytest.raises(InputError, match=r"ibcc needs about .* GiB for 9,001 workers, 20,000 labels"):
        Ibcc().fit(votes)


# published for our default settings: yuan-li/truth-inference-at-scale, test_ibcc.ipynb
PUBLISHED = {
    "bluebird": 0.888889,
    "dog": 0.83891,
    "rte": 0.9275,
    "web": 0.750848,
    "sp_amt": 0.944,
    "product_match": 0.938304,
    "tweet_sentiment": 0.96,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_accuracies(name: str, data_set: Callable[[str], Path]) -> None:
    """The published code stops a little earlier, so accuracy may differ by one task in a thousand."""
    data = pv.read(data_set(name))
    votes, gold = data.votes, data.gold
    found = evaluate.accuracy(Ibcc().fit(votes).soft, gold, ties="share")
    assert found == pytest.approx(PUBLISHED[name], abs=1e-3)
    if votes.n_tasks * votes.n_workers * votes.n_labels < 3e6:
        q, bounds, _ = plain_ibcc(votes, 12)
        fit = Ibcc(accelerate=False, max_iter=12, tol=0).fit(votes)
        # our fit may stop earlier at the maximum
        np.testing.assert_allclose(fit.trace, bounds[: len(fit.trace)], rtol=1e-10)
        np.testing.assert_allclose(fit.soft.prob, q, atol=1e-8)
