"""mace against plain numpy."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import beta

import plurivox as pv
from crowds import crowd, soft_crowd
from plurivox import evaluate
from plurivox.aggregate import DawidSkene, Mace, VoteShares
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def minus_kl(a: np.ndarray, b: float) -> float:
    """Return -KL(Dirichlet(a) | Dirichlet(b, b, ...)), summed over rows."""
    n = a.shape[1]
    norm = gammaln(a.sum(1)) - gammaln(a).sum(1) - gammaln(n * b) + n * gammaln(b)
    return -float((norm + ((a - b) * (digamma(a) - digamma(a.sum(1, keepdims=True)))).sum(1)).sum())


def plain_mace(votes: Votes, known: np.ndarray, rounds: int, how: str) -> tuple[np.ndarray, list[float], np.ndarray]:
    """Return (q(labels), objective after each round, known votes [worker, said]) from start counts, vote by vote."""
    total = np.zeros((votes.n_workers, votes.n_labels))
    np.add.at(total, (votes.worker, votes.label), votes.weights)
    smooth, values = 0.01 / votes.n_labels, []
    for _ in range(rounds):
        coin, habit = np.stack([known.sum(1), (total - known).sum(1)], 1), total - known
        if how == "vb":
            coin, habit = coin + 0.5, habit + 10
            value = minus_kl(coin, 0.5) + minus_kl(habit, 10)
            coin, habit = (np.exp(digamma(a) - digamma(a.sum(1, keepdims=True))) for a in (coin, habit))
        else:
            coin, habit = ((a + smooth) / (a + smooth).sum(1, keepdims=True) for a in (coin, habit))
            value = smooth * (np.log(coin).sum() + np.log(habit).sum())
        guess = coin[votes.worker, 1] * habit[votes.worker, votes.label]  # (n_rows,)
        score = np.full((votes.n_tasks, votes.n_labels), -np.log(votes.n_labels))
        for k in range(votes.n_labels):
            p = guess + np.where(votes.label == k, coin[votes.worker, 0], 0)
            np.add.at(score[:, k], votes.task, votes.weights * np.log(p))
        values.append(float(value + logsumexp(score, 1).sum()))
        q = np.exp(score - logsumexp(score, 1)[:, None])
        knows = q[votes.task, votes.label] * coin[votes.worker, 0] / (guess + coin[votes.worker, 0])
        before, known = known, np.zeros_like(total)
        np.add.at(known, (votes.worker, votes.label), votes.weights * knows)
    return q, values, before


@pytest.mark.parametrize("how", ["vb", "em"])
@pytest.mark.parametrize("votes", [Votes.of(**crowd(n_labels=5, seed=3)), soft_crowd(seed=1)])
def test_each_pass_equals_numpy(votes: Votes, how: str) -> None:
    """The test draws the same random start as the method."""
    total = np.zeros((votes.n_workers, votes.n_labels))
    np.add.at(total, (votes.worker, votes.label), votes.weights)
    share = 1 + 0.5 * np.random.default_rng(4).random((2, *total.shape))
    q, values, known = plain_mace(votes, total * share[0] / share.sum(0), 8, how)
    fit = Mace(how=how, starts=1, seed=4, accelerate=False, max_iter=8, tol=0).fit(votes)
    np.testing.assert_allclose(fit.trace, values, rtol=1e-10)
    np.testing.assert_allclose(fit.soft.prob, q, atol=1e-9)
    if how == "vb":
        theta = beta(0.5 + known.sum(1), 0.5 + (total - known).sum(1))
        np.testing.assert_allclose(fit.ability, theta.mean(), atol=1e-9)
    assert fit.ability_low is None and fit.ability_high is None  # they would cover far less than 95%


def spammers(n_tasks: int = 300) -> tuple[Votes, np.ndarray, np.ndarray]:
    """Return (votes, truth, competence): half of the workers always guess, mostly label 2."""
    rng = np.random.default_rng(1)
    true, knows = rng.integers(0, 3, n_tasks), np.repeat([0.8, 0.0], 6)
    guess = rng.choice(3, (n_tasks, 12), p=[0.1, 0.1, 0.8])
    label = np.where(rng.random((n_tasks, 12)) < knows, true[:, None], guess)
    task, worker = np.repeat(np.arange(n_tasks), 12), np.tile(np.arange(12), n_tasks)
    return Votes.of(task=task, worker=worker, label=label.ravel()), true, knows


@pytest.mark.parametrize("how", ["vb", "em"])
def test_spammers_and_their_guessing_distributions_are_found(how: str) -> None:
    votes, true, knows = spammers()
    fit = Mace(how=how).fit(votes)
    assert (
        (fit.soft.most_probable_label_codes() == true).mean()
        > 0.97
        > (VoteShares().fit(votes).soft.most_probable_label_codes() == true).mean() + 0.2
    )
    np.testing.assert_allclose(fit.ability, knows, atol=0.08)
    np.testing.assert_allclose(fit.confusion.dense()[6:].mean((0, 1)), [0.1, 0.1, 0.8], atol=0.05)
    assert fit.found["left_out"][:6].min() > fit.found["left_out"][6:].max()


def test_the_best_start_is_kept() -> None:
    few = Votes.of(**crowd(n_tasks=40, n_workers=20, feedback=3, seed=8))
    values = [Mace(starts=n, seed=3, max_iter=500, tol=1e-9).fit(few).trace[-1] for n in (1, 4, 8)]
    assert values == sorted(values)


def test_gold_labels_override_agreement() -> None:
    """All workers agree on labels that differ from gold: their competence is low."""
    votes = Votes.of(task=np.repeat(np.arange(30), 4), worker=np.tile(np.arange(4), 30), label=[0] * 120, labels=[0, 1])
    assert Mace().fit(votes).ability.min() > 0.7
    gold = SoftLabels.gold(range(30), [1] * 30, labels=votes.labels)
    fit = Mace().fit(votes, gold=gold)
    assert fit.ability.max() < 0.1 and (fit.found["left_out"] == 0).all()
    np.testing.assert_allclose(Mace(prior="learnt").fit(votes, gold=gold).prior, [0, 1], atol=1e-9)


def test_warm_starts() -> None:
    votes, _, _ = spammers(100)
    cold = Mace(tol=1e-9, max_iter=1000).fit(votes)
    warm = Mace(tol=1e-9, max_iter=1000).fit(votes, start=cold)
    assert warm.trace[0] > cold.trace[0] and warm.trace[-1] == pytest.approx(cold.trace[-1], abs=1e-3)
    assert warm.found["passes"] < cold.found["passes"] and warm.found["start kept"] == 0
    for start in (VoteShares().fit(votes), DawidSkene().fit(votes)):
        assert Mace(tol=1e-9, max_iter=1000).fit(votes, start=start).trace[-1] == pytest.approx(cold.trace[-1], abs=0.1)


def test_many_labels_need_little_memory() -> None:
    """With 4,000 labels and 500 workers, confusion matrices would take 64 GB; the fit has none."""
    columns = crowd(n_tasks=300, n_workers=500, n_labels=4000, feedback=5)
    fit = Mace(starts=1, max_iter=5).fit(Votes.of(**columns, labels=range(4000)))
    assert fit.confusion is None and np.isfinite(fit.soft.prob).all()


# accuracy of plain numpy (vb): low on product_match, higher than other single methods on adult2
MEASURED = {
    "bluebird": 0.861,
    "dog": 0.830,
    "rte": 0.926,
    "web": 0.838,
    "sp_amt": 0.946,
    "product_match": 0.832,
    "adult2": 0.781,
}


@pytest.mark.filterwarnings("ignore:.*second or later:plurivox.PlurivoxWarning")
@pytest.mark.parametrize("name", MEASURED)
def test_accuracy_on_real_data(name: str, data_set: Callable[[str], Path]) -> None:
    data = pv.read(data_set(name))
    found = evaluate.accuracy(Mace().fit(data.votes).soft, data.gold.shared(data.votes.tasks))
    assert found == pytest.approx(MEASURED[name], abs=0.004)
