"""The task scores from votes or fits, compared with scipy: entropy, disagreement, kurtosis, difficulty, distance."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from evidence import columns, votes_of
from plurivox import aggregate, identify
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates
from plurivox.core.soft_transforms import uniform_soft_labels_like
from plurivox.core.votes import Votes
from plurivox.engine.kernels import entropy_moments_distances
from plurivox.identify import Evidence


def score(spec: str, **evidence: object) -> np.ndarray:
    return identify.methods.make(spec).score(Evidence(**evidence)).raw  # type: ignore[arg-type]


def some_rows(n: int = 50, k: int = 6) -> np.ndarray:
    return np.random.default_rng(k).dirichlet(np.full(k, 0.4), n)


def sparse(prob: np.ndarray) -> SoftLabels:
    """Return the rows stored as candidates: the two largest probabilities, the rest uniform."""
    label = np.sort(np.argsort(-prob, axis=1)[:, :2], axis=1)
    mass = np.take_along_axis(prob, label, 1)
    start, rest = np.arange(len(prob) + 1) * 2, 1 - mass.sum(1)
    rows = Candidates(start, label.ravel(), mass.ravel(), rest, prob.shape[1])
    return SoftLabels(rows, np.arange(len(prob)), np.arange(prob.shape[1]))


def test_entropy_of_votes_in_each_unit() -> None:
    votes = votes_of(columns())
    shares = votes.counts() / votes.counts().sum(1, keepdims=True)
    nats = stats.entropy(shares, axis=1)
    for unit, size in {"nats": 1, "bits": np.log(2), "share": np.log(4)}.items():
        np.testing.assert_allclose(score(f"entropy[unit={unit}]", votes=votes), nats / size, atol=1e-14)


def test_up_to_three_votes_have_only_four_entropies() -> None:
    said = {"a": "x", "b": "xx", "c": "xy", "d": "xxx", "e": "xxy", "f": "xyz"}
    task, label = zip(*((task, one) for task, votes in said.items() for one in votes), strict=True)
    found = score("entropy", votes=Votes.of(task, [str(i) for i in range(len(task))], label))
    two_one = np.log(3) - 2 / 3 * np.log(2)
    np.testing.assert_allclose(found, [0, 0, np.log(2), 0, two_one, np.log(3)], atol=1e-15)


def test_given_soft_labels_are_preferred_to_votes() -> None:
    prob = some_rows()
    soft = SoftLabels.of(prob, np.arange(50), np.arange(6))
    found = identify.methods.make("entropy").score(Evidence(votes=votes_of(columns()), soft=soft))
    np.testing.assert_allclose(found.raw, stats.entropy(prob, axis=1), atol=1e-14)
    assert found.n is None


@pytest.mark.parametrize("k", [4, 6, 12])
def test_kurtosis_equals_that_of_scipy(k: int) -> None:
    prob = some_rows(k=k)
    dense = SoftLabels.of(prob, np.arange(50), np.arange(k))
    np.testing.assert_allclose(score("kurtosis", soft=dense), stats.kurtosis(prob, axis=1), rtol=1e-9)
    listed = sparse(prob)
    np.testing.assert_allclose(score("kurtosis", soft=listed), stats.kurtosis(listed.prob, axis=1), rtol=1e-9)


def test_kurtosis_of_twelve_labels_is_at_most_7_09_and_nan_for_a_uniform_row() -> None:
    gold = SoftLabels.of(np.eye(12)[:1], ["a"], range(12))
    assert round(score("kurtosis", soft=gold)[0], 2) == 7.09
    assert np.isnan(score("kurtosis", soft=uniform_soft_labels_like(gold)))


@pytest.mark.parametrize(("k", "constant"), [(2, -2), (3, -1.5)])
def test_kurtosis_of_two_or_three_labels_is_constant_and_warns(k: int, constant: float) -> None:
    soft = SoftLabels.of(some_rows(k=k), np.arange(50), np.arange(k))
    with pytest.warns(PlurivoxWarning, match=f"of {k} probabilities is always {constant}"):
        np.testing.assert_allclose(score("kurtosis", soft=soft), constant, atol=1e-5)


@pytest.mark.parametrize("dense", [True, False])
def test_the_dispersion_kernel_equals_numpy(dense: bool) -> None:
    prob = some_rows()
    soft = SoftLabels.of(prob, np.arange(50), np.arange(6)) if dense else sparse(prob)
    compiled, plain = np.zeros((50, 4)), np.zeros((50, 4))
    entropy_moments_distances.fill_max_entropy_and_moments(0, 50, soft.prob, compiled)
    p = soft.prob
    plain[:, 0], plain[:, 1] = p.max(1), stats.entropy(p, axis=1)
    plain[:, 2], plain[:, 3] = (((p - 1 / 6) ** power).sum(1) for power in (2, 4))
    np.testing.assert_allclose(compiled, plain, rtol=1e-12)


def permuted_copies(rows: np.ndarray, copies: int = 40) -> np.ndarray:
    """Return (n_rows, copies, n_labels): each row in as many random orders of the labels."""
    rng = np.random.default_rng(5)
    return rng.permuted(np.repeat(rows[:, None], copies, 1), axis=2)


def distinct_per_row(values: np.ndarray, n_rows: int) -> list[int]:
    """Return how many different numbers the permuted copies of each row have; nan counts as a number."""
    return [len(np.unique(group)) for group in values.reshape(n_rows, -1)]


COUNT_ROWS = np.random.default_rng(4).multinomial(7, [0.4, 0.2, 0.1, 0.1, 0.1, 0.1], 30)
DISPERSIONS = ("entropy", "entropy[unit=share]", "kurtosis", "disagreement")


@pytest.mark.parametrize("spec", DISPERSIONS)
@pytest.mark.parametrize("named", [True, False])
def test_votes_in_another_order_of_the_labels_have_the_same_score(spec: str, named: bool) -> None:
    table = permuted_copies(COUNT_ROWS).reshape(-1, 6)
    if named:
        task, label = np.nonzero(table)
        task, label = (np.repeat(codes, table[table > 0]) for codes in (task, label))
        worker = np.random.default_rng(0).permuted(np.tile(np.arange(7), (len(table), 1)), axis=1).ravel()
        votes = Votes.of([f"{one:05}" for one in task], worker, label, labels=range(6))
    else:
        votes = Votes.from_counts(table, [f"{i:05}" for i in range(len(table))], range(6))
    assert distinct_per_row(score(spec, votes=votes), len(COUNT_ROWS)) == [1] * len(COUNT_ROWS)


@pytest.mark.parametrize("spec", DISPERSIONS)
def test_soft_answers_of_other_workers_have_the_same_score(spec: str) -> None:
    said = np.array(
        [[0.7, 0.2, 0.1, 0, 0], [0.1, 0.6, 0.3, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0, 0], [0.05, 0.9, 0.05, 0, 0]]
    )
    rng, columns = np.random.default_rng(2), []
    for task in range(60):
        for worker, row in enumerate(said[rng.permutation(4)][:, rng.permutation(5)] if task % 2 else said):
            columns += [(f"{task:02}", worker, label, p, f"{task}-{worker}") for label, p in enumerate(row) if p]
    tasks, worker, label, weight, answer = zip(*columns, strict=True)
    votes = Votes.of(tasks, worker, label, weight=weight, answer=answer, labels=range(5))
    assert len(np.unique(score(spec, votes=votes))) == 1
    assert len(np.unique(np.sort(aggregate.methods.make("vote-shares").fit(votes).soft.prob, axis=1), axis=0)) == 1


@pytest.mark.parametrize("stored_sparse", [False, True])
@pytest.mark.parametrize("k", [5, 12, 60])
def test_soft_labels_in_another_order_of_the_labels_have_the_same_score(stored_sparse: bool, k: int) -> None:
    prob = permuted_copies(some_rows(30, k)).reshape(-1, k)
    soft = sparse(prob) if stored_sparse else SoftLabels.of(prob, np.arange(len(prob)), np.arange(k))
    fit = Fit(soft, np.array([0]), "by hand")
    for values in (
        *(score(spec, soft=soft) for spec in ("entropy", "kurtosis")),
        score("posterior-entropy", fit=fit),
        soft.entropy(),
    ):
        assert distinct_per_row(values, 30) == [1] * 30


@pytest.mark.parametrize("distance", ["total-variation", "jensen-shannon"])
def test_distances_do_not_depend_on_the_order_of_the_labels(distance: str) -> None:
    pair = np.random.default_rng(1).dirichlet(np.full(7, 0.5), (2, 30))
    order = permuted_copies(np.tile(np.arange(7), (30, 1)))
    softs = [
        SoftLabels.of(np.take_along_axis(p[:, None], order, 2).reshape(-1, 7), np.arange(1200), np.arange(7))
        for p in pair
    ]
    fits = tuple(Fit(soft, np.array([0]), "by hand") for soft in softs)
    found = score(f"aggregator-disagreement[distance={distance}]", fits=fits)
    assert distinct_per_row(found, 30) == [1] * 30


def test_proportional_counts_have_the_same_score() -> None:
    table = np.array([[2, 1, 0, 0], [0, 4, 0, 2], [7, 0, 14, 0]])
    votes = Votes.from_counts(table, "abc", "wxyz")
    assert all(len(np.unique(score(spec, votes=votes))) == 1 for spec in DISPERSIONS)


def test_tasks_with_the_same_kurtosis_are_ties() -> None:
    """The kurtosis of a row does not change if all numbers are multiplied or get the same number added."""
    counts = np.diag([1, 2, 3, 5, 6, 9])[:, [0, 1, 2, 3, 4, 5, 5, 5]] * (np.arange(8) < 6)
    soft = aggregate.methods.make("softmax-shares").fit(Votes.from_counts(counts, range(6), range(8))).soft
    assert len(np.unique(score("kurtosis", soft=soft))) == 1


def test_very_many_labels_need_no_dense_table() -> None:
    n = 100_000
    votes = Votes.of(
        np.repeat(np.arange(n), 2), np.tile([0, 1], n), np.arange(2 * n) // 2 * 7 % 50_000, labels=range(50_000)
    )
    assert not score("entropy", votes=votes).any() and not score("disagreement", votes=votes).any()


def test_posterior_entropy_and_difficulty_come_from_the_fit() -> None:
    votes = votes_of(columns())
    fit = aggregate.methods.make("glad").fit(votes)
    np.testing.assert_allclose(score("posterior-entropy", fit=fit), fit.soft.entropy(), atol=1e-14)
    np.testing.assert_array_equal(score("glad-difficulty", fit=fit), fit.difficulty)


def test_glad_difficulty_correlates_with_disagreement() -> None:
    fit = aggregate.methods.make("glad").fit(votes_of(columns()))
    worst = identify.methods.make("glad-difficulty").score(Evidence(fit=fit))
    split = identify.methods.make("disagreement").score(Evidence(votes=votes_of(columns())))
    assert stats.spearmanr(worst.raw, split.raw)[0] > 0.7


@pytest.mark.parametrize("form", [lambda p: SoftLabels.of(p, np.arange(len(p)), np.arange(6)), sparse])
def test_distances_between_aggregators_equal_scipys(form: object) -> None:
    softs = [form(np.random.default_rng(s).dirichlet(np.full(6, 0.4), 20)) for s in range(3)]  # type: ignore[operator]
    fits = tuple(Fit(soft, np.array([0]), "by hand") for soft in softs)
    pairs = [(0, 1), (0, 2), (1, 2)]
    tv = np.mean([np.abs(softs[a].prob - softs[b].prob).sum(1) / 2 for a, b in pairs], 0)
    js = np.mean([jensenshannon(softs[a].prob, softs[b].prob, base=2, axis=1) ** 2 for a, b in pairs], 0)
    np.testing.assert_allclose(score("aggregator-disagreement", fits=fits), tv, atol=1e-14)
    np.testing.assert_allclose(score("aggregator-disagreement[distance=jensen-shannon]", fits=fits), js, atol=1e-12)


def test_fits_are_matched_by_task_and_label_names() -> None:
    a = SoftLabels.of([[1, 0], [0.5, 0.5]], ["s", "t"], ["x", "y"])
    b = SoftLabels.of([[0.5, 0.5], [0, 1]], ["t", "s"], ["y", "x"])
    fits = tuple(Fit(soft, np.array([0]), "by hand") for soft in (a, b))
    assert not score("aggregator-disagreement", fits=fits).any()
    with pytest.raises(InputError, match="it needs two or more, and there is one"):
        score("aggregator-disagreement", fits=fits[:1])


@pytest.mark.parametrize("n", [0, 1, 2, 32, 33, 97, 1000])
def test_numbers_are_sorted_whatever_their_count(n: int) -> None:
    rng = np.random.default_rng(n)
    for values in (rng.random(n + 3), rng.integers(0, 3, n + 3).astype(float)):
        wanted = np.concatenate([np.sort(values[:n]), values[n:]])
        entropy_moments_distances.sort_first.py_func(values, n)
        np.testing.assert_array_equal(values, wanted)
