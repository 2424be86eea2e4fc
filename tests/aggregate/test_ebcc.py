"""ebcc against plain numpy, and against published accuracies."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.special import digamma, gammaln, logsumexp

import plurivox as pv
from crowds import crowd, soft_crowd
from plurivox import evaluate
from plurivox.aggregate import Ebcc, Ibcc
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def minus_kl(a: np.ndarray, b: np.ndarray) -> float:
    """Return -KL(Dirichlet(a) | Dirichlet(b)) over the last axis, summed over the others."""
    b = np.broadcast_to(b, a.shape)
    norm = gammaln(a.sum(-1)) - gammaln(a).sum(-1) - gammaln(b.sum(-1)) + gammaln(b).sum(-1)
    return -float((norm + ((a - b) * mean_logs(a)).sum(-1)).sum())


def mean_logs(a: np.ndarray) -> np.ndarray:
    return digamma(a) - digamma(a.sum(-1, keepdims=True))


def plain_ebcc(votes: Votes, kinds: np.ndarray, rounds: int) -> tuple[np.ndarray, list[float]]:
    """Return (q(labels), bound after each round) from `kinds` (n_tasks, n_labels, n_subtypes), with dense tables."""
    said = np.zeros((votes.n_tasks, votes.n_workers, votes.n_labels))
    np.add.at(said, (votes.task, votes.worker, votes.label), votes.weights)
    n_subtypes, bounds = kinds.shape[2], []
    seen = (said.sum(1) / said.sum((1, 2))[:, None]).sum(0)
    prior = (1 + 3 * np.eye(votes.n_labels))[None, :, None, :]  # worker, true, subtype, said
    for _ in range(rounds):
        n, within = seen + kinds.sum((0, 2)), 0.1 / n_subtypes + kinds.sum(0)
        rows = prior + np.einsum("tkm,twl->wkml", kinds, said)
        score = mean_logs(n)[:, None] + mean_logs(within) + np.einsum("twl,wkml->tkm", said, mean_logs(rows))
        whole = logsumexp(score, (1, 2))
        value = whole.sum() + minus_kl(n, seen) + minus_kl(within, np.full(n_subtypes, 0.1 / n_subtypes))
        bounds.append(float(value + minus_kl(rows, prior)))
        kinds = np.exp(score - whole[:, None, None])
    return kinds.sum(2), bounds


@pytest.mark.parametrize("votes", [Votes.of(**crowd(n_tasks=40, n_labels=4, seed=3)), soft_crowd(seed=1)])
def test_each_pass_equals_numpy(votes: Votes) -> None:
    """The test draws the same random split of the vote shares as the second start."""
    method = Ebcc(subtypes=3, accelerate=False, max_iter=7, tol=0, starts=2, seed=5)
    share = np.random.default_rng([5, 1, 0]).standard_exponential((votes.n_tasks, votes.n_labels, 3))
    shares = votes.counts() / votes.counts().sum(1, keepdims=True)
    first = [np.stack([shares, 0 * shares, 0 * shares], 2), share / share.sum(2, keepdims=True) * shares[:, :, None]]
    answers = [plain_ebcc(votes, kinds, 7) for kinds in first]
    fit = method.fit(votes)
    best = int(np.argmax([bounds[-1] for _, bounds in answers]))
    assert fit.found["start kept"] == best
    np.testing.assert_allclose(fit.trace, answers[best][1], rtol=1e-10)
    np.testing.assert_allclose(fit.soft.prob, answers[best][0], atol=1e-8)


def test_one_subtype_equals_ibcc() -> None:
    votes = Votes.of(**crowd(n_tasks=60, seed=7), tasks=range(61))
    gold = SoftLabels.gold([0, 1, 60], [2, 0, 1], labels=votes.labels)
    a = Ebcc(subtypes=1, starts=1, label_count=1.0).fit(votes, gold=gold)
    b = Ibcc().fit(votes, gold=gold)
    assert a.trace[-1] == pytest.approx(b.trace[-1], abs=1e-6)
    for name in ("ability", "ability_low", "ability_high", "prior"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-6)
    np.testing.assert_allclose(a.soft.prob, b.soft.prob, atol=1e-6)
    np.testing.assert_allclose(a.confusion.dense(), b.confusion.dense(), atol=1e-6)
    np.testing.assert_allclose(a.found["left_out"], b.found["left_out"], atol=1e-6)


def test_the_bound_is_higher_for_correlated_errors() -> None:
    """Four workers are wrong on the same third of the tasks, or each on another third; five others are independent."""
    gains = []
    for together in (True, False):
        rng = np.random.default_rng(0)
        true = rng.integers(0, 2, 300)
        fails = rng.random((300, 1 if together else 4)) < 0.33
        right = np.concatenate([np.broadcast_to(~fails, (300, 4)), rng.random((300, 5)) < 0.8], 1)
        label = np.where(right, true[:, None], 1 - true[:, None])
        votes = Votes.of(task=np.repeat(np.arange(300), 9), worker=np.tile(np.arange(9), 300), label=label.ravel())
        gains.append(Ebcc(subtypes=3).fit(votes).trace[-1] - Ebcc(subtypes=3, starts=1).fit(votes).trace[-1])
    assert gains[0] > 20 and 0 <= gains[1] < 1  # with one start, EBCC equals IBCC


def test_more_starts_never_lower_the_bound() -> None:
    few = Votes.of(**crowd(n_tasks=60, feedback=4, seed=8))
    bounds = [Ebcc(starts=n, seed=3).fit(few).trace[-1] for n in (1, 4, 8)]
    assert bounds == sorted(bounds)


def test_tasks_with_gold_labels_have_subtypes() -> None:
    votes = Votes.of(**crowd(n_tasks=50, seed=4))
    gold = SoftLabels.of([[0.5, 0.5, 0], [0, 0, 1]], [3, 4], votes.labels)
    fit = Ebcc(subtypes=2, starts=3).fit(votes, gold=gold)
    np.testing.assert_allclose(fit.soft.prob[[3, 4]], gold.prob)
    assert (np.diff(fit.trace) > -1e-9).all()


def test_tables_too_large_for_memory_raise_an_error() -> None:
    votes = Votes.of(["a"], ["w"], [0], labels=range(2000), workers=[f"w{i}" for i in range(900)] + ["w"])
    with pytest.raises(InputError, match=r"ebcc needs about .* GiB"):
        Ebcc(subtypes=100).fit(votes)


# published for 40 starts: yuan-li/truth-inference-at-scale, test_ebcc.ipynb
PUBLISHED = {"bluebird": 0.861111, "dog": 0.840149, "rte": 0.93125, "sp_amt": 0.944, "product_match": 0.934937}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_accuracies(name: str, data_set: Callable[[str], Path]) -> None:
    data = pv.read(data_set(name))
    found = evaluate.accuracy(Ebcc().fit(data.votes).soft, data.gold, ties="share")
    assert found == pytest.approx(PUBLISHED[name], abs=2.1e-3)  # one task of sp_amt, which has 500


def test_the_best_bound_on_web_is_near_the_published_accuracy(data_set: Callable[[str], Path]) -> None:
    data = pv.read(data_set("web"))
    assert evaluate.accuracy(Ebcc().fit(data.votes).soft, data.gold) == pytest.approx(0.768564, abs=0.005)
