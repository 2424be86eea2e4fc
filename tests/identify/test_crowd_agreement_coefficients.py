"""Agreement coefficients of a crowd, compared with other implementations and hand calculations."""

from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

import plurivox as pv
from crowds import crowd, soft_crowd
from plurivox import identify
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning, UnknownName
from plurivox.core.votes import Votes
from plurivox.engine.parallel_task_blocks import set_threads
from plurivox.evaluate.describe_votes import describe
from plurivox.identify import Evidence
from plurivox.identify._shared import crowd_agreement_coefficients as crowd_module
from score_shortcuts import crowd_score, score

NAN = np.nan
WITH_GAPS = np.array(  # Krippendorff's example, (worker, task)
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)
FROM_COUNTS = ["observed-agreement", "fleiss-kappa", "gwet-ac1", "krippendorff-alpha"]
COEFFICIENTS = [*FROM_COUNTS, "cohen-kappa"]
LEVELS = ["nominal", "ordinal", "interval"]


def votes_of(table: np.ndarray, **more: object) -> Votes:
    """Return a (n_workers, n_tasks) table of labels, nan for none, as votes with ordered labels."""
    worker, task = np.nonzero(~np.isnan(table))
    return Votes.of(task=task, worker=worker, label=table[worker, task], ordered=True, **more)  # type: ignore[arg-type]


def drawn(n_workers: int = 4, n_tasks: int = 60, missing: float = 0.3, seed: int = 0) -> np.ndarray:
    """Return a random (n_workers, n_tasks) table of labels 1 to 5 near the true one, nan for missing votes."""
    rng = np.random.default_rng(seed)
    true = rng.integers(1, 6, n_tasks)
    table = np.clip(true + rng.integers(-1, 2, (n_workers, n_tasks)), 1, 5).astype(float)
    table[rng.random(table.shape) < missing] = NAN
    return table


def counts_table(votes: Votes) -> np.ndarray:
    return votes.counts().astype(int)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("table", [WITH_GAPS, drawn(), drawn(missing=0), drawn(seed=3) ** 2])
def test_alpha_equals_that_of_the_krippendorff_package(level: str, table: np.ndarray) -> None:
    votes = votes_of(table)
    at = np.unique(table[~np.isnan(table)])
    votes = Votes.of(votes.task, votes.worker, votes.labels[votes.label], ordered=at)
    theirs = krippendorff.alpha(table, level_of_measurement=level)
    assert crowd_score(f"krippendorff-alpha[level={level}]", votes) == pytest.approx(theirs, abs=1e-12)


def test_fleiss_kappa_equals_that_of_statsmodels() -> None:
    for seed in range(3):
        votes = votes_of(drawn(missing=0, seed=seed))
        assert crowd_score("fleiss-kappa", votes) == pytest.approx(fleiss_kappa(counts_table(votes)), abs=1e-12)


def test_published_coefficients_with_unequal_votes() -> None:
    """Values of irrCAC for its data set cac.raw4raters, which is the same table."""
    votes = votes_of(WITH_GAPS)
    assert crowd_score("gwet-ac1", votes) == pytest.approx(0.77544, abs=5e-6)
    assert crowd_score("fleiss-kappa", votes) == pytest.approx(0.76117, abs=5e-6)
    assert crowd_score("observed-agreement", votes) == pytest.approx(0.81818, abs=5e-6)
    assert crowd_score("krippendorff-alpha", votes) == pytest.approx(0.743, abs=5e-4)


def test_ac1_of_a_published_table() -> None:
    """irrCAC reports kappa .7964 and AC1 .8493 for its data set cont3x3abstractors."""
    cells = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    first, second = (np.repeat(grid.ravel(), cells.ravel()) for grid in np.indices((3, 3)))
    votes = votes_of(np.array([first, second], float))
    assert crowd_score("gwet-ac1", votes) == pytest.approx(0.8493, abs=5e-5)
    assert crowd_score("cohen-kappa", votes) == pytest.approx(0.7964094, abs=5e-8)


