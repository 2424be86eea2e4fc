"""Calibrated shares: recovery on simulated votes, agreement with other optimisers, and what they predict on real data."""

import os

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import dirichlet

import plurivox as pv
from plurivox.aggregate import CalibratedShares, DirichletShares, SoftmaxShares, VoteShares
from plurivox.aggregate._shared.careless_workers import learn_concentration
from plurivox.clean import clean
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine import dirichlet_mixture
from plurivox.engine.beta_intervals import beta_interval_95
from plurivox.engine.dirichlet_mixture import (
    DirichletMixture,
    expected_absolute_errors,
    fit_dirichlet_mixture,
    start_mixture,
)

Table = NDArray[np.float64]


def votes_of(counts: Table) -> Votes:
    return Votes.from_counts(counts, range(len(counts)), range(counts.shape[1]))


def simulated_counts(alpha: list[float], n_tasks: int, n_votes: int, seed: int = 0) -> tuple[Table, Table]:
    """Return the label shares of tasks, drawn from a Dirichlet distribution, and the counts of votes drawn from them."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(alpha, n_tasks)
    return shares, rng.multinomial(n_votes, shares).astype(float)


def log_marginal(counts: Table, alpha: Table) -> float:
    """Return the log-likelihood of a single Dirichlet-multinomial, task by task."""
    total, whole = counts.sum(1), alpha.sum()
    cells = (gammaln(counts + alpha) - gammaln(alpha)).sum(1)
    return float((cells + gammaln(whole) - gammaln(whole + total)).sum())


def test_em_finds_the_maximum_that_a_general_optimiser_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dirichlet_mixture, "PRIOR_SHAPE", 0.0)
    monkeypatch.setattr(dirichlet_mixture, "PRIOR_RATE", 0.0)
    _, counts = simulated_counts([0.4, 1.0, 2.0], 300, 6)
    found = fit_dirichlet_mixture(counts, DirichletMixture(np.ones((1, 3)), np.ones(1)), max_iter=5000, tol=1e-12)
    best = minimize(lambda x: -log_marginal(counts, np.exp(x)), np.zeros(3))
    np.testing.assert_allclose(found.mixture.alpha[0], np.exp(best.x), rtol=1e-3)
    assert found.trace[-1] == pytest.approx(-best.fun, abs=1e-4)


def test_a_known_dirichlet_is_recovered() -> None:
    alpha = [0.5, 1.5, 3.0]
    _, counts = simulated_counts(alpha, 20_000, 8)
    found = fit_dirichlet_mixture(counts, DirichletMixture(np.ones((1, 3)), np.ones(1)), tol=1e-9)
    np.testing.assert_allclose(found.mixture.alpha[0], alpha, rtol=0.05)
    label = np.nonzero(counts)
    mean = np.array(alpha) / 5
    assert learn_concentration(label[1], counts[label], counts.sum(1), mean) == pytest.approx(5, rel=0.05)
    ideal = (counts + alpha) / (counts.sum(1, keepdims=True) + 5)
    mixed = CalibratedShares(loss="cross-entropy").fit(votes_of(counts)).soft.prob
    assert np.abs(mixed - ideal).sum(1).mean() < 0.03 < np.abs(counts / 8 - ideal).sum(1).mean()


def test_the_expected_distance_is_that_of_samples() -> None:
    mixture, counts = start_mixture(np.array([0.2, 0.3, 0.5])), np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 5.0]])
    predicted = mixture.posterior_means(counts) ** 1.3
    predicted /= predicted.sum(1, keepdims=True)
    rng, component = np.random.default_rng(1), mixture.responsibilities(counts)
    for task in range(2):
        drawn = rng.choice(len(mixture.weight), 40_000, p=component[task])
        samples = np.concatenate(
            [rng.dirichlet(counts[task] + mixture.alpha[c], int((drawn == c).sum())) for c in np.unique(drawn)]
        )
        distance = np.abs(samples - predicted[task]).sum(1).mean()
        assert expected_absolute_errors(mixture, counts, predicted)[task] == pytest.approx(distance, abs=0.01)


def test_the_likelihood_of_counts_is_that_of_scipy() -> None:
    alpha = np.array([0.7, 1.2, 0.1])
    one = DirichletMixture(np.stack([alpha, alpha + 1]), np.array([0.5, 0.5]))
    counts = np.array([[3.0, 0.0, 1.0]])
    density = [dirichlet([*(a + counts[0])]) for a in one.alpha]
    x = np.array([0.5, 0.3, 0.2])  # DM is prior times likelihood over posterior, at any x
    likelihood = [
        dirichlet(a).pdf(x) * np.prod(x ** counts[0]) / post.pdf(x) for a, post in zip(one.alpha, density, strict=True)
    ]
    expected = np.array(likelihood) / sum(likelihood)
    np.testing.assert_allclose(one.responsibilities(counts)[0], expected, rtol=1e-10)


def test_the_order_of_labels_and_of_tasks_does_not_matter() -> None:
    _, counts = simulated_counts([0.1, 0.3, 0.2, 0.4], 200, 5)
    plain = CalibratedShares().fit(votes_of(counts)).soft.prob
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(CalibratedShares().fit(votes_of(counts[:, order])).soft.prob, plain[:, order], atol=1e-5)
    np.testing.assert_allclose(CalibratedShares().fit(votes_of(counts[::-1])).soft.prob, plain[::-1], atol=1e-9)


def test_what_each_loss_minimises_is_smaller_with_it_on_the_shares_votes_were_drawn_from() -> None:
    shares, counts = simulated_counts([0.2, 0.2], 5_000, 3)
    soft = {loss: CalibratedShares(loss=loss).fit(votes_of(counts)) for loss in ("both", "cross-entropy", "manhattan")}
    distance = {loss: np.abs(fit.soft.prob - shares).sum(1).mean() for loss, fit in soft.items()}
    entropy = {loss: -(shares * np.log(fit.soft.prob)).sum(1).mean() for loss, fit in soft.items()}
    assert distance["manhattan"] < distance["both"] < distance["cross-entropy"]
    assert entropy["cross-entropy"] < entropy["both"] < entropy["manhattan"]
    assert soft["cross-entropy"].found["power"] == 1


def crowd_with_careless_workers() -> tuple[Votes, Table]:
    """Return votes of 20 workers, of whom 6 vote at random, and the shares of the labels that the others draw from."""
    rng = np.random.default_rng(3)
    shares = rng.dirichlet([0.2, 0.3, 0.2], 400)
    task = np.repeat(np.arange(400), 5)
    worker = np.concatenate([rng.choice(20, 5, replace=False) for _ in range(400)])
    careful = (shares[task].cumsum(1) < rng.random((2000, 1))).sum(1).clip(max=2)
    label = np.where(worker < 6, rng.integers(0, 3, 2000), careful)
    return Votes.of(task, worker, label), shares


@pytest.mark.parametrize("n_labels", [2, 10])
@pytest.mark.parametrize("n_votes", [3, 10])
def test_intervals_of_shares_cover_the_shares_of_the_whole_crowd(n_labels: int, n_votes: int) -> None:
    rng = np.random.default_rng(0)
    kinds = np.vstack([np.eye(n_labels) * 15 + 0.3, np.eye(n_labels) * 2 + 0.5])  # most agree, or there are rivals
    shares = np.array([rng.dirichlet(kind) for kind in kinds[rng.integers(len(kinds), size=2000)]])
    fit = CalibratedShares().fit(votes_of(rng.multinomial(n_votes, shares).astype(float)))
    prob, c = np.asarray(fit.soft.prob), fit.found["concentration per task"][:, None]
    low, high = beta_interval_95(c * prob, c * (1 - prob))
    inside, top = (low <= shares) & (shares <= high), prob.argmax(1)[:, None]
    assert 0.93 < inside.mean() < 0.985
    assert 0.90 < np.take_along_axis(inside, top, 1).mean() < 0.985


def test_one_vote_per_task_gives_no_intervals() -> None:
    for n_labels in (3, 100):
        votes = [votes_of(np.eye(n_labels)[np.arange(200) % n_labels] * n) for n in (1, 2)]
        assert ["concentration per task" in CalibratedShares().fit(one).found for one in votes] == [False, True]


def test_careless_workers_are_found_and_no_evidence() -> None:
    votes, shares = crowd_with_careless_workers()
    fits = {how: CalibratedShares(careless=how).fit(votes) for how in ("discount", "leave-out", "keep")}
    assert fits["leave-out"].found["careless workers"] == 6
    assert fits["leave-out"].soft.support.tolist() == votes.support.tolist()
    distance = {how: np.abs(fit.soft.prob - shares).sum(1).mean() for how, fit in fits.items()}
    assert distance["leave-out"] < distance["keep"]
    crowd = 0.7 * shares + 0.3 / 3  # what a person drawn from the whole crowd says
    assert (
        np.abs(fits["discount"].soft.prob - crowd).sum(1).mean() < np.abs(fits["keep"].soft.prob - crowd).sum(1).mean()
    )


def test_a_worker_who_prefers_a_label_where_others_use_it_too_is_not_careless() -> None:
    rng = np.random.default_rng(5)
    clear = rng.random(300)  # the share of others who say 1
    label = (rng.random((6, 300)) < clear).astype(int)
    label[5] = rng.random(300) < clear**0.4  # says 1 more often
    votes = Votes.of(np.tile(np.arange(300), 6), np.repeat(np.arange(6), 300), label.ravel())
    assert CalibratedShares().fit(votes).found["careless workers"] == 0


def test_soft_answers_that_are_too_flat_are_sharpened() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([0.2, 0.2, 0.2], 300)
    rows = np.repeat(shares, 5, 0)
    said = 0.6 * np.eye(3)[(rows.cumsum(1) < rng.random((1500, 1))).sum(1).clip(max=2)] + 0.4 / 3
    task = np.repeat(np.arange(300), 5)
    votes = Votes.of(
        np.repeat(task, 3),
        np.repeat(np.tile(np.arange(5), 300), 3),
        np.tile(np.arange(3), 1500),
        weight=said.ravel(),
        answer=np.repeat(np.arange(1500), 3),
    )
    soft, mean = CalibratedShares().fit(votes).soft.prob, VoteShares().fit(votes).soft.prob
    assert np.abs(soft - shares).sum(1).mean() < 0.6 * np.abs(mean - shares).sum(1).mean()


@pytest.mark.parametrize("n_labels", [1, 2, 65])
def test_one_label_one_worker_and_one_vote_per_task_are_fitted(n_labels: int) -> None:
    votes = Votes.of(range(6), [1] * 6, [k % n_labels for k in range(6)], tasks=range(7), labels=range(n_labels))
    prob = CalibratedShares().fit(votes).soft.prob
    np.testing.assert_allclose(prob.sum(1), 1, atol=1e-9)
    assert (prob.argmax(1)[:6] == np.arange(6) % n_labels).all() and (prob > 0).all()


@pytest.mark.parametrize("rest", [0.0, 0.2], ids=["plain", "soft"])
@pytest.mark.parametrize("n_labels", [2, 10, 100])
def test_from_one_answer_per_task_its_label_is_probable_and_not_certain(n_labels: int, rest: float) -> None:
    """How much people agree is not known then: it is neither full agreement nor the label shares of all tasks."""
    task, label = np.arange(200), np.random.default_rng(0).integers(0, n_labels, 200)
    both = np.stack([label, (label + 1) % n_labels], 1)[:, : 1 + (rest > 0)]
    n = both.shape[1]
    weights = {"weight": np.tile([1 - rest, rest][:n], 200), "answer": np.repeat(task, n)} if rest else {}
    worker = np.repeat(task % 20, n)
    votes = Votes.of(np.repeat(task, n), worker, both.ravel(), labels=range(n_labels), **weights)
    own = CalibratedShares().fit(votes).soft.prob[task, label]
    assert own.min() > 0.4 and own.max() < 0.97


def test_eleven_thousand_labels_are_stored_sparsely() -> None:
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(10_000), 3)
    label = np.where(rng.random(30_000) < 0.8, task % 11_000, rng.integers(0, 11_000, 30_000))
    soft = CalibratedShares().fit(Votes.of(task, rng.integers(0, 99, 30_000), label, labels=range(11_000))).soft
    np.testing.assert_allclose(soft.body.row_sums(), 1, atol=1e-9)
    assert (soft.hard() == np.arange(10_000)).mean() > 0.85


# ---- real data: others' votes decide

COMPETITORS = [VoteShares(), SoftmaxShares(), *(DirichletShares(added=a) for a in (0.1, 0.25, 0.5, 1.0))]
needs_data = pytest.mark.skipif("PLURIVOX_DATA" not in os.environ, reason="PLURIVOX_DATA is not set")
SETS = ("chaosnli_snli", "chaosnli_mnli", "chaosnli_alpha", "cifar10h")


def draw_votes(full: Table, n: int, seed: int) -> tuple[Table, Table]:
    """Return n votes per task, drawn without replacement, and the remaining votes."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.multivariate_hypergeometric(row, n) for row in full.astype(int)], dtype=float)
    return drawn, full - drawn


