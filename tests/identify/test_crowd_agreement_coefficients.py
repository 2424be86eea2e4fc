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
from plurivox.engine.worker_pair_agreement import agreement_of_worker_pairs
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
FROM_COUNTS = ["observed-agreement", "fleiss-kappa", "gwet-ac1", "bennett-s", "krippendorff-alpha"]
COEFFICIENTS = [*FROM_COUNTS, "icc", "cohen-kappa", "scott-pi"]
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


@pytest.mark.parametrize("name", ["cohen-kappa", "scott-pi"])
def test_kappas_of_pairs_need_worker_names_and_votes_of_weight_one(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} needs worker names"):
        score(name, votes=Votes.from_counts(np.array([[2, 1]]), ["a"], ["x", "y"]))
    with pytest.raises(InputError, match=f"{name} takes plain votes or soft answers"):
        score(name, votes=Votes.of(list("aabb"), [1, 2] * 2, list("xyxy"), weight=[1, 2, 1, 1]))


def test_kappas_of_soft_answers_are_expected_ones() -> None:
    """The reference computes expected distances from the (task, worker, label) table of shares."""
    votes = soft_crowd(n_tasks=9, n_workers=3)
    table = votes.weights.reshape(9, 3, 3)
    cohen, scott = [], []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        observed = 1 - (table[:, a] * table[:, b]).sum(1).mean()
        first, second = table[:, a].mean(0), table[:, b].mean(0)
        cohen.append(1 - observed / (1 - first @ second))
        scott.append(1 - observed / (1 - (((first + second) / 2) ** 2).sum()))
    assert crowd_score("cohen-kappa", votes) == pytest.approx(np.mean(cohen))
    assert crowd_score("scott-pi", votes) == pytest.approx(np.mean(scott))


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


# ---- published and independent numbers

SHROUT_FLEISS = np.array(  # (worker, task): six subjects, four raters
    [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]], float
)


@pytest.mark.parametrize(
    ("model", "single", "average"), [("one-way", 0.17, 0.44), ("agreement", 0.29, 0.62), ("consistency", 0.71, 0.91)]
)
def test_icc_of_shrout_and_fleiss(model: str, single: float, average: float) -> None:
    """Shrout & Fleiss (1979), Table 4."""
    votes = votes_of(SHROUT_FLEISS)
    assert crowd_score(f"icc[model={model}]", votes) == pytest.approx(single, abs=0.005)
    assert crowd_score(f"icc[model={model},unit=average]", votes) == pytest.approx(average, abs=0.005)


def test_one_way_icc_with_unequal_votes_equals_an_analysis_of_variance() -> None:
    table = drawn(seed=7)
    groups = [column[~np.isnan(column)] for column in table.T if (~np.isnan(column)).sum() > 1]
    k, every = np.array([len(group) for group in groups]), np.concatenate(groups)
    between = sum(len(group) * (group.mean() - every.mean()) ** 2 for group in groups) / (len(groups) - 1)
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (len(every) - len(groups))
    k0 = (len(every) - (k**2).sum() / len(every)) / (len(groups) - 1)
    expected = (between - within) / (between + (k0 - 1) * within)
    assert crowd_score("icc", votes_of(table)) == pytest.approx(expected, abs=1e-12)


def test_two_way_icc_needs_a_complete_table_or_leaves_tasks_out() -> None:
    gaps = SHROUT_FLEISS.copy()
    gaps[1, 2] = NAN
    with pytest.raises(InputError, match="needs a complete table: 23 of 24 answers of 4 workers to 6 tasks"):
        score("icc[model=agreement]", votes=votes_of(gaps))
    complete = crowd_score("icc[model=agreement]", votes_of(np.delete(SHROUT_FLEISS, 2, axis=1)))
    assert crowd_score("icc[model=agreement,incomplete=left-out]", votes_of(gaps)) == pytest.approx(complete)
    with pytest.raises(InputError, match="numbers or ordered"):
        score("icc", votes=Votes.of(**crowd()))


@pytest.mark.parametrize(
    ("weights", "fleiss", "gwet", "bennett"),
    [
        ("none", 0.761169, 0.775444, 0.772727),
        ("linear", 0.817945, 0.858739, 0.848485),
        ("quadratic", 0.864935, 0.914001, 0.901515),
        ("ordinal", 0.850206, 0.898940, 0.886364),
    ],
)
def test_weighted_coefficients_equal_those_of_irrcac(weights: str, fleiss: float, gwet: float, bennett: float) -> None:
    """Values of the Python package irrCAC 0.4.4 for Gwet's example of four raters with gaps, the same table."""
    votes = votes_of(WITH_GAPS)
    for name, theirs in (("fleiss-kappa", fleiss), ("gwet-ac1", gwet), ("bennett-s", bennett)):
        assert crowd_score(f"{name}[weights={weights}]", votes) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic", "ordinal"])
def test_scotts_pi_of_two_workers_is_their_fleiss_kappa(weights: str) -> None:
    votes = votes_of(drawn(n_workers=2, missing=0))
    fleiss = crowd_score(f"fleiss-kappa[weights={weights}]", votes)
    assert crowd_score(f"scott-pi[weights={weights}]", votes) == pytest.approx(fleiss, abs=1e-12)