@pytest.mark.parametrize(("weights", "theirs"), [("none", None), ("linear", "linear"), ("quadratic", "quadratic")])
def test_cohen_kappa_equals_that_of_statsmodels(weights: str, theirs: str | None) -> None:
    table = drawn(n_workers=3, missing=0.3)
    expected = {}
    for a, b in ((0, 1), (0, 2), (1, 2)):
        both = ~np.isnan(table[[a, b]]).any(0)
        cells = np.zeros((5, 5))
        np.add.at(cells, (table[a, both].astype(int) - 1, table[b, both].astype(int) - 1), 1)
        expected[a, b] = cohens_kappa(cells, wt=theirs, return_results=False), both.sum()
        spec = f"cohen-kappa[first={a},second={b},weights={weights}]"
        assert crowd_score(spec, votes_of(table)) == pytest.approx(expected[a, b][0], abs=1e-12)
    kappa, shared = np.array(list(expected.values())).T
    votes = votes_of(table)
    assert crowd_score(f"cohen-kappa[weights={weights}]", votes) == pytest.approx(kappa.mean(), abs=1e-12)
    by_tasks = crowd_score(f"cohen-kappa[weights={weights},average=tasks]", votes)
    assert by_tasks == pytest.approx(np.average(kappa, weights=shared), abs=1e-12)


def test_pairs_must_share_enough_tasks() -> None:
    table = np.full((3, 8), NAN)
    table[0], table[1], table[2, :2] = [1, 1, 1, 1, 2, 2, 2, 2], [1, 1, 1, 2, 2, 2, 2, 2], [2, 1]
    votes = votes_of(table)
    assert score("cohen-kappa[resamples=0]", votes=votes).n == [1]
    assert score("cohen-kappa[resamples=0,least=2]", votes=votes).n == [3]
    with pytest.raises(InputError, match="no two workers share 9 tasks"):
        score("cohen-kappa[least=9]", votes=votes)


def test_cohen_kappa_takes_two_worker_names_or_none() -> None:
    votes = votes_of(WITH_GAPS)
    for spec in ("first=0", "first=0,second=0"):
        with pytest.raises(OptionError, match="name two different workers"):
            score(f"cohen-kappa[{spec}]", votes=votes)
    with pytest.raises(UnknownName, match="there is no worker 'zoe'"):
        score("cohen-kappa[first=0,second=zoe]", votes=votes)


def test_single_votes_are_left_out_or_count_as_agreeing() -> None:
    votes = Votes.of(task=list("aaabbc"), worker=[1, 2, 3, 1, 2, 1], label=list("xxyxxy"))
    assert crowd_score("observed-agreement", votes) == pytest.approx((1 / 3 + 1) / 2)
    assert crowd_score("observed-agreement[single=agrees]", votes) == pytest.approx((1 / 3 + 1 + 1) / 3)


@pytest.mark.parametrize("votes", [votes_of(WITH_GAPS), soft_crowd(), Votes.of(**crowd(feedback=2))])
def test_observed_agreement_equals_that_of_describe(votes: Votes) -> None:
    assert crowd_score("observed-agreement", votes) == pytest.approx(describe(votes).observed_agreement)


@pytest.mark.parametrize("name", FROM_COUNTS)
def test_counts_without_workers_give_the_same_as_votes(name: str) -> None:
    votes = votes_of(drawn())
    counts = Votes.from_counts(votes.counts(), votes.tasks, votes.labels)
    assert crowd_score(name, votes) == pytest.approx(crowd_score(name, counts), abs=1e-12)


def test_cohen_kappa_refuses_counts_and_soft_answers() -> None:
    with pytest.raises(InputError, match="cohen-kappa needs worker names"):
        score("cohen-kappa", votes=Votes.from_counts(np.array([[2, 1]]), ["a"], ["x", "y"]))
    with pytest.raises(InputError, match="cohen-kappa takes plain votes only"):
        score("cohen-kappa", votes=soft_crowd())