@needs_data
@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("name", SETS)
def test_few_votes_predict_the_remaining_ones_better_than_fixed_formulas(name: str, n: int) -> None:
    full, methods = pv.read(name).counts.counts(), [CalibratedShares(), *COMPETITORS]
    scores = []
    for seed in range(1, 6):
        drawn, rest = draw_votes(full, n, seed)
        votes, rest = votes_of(drawn), rest / rest.sum(1, keepdims=True)
        prob = np.array([method.fit(votes).soft.prob for method in methods])
        clipped = np.maximum(prob, 1e-3)  # vote shares have zeros
        scores.append([np.abs(prob - rest).sum(2), -(rest * np.log(clipped)).sum(2)])
    manhattan, cross_entropy = np.mean(scores, 0)  # (n_methods, n_tasks) each
    for gains in (manhattan[1:] - manhattan[0], cross_entropy[1:] - cross_entropy[0]):
        low = gains.mean(1) - 1.96 * gains.std(1) / np.sqrt(len(full))
        better = dict(zip([method.spec for method in COMPETITORS], (low > 0).tolist(), strict=True))
        if (name, n) == ("chaosnli_alpha", 3):  # softmax-shares is closer, another one has the cross-entropy:
            assert sum(better.values()) >= 4  # nothing is better than all in both, see examples/people_default.py
        elif (name, n) == (
            "chaosnli_alpha",
            5,
        ):  # the interval to dirichlet-shares[added=0.25] of more draws includes 0
            assert (gains.mean(1) > 0).all() and sum(better.values()) >= 5
        else:
            assert all(better.values()), better


@needs_data
@pytest.mark.filterwarnings("ignore:523 answers")
def test_soft_answers_of_cifar10s_predict_the_votes_of_cifar10h() -> None:
    data = pv.read("cifar10s")
    answers = clean(data.answers, ("stored-twice", "collins2022", "repeats-once"), data.gold).answers
    votes = pv.elicit_votes(answers, "top-two").votes
    people = pv.read("cifar10h").counts.on(votes.tasks).with_labels(votes.labels)
    human, soft = SoftLabels.from_vote_shares(people), CalibratedShares().fit(votes).soft
    assert pv.evaluate.cross_entropy(soft, human) < 0.64
    assert pv.evaluate.total_variation(soft, human) < 0.128
    assert pv.evaluate.entropy_correlation(soft, human) > 0.64