def test_alpha_of_label_sets_equals_a_sum_over_pairs() -> None:
    """The reference sums MASI distances, Passonneau (2006), over all pairs of answers."""
    sets = [[{"x"}, {"x"}, {"x", "y"}], [{"y"}, {"y", "z"}, {"y", "z"}], [{"x", "y"}, {"y", "z"}, {"z"}]]
    rows = [(t, w, k) for t, task in enumerate(sets) for w, said in enumerate(task) for k in sorted(said)]

    def masi(a: set[str], b: set[str]) -> float:
        likeness = 1 if a == b else 2 / 3 if a <= b or b <= a else 1 / 3 if a & b else 0
        return 1 - len(a & b) / len(a | b) * likeness

    flat = [said for task in sets for said in task]
    observed = sum(masi(a, b) for task in sets for a in task for b in task) / (9 * 2)
    by_chance = sum(masi(a, b) for a in flat for b in flat) / (9 * 8)
    votes = Votes.of(*map(list, zip(*rows, strict=True)))
    assert crowd_score("krippendorff-alpha[level=masi]", votes) == pytest.approx(1 - observed / by_chance)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_pairs_have_the_standard_error_of_statsmodels(weights: str | None) -> None:
    table = drawn(n_workers=2, missing=0)
    cells = np.zeros((5, 5))
    np.add.at(cells, tuple(table.astype(int) - 1), 1)
    theirs, votes = cohens_kappa(cells, wt=weights), votes_of(table)
    assert votes.scale is not None
    pairs = agreement_of_worker_pairs(votes, votes.scale, weights or "none", 1)
    assert (pairs.kappa[0], pairs.standard_error[0]) == pytest.approx((theirs.kappa, theirs.std_kappa))
    assert pairs.mean_standard_error == pytest.approx(theirs.std_kappa)


def test_the_standard_error_of_the_mean_kappa_equals_that_of_the_bootstrap() -> None:
    votes = votes_of(drawn(n_workers=6, n_tasks=200))
    for name, pooled in (("cohen-kappa", False), ("scott-pi", True)):
        pairs = agreement_of_worker_pairs(votes, np.zeros(5), "none", 5, pooled=pooled)
        scores = score(f"{name}[resamples=500]", votes=votes)
        assert scores.low is not None and scores.high is not None
        assert pairs.kappa.mean() == pytest.approx(scores.raw[0])
        assert 2 * 1.96 * pairs.mean_standard_error == pytest.approx(scores.high[0] - scores.low[0], rel=0.2)


# ---- repeats of one person


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_repeated_answers_of_a_worker_are_not_answers_of_another(name: str) -> None:
    """Two workers who never agree, and say everything twice: counted as four people they seem to agree."""
    columns = {"task": list(range(8)) * 4, "worker": ["ann"] * 16 + ["bo"] * 16, "when": list(range(32))}
    label = [1, 2] * 8 + [2, 1] * 8
    votes = Votes.of(**columns, label=label, ordered=True)
    once = Votes.of(list(range(8)) * 2, ["ann"] * 8 + ["bo"] * 8, label[:8] + label[16:24], ordered=True)
    assert crowd_score(name, votes) == pytest.approx(crowd_score(name, once), abs=1e-12)
    if name != "cohen-kappa" and name != "scott-pi":  # a pair is of two people in any case
        assert crowd_score(f"{name}[repeated=all]", votes) > crowd_score(name, votes) + 0.2


def test_agreement_with_rest_counts_each_other_worker_once() -> None:
    votes = Votes.of(list("aaaa"), ["ann", "bo", "bo", "cy"], list("xyyx"), when=[1, 1, 2, 1])
    assert score("agreement-with-rest", votes=votes).raw.tolist() == [0.5, 0, 0.5]
    assert score("agreement-with-rest[repeated=all]", votes=votes).raw[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("name", "once", "every"), [("disagreement", 1 / 2, 1 / 3), ("entropy[unit=bits]", 1, 0.9183)])
def test_disagreement_about_a_task_counts_each_worker_once(name: str, once: float, every: float) -> None:
    votes = Votes.of(list("aaa"), ["ann", "bo", "bo"], list("xyy"), when=[1, 1, 2])
    assert score(name, votes=votes).raw.tolist() == [once]
    counted = name.replace("]", ",repeated=all]") if "[" in name else f"{name}[repeated=all]"
    assert score(counted, votes=votes).raw == pytest.approx(every, abs=1e-4)
    assert score(
        "kurtosis", votes=Votes.of(list("aaa"), ["ann", "bo", "bo"], list("xyy"), labels=list("wxyz"))
    ).raw == (score("kurtosis", votes=Votes.of(list("aa"), ["ann", "bo"], list("xy"), labels=list("wxyz"))).raw)


def test_drift_counts_each_worker_once() -> None:
    rng = np.random.default_rng(3)
    columns = {"task": list(range(12)) * 4, "worker": list(np.repeat(["ann", "bo", "cy", "di"], 12))}
    columns |= {"label": rng.integers(0, 2, 48).tolist(), "when": list(range(48))}
    again = {name: [*column, *column[12:24]] for name, column in columns.items()} | {"when": list(range(60))}
    once, twice = (score("drift", votes=Votes.of(**one)) for one in (columns, again))
    np.testing.assert_allclose(once.raw, twice.raw)
    assert not np.allclose(score("drift[repeated=all]", votes=Votes.of(**again)).raw, once.raw)