@pytest.mark.parametrize("name", [*FROM_COUNTS, *(f"krippendorff-alpha[level={level}]" for level in LEVELS)])
def test_plain_votes_give_the_same_as_soft_answers_with_one_label(name: str) -> None:
    columns = crowd()
    n = len(columns["task"])
    plain, soft = (
        Votes.of(**columns, ordered=True, **more) for more in ({}, {"weight": np.ones(n), "answer": np.arange(n)})
    )
    assert crowd_score(name, plain) == pytest.approx(crowd_score(name, soft), abs=1e-12)


def test_alpha_of_soft_answers_equals_a_sum_over_pairs_of_answers() -> None:
    """The reference sums over all pairs of different answers."""
    votes = soft_crowd(n_tasks=4, n_workers=3)
    table = votes.weights.reshape(4, 3, 3)  # (task, answer, label), since rows are sorted
    flat = table.reshape(12, 3)
    apart = 1 - flat @ flat.T
    observed = sum((1 - table[t] @ table[t].T)[~np.eye(3, dtype=bool)].sum() for t in range(4)) / 2 / 12
    by_chance = apart[~np.eye(12, dtype=bool)].sum() / (12 * 11)
    assert crowd_score("krippendorff-alpha", votes) == pytest.approx(1 - observed / by_chance)


@pytest.mark.parametrize("name", ["fleiss-kappa", "krippendorff-alpha", "cohen-kappa"])
def test_votes_for_one_label_give_nan_and_a_warning(name: str) -> None:
    votes = Votes.of(list("aabbcc"), [1, 2] * 3, ["x"] * 6, labels=["x", "y"])
    made = identify.methods.make(f"{name}[least=1]" if name == "cohen-kappa" else name)
    with pytest.warns(PlurivoxWarning, match=f"{name} is undefined"):
        scores = made.score(Evidence(votes=votes))
    assert scores.low is not None and np.isnan([scores.raw, scores.low]).all()


def test_ac1_of_one_label_is_one_and_needs_a_second_label() -> None:
    votes = Votes.of(list("aabb"), [1, 2] * 2, ["x"] * 4, labels=["x", "y"])
    assert crowd_score("gwet-ac1", votes) == 1
    with pytest.warns(PlurivoxWarning, match="gwet-ac1 is undefined"):
        score("gwet-ac1", votes=Votes.of(list("aabb"), [1, 2] * 2, ["x"] * 4))


@pytest.mark.parametrize("name", FROM_COUNTS)
def test_agreement_needs_a_task_with_two_votes(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} needs a task with two votes or more"):
        score(name, votes=Votes.of(["a", "b"], ["v", "w"], ["x", "y"]))


def test_distances_between_labels_need_ordered_labels() -> None:
    votes = Votes.of(**crowd())
    for spec in (
        "krippendorff-alpha[level=ordinal]",
        "krippendorff-alpha[level=interval]",
        "cohen-kappa[weights=linear]",
    ):
        with pytest.raises(InputError, match="labels have no order"):
            score(spec, votes=votes)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_the_interval_equals_that_of_a_plain_bootstrap_over_tasks(name: str) -> None:
    """The plain bootstrap counts the votes of the drawn tasks again."""
    table = drawn(missing=0, n_tasks=80)
    votes, rng = votes_of(table), np.random.default_rng(5)
    again = [crowd_score(name, votes_of(table[:, rng.integers(0, 80, 80)])) for _ in range(200)]
    scores = score(f"{name}[resamples=2000]", votes=votes)
    assert scores.low is not None and scores.high is not None
    assert scores.low < scores.raw < scores.high
    np.testing.assert_allclose([scores.low[0], scores.high[0]], np.percentile(again, [2.5, 97.5]), atol=0.03)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_same_seed_same_interval_for_any_number_of_threads(name: str) -> None:
    votes, results = votes_of(drawn()), set()
    try:
        for n in (1, 2):
            set_threads(n)
            scores = score(f"{name}[resamples=50]", votes=votes)
            assert scores.low is not None and scores.high is not None
            results.add((float(scores.raw[0]), float(scores.low[0]), float(scores.high[0])))
    finally:
        set_threads(None)
    other = score(f"{name}[resamples=50,seed=1]", votes=votes).low
    assert len(results) == 1 and other != next(iter(results))[1]


@pytest.mark.parametrize("name", FROM_COUNTS)
def test_sparse_counts_give_the_same_as_dense(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    votes = votes_of(drawn())
    dense = crowd_score(name, votes)
    monkeypatch.setattr(crowd_module, "MAX_DENSE_CELLS", 0)
    assert crowd_score(name, votes) == pytest.approx(dense, abs=1e-12)


def test_agreement_of_labelme_and_cifar10h(data_set: Callable[[str], Path]) -> None:
    votes = pv.read(data_set("labelme")).votes
    assert votes is not None
    assert crowd_score("observed-agreement[single=agrees]", votes) == pytest.approx(0.732, abs=5e-4)
    assert crowd_score("observed-agreement", votes) == pytest.approx(0.7206, abs=5e-5)
    table = np.full((votes.n_workers, votes.n_tasks), NAN)
    table[votes.worker, votes.task] = votes.label
    theirs = krippendorff.alpha(table, level_of_measurement="nominal")
    assert crowd_score("krippendorff-alpha", votes) == pytest.approx(theirs, abs=1e-12)
    counts = pv.read(data_set("cifar10h")).counts
    assert counts is not None and crowd_score("observed-agreement", counts) == pytest.approx(0.924, abs=5e-4)


def test_agreement_of_very_many_labels_and_votes() -> None:
    label = np.random.default_rng(0).integers(0, 4000, (3, 500)).astype(float)
    label[1] = label[0]
    votes = votes_of(label)
    assert votes.n_labels > 600  # 4^600 is too large for a float
    observed = np.mean([(label[a] != label[b]).mean() for a, b in ((0, 1), (0, 2), (1, 2))])
    times, n = np.unique(label, return_counts=True)[1], label.size
    by_chance = 1 - (times * (times - 1)).sum() / (n * (n - 1))
    assert crowd_score("krippendorff-alpha", votes) == pytest.approx(1 - observed / by_chance, abs=1e-12)
    many = Votes.from_counts(np.full((2, 60), 10**6), ["a", "b"], [f"{k:02}" for k in range(60)])
    assert crowd_score("observed-agreement", many) == pytest.approx(1 / 60, abs=1e-6)


def test_two_workers_without_shared_tasks_raise_a_clear_error() -> None:
    votes = Votes.of(task=list("aabb"), worker=["ann", "bo", "ann", "cy"], label=list("xxxy"))
    with pytest.raises(InputError, match="bo and cy do not share a task"):
        score("cohen-kappa[first=bo,second=cy,least=1]", votes=votes)
    with pytest.raises(InputError, match="bo and cy do not share 2 tasks; lower least"):
        score("cohen-kappa[first=bo,second=cy,least=2]", votes=votes)


@pytest.mark.parametrize("weights", ["none", "linear"])
def test_pairs_that_share_too_few_tasks_do_not_change_the_mean(weights: str) -> None:
    """The mean equals that of the pairs that share enough tasks, in a crowd in which most pairs do not."""
    rng = np.random.default_rng(2)
    table = np.where(rng.random((8, 40)) < 0.35, rng.integers(1, 4, (8, 40)), NAN)
    votes = votes_of(table)
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8) if (~np.isnan(table[[a, b]])).all(0).sum() >= 6]
    alone = [crowd_score(f"cohen-kappa[first={a},second={b},weights={weights}]", votes) for a, b in pairs]
    assert 3 < len(alone) < 25
    assert crowd_score(f"cohen-kappa[least=6,weights={weights}]", votes) == pytest.approx(np.mean(alone), abs=1e-12)
