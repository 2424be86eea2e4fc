"""The worker scores from votes: agreement-with-rest, gold-accuracy, speed, too-fast, drift."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

import plurivox as pv
from crowds import crowd, soft_crowd
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify._shared.score_intervals import wilson_interval_95
from plurivox.identify._shared.share_of_others_agreeing_per_vote import (
    share_of_others_agreeing,
    share_of_others_agreeing_with_vote,
)
from score_shortcuts import score


def test_agreement_with_rest_equals_values_computed_by_hand() -> None:
    votes = Votes.of(
        task=list("aaaabbc"), worker=["ann", "bo", "cy", "di", "ann", "bo", "ed"], label=list("xxyzxxx"), workers=None
    )
    scores = score("agreement-with-rest", votes=votes)
    np.testing.assert_allclose(scores.raw, [(1 / 3 + 1) / 2, (1 / 3 + 1) / 2, 0, 0, np.nan])
    np.testing.assert_array_equal(scores.n, [2, 2, 1, 1, 0])


def test_a_workers_own_votes_do_not_count_as_the_rest() -> None:
    votes = Votes.of(task=list("aaa"), worker=["ann", "ann", "bo"], label=list("xxy"))
    np.testing.assert_allclose(score("agreement-with-rest", votes=votes).raw, [0, 0])
    alone = Votes.of(task=list("aa"), worker=["ann", "ann"], label=list("xx"))
    assert np.isnan(score("agreement-with-rest", votes=alone).raw).all()


@pytest.mark.parametrize("weighed", [False, True])
def test_rest_agreement_equals_a_plain_loop(weighed: bool) -> None:
    """The votes include repeated answers of a worker, with the same or another label, and votes without a worker."""
    rng = np.random.default_rng(3)
    task, worker, label = rng.integers(0, 12, 90), rng.integers(0, 7, 90), rng.integers(0, 3, 90)
    weight = rng.integers(1, 4, 90) if weighed else np.ones(90)
    order = np.lexsort((label, worker, task))
    task, worker, label, weight = task[order], worker[order] - 1, label[order], weight[order]
    names = {"tasks": np.arange(12), "workers": np.arange(6), "labels": np.arange(3)}
    votes = Votes(task=task, worker=worker, label=label, weight=weight.astype(float) if weighed else None, **names)
    expected = np.full(90, np.nan)
    for i in range(90):
        others = (task == task[i]) & (worker != worker[i])
        if worker[i] >= 0 and others.any():
            expected[i] = weight[others & (label == label[i])].sum() / weight[others].sum()
    np.testing.assert_allclose(share_of_others_agreeing_with_vote(votes), expected, atol=1e-15)
    np.testing.assert_allclose(
        share_of_others_agreeing(task, worker, label, weight.astype(float)), expected, atol=1e-15
    )
    mixed = rng.permutation(90)
    unsorted = share_of_others_agreeing(task[mixed], worker[mixed], label[mixed], weight[mixed].astype(float))
    np.testing.assert_allclose(unsorted, expected[mixed], atol=1e-15)


def test_plain_votes_give_the_same_as_soft_answers_with_one_label() -> None:
    columns = crowd()
    n = len(columns["task"])
    soft = Votes.of(**columns, weight=np.ones(n), answer=np.arange(n))
    a, b = (score("agreement-with-rest", votes=votes).raw for votes in (Votes.of(**columns), soft))
    np.testing.assert_allclose(a, b)
    assert np.isfinite(score("agreement-with-rest", votes=soft_crowd()).raw).all()


def test_the_bootstrap_interval_has_a_seed_and_contains_the_value() -> None:
    votes = Votes.of(**crowd())
    name = "agreement-with-rest[resamples=200]"
    one, two, other = (score(spec, votes=votes) for spec in (name, name, "agreement-with-rest[resamples=200,seed=1]"))
    assert one.low is not None and one.high is not None
    np.testing.assert_array_equal(one.low, two.low)
    assert (one.low != other.low).any()
    assert (one.low < one.raw).all() and (one.raw < one.high).all()


def test_wilson_interval_equals_that_of_statsmodels() -> None:
    n = np.array([1.0, 5, 10, 200])
    for share in (0, 0.2, 0.5, 1):
        hits = np.round(n * share)
        ours, theirs = wilson_interval_95(hits, n), proportion_confint(hits, n, method="wilson")
        np.testing.assert_allclose(ours, theirs, atol=1e-7)
    assert [end.tolist() for end in wilson_interval_95(np.zeros(1), np.zeros(1))] == [[0], [1]]


def test_gold_accuracy_equals_values_computed_by_hand() -> None:
    votes = Votes.of(task=list("aabbc"), worker=["ann", "bo", "ann", "bo", "cy"], label=list("xyxyx"))
    gold = SoftLabels.gold(["a", "b", "elsewhere"], ["x", "z", "x"])  # nobody voted z: all votes on b are wrong
    scores = score("gold-accuracy", votes=votes, gold=gold)
    np.testing.assert_array_equal(scores.raw, [0.5, 0, np.nan])
    np.testing.assert_array_equal(scores.n, [2, 2, 0])
    low, high = proportion_confint(1, 2, method="wilson")
    assert scores.low is not None and scores.high is not None
    np.testing.assert_allclose([scores.low[0], scores.high[0]], [1 - high, 1 - low], atol=1e-7)


def test_gold_accuracy_without_shared_tasks_raises_a_clear_error() -> None:
    with pytest.raises(InputError, match="gold-accuracy: no task has a known label; gold has tasks such as 'q'"):
        score("gold-accuracy", votes=Votes.of(["a"], ["w"], ["x"]), gold=SoftLabels.gold(["q"], ["x"]))
    with pytest.raises(InputError, match="gold-accuracy needs gold: give known labels"):
        score("gold-accuracy", votes=Votes.of(["a"], ["w"], ["x"]))


def test_mean_gold_accuracy_of_labelme_and_cifar10h(data_set: Callable[[str], Path]) -> None:
    labelme, cifar10h = (pv.read(data_set(name)) for name in ("labelme", "cifar10h"))
    assert np.mean(score("gold-accuracy", votes=labelme.votes, gold=labelme.gold).raw) == pytest.approx(0.692, abs=5e-4)
    named = score("gold-accuracy", votes=cifar10h.votes, gold=cifar10h.gold)
    assert named.n is not None and named.n.sum() == 25_752 and len(named.names) == 2571
    assert (named.raw * named.n).sum() / named.n.sum() == pytest.approx(0.9489, abs=5e-5)


def test_speed_equals_medians_computed_by_hand() -> None:
    votes = Votes.of(
        list("abcdef"), ["ann"] * 3 + ["bo"] * 2 + ["cy"], list("xxxxxx"), seconds=[4, 9, 5, 2, np.nan, np.nan]
    )
    scores = score("speed", votes=votes)
    np.testing.assert_array_equal(scores.raw, [5, 2, np.nan])
    np.testing.assert_array_equal(scores.n, [3, 1, 0])
    assert scores.worst().tolist() == ["bo", "ann"]


def test_the_time_of_a_soft_answer_counts_once() -> None:
    votes = Votes.of(list("aab"), ["ann"] * 3, list("xyx"), weight=[0.5, 0.5, 1], answer=[0, 0, 1], seconds=[2, 2, 8])
    scores = score("speed", votes=votes)
    assert scores.raw is not None and scores.raw.tolist() == [5] and scores.n is not None and scores.n.tolist() == [2]


def test_too_fast_by_seconds_and_by_the_median() -> None:
    votes = Votes.of(list("abcd"), ["ann", "ann", "bo", "bo"], list("xxyy"), seconds=[4, 8, 1, 6])  # median 5
    cases = {"": [0, 0], "[of-median=0.3]": [0, 0.5], "[of-median=0.9]": [0.5, 0.5], "[seconds=7]": [0.5, 1]}
    cases["[seconds=none,of-median=0.3]"] = [0, 0.5]
    for spec, expected in cases.items():
        assert score(f"too-fast{spec}", votes=votes).raw.tolist() == expected


@pytest.mark.parametrize("options", ["seconds=1", "seconds=3", "of-median=0.5", "seconds=2,of-median=0.9"])
def test_too_fast_of_identify_and_of_clean_are_the_same_answers(options: str) -> None:
    votes = Votes.of(list("abcdef"), list("uuuvvv"), list("xxyyxy"), seconds=[0.4, 1, 2.5, 3, 8, 40])
    share = score(f"too-fast[{options}]", votes=votes).raw
    removed = pv.clean.clean(votes, [f"too-fast[{options},share=none]"]).audit.row
    np.testing.assert_allclose(share, np.bincount(votes.worker[removed], minlength=2) / 3)


def test_a_limit_far_below_every_answer_is_told() -> None:
    votes = Votes.of(list("ab"), list("uv"), list("xx"), seconds=[20, 40])
    with pytest.warns(PlurivoxWarning, match="set of_median=0.3"):
        assert score("too-fast", votes=votes).raw.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["speed", "too-fast"])
def test_the_error_without_times_names_the_column(name: str) -> None:
    votes = Votes.of(**crowd())
    with pytest.raises(InputError, match=f"{name} needs the time of each answer: give votes or answers with a column"):
        score(name, votes=votes)
    unknown = Votes.of(**crowd(), seconds=np.full(len(votes), np.nan))
    with pytest.raises(InputError, match="the column seconds has none"):
        score(name, votes=unknown)


@pytest.mark.parametrize("name", ["agreement-with-rest", "gold-accuracy", "speed", "too-fast"])
def test_votes_without_workers_raise_an_error(name: str) -> None:
    counts = Votes.from_counts(np.array([[3, 1]]), ["a"], ["x", "y"])
    with pytest.raises(InputError, match=f"{name} needs worker names"):
        score(name, votes=counts, gold=SoftLabels.gold(["a"], ["x"]))


def test_negative_times_are_left_out_with_a_warning() -> None:
    votes = Votes.of(list("abc"), ["ann", "ann", "bo"], list("xxy"), seconds=[4, -8, 2])
    with pytest.warns(PlurivoxWarning, match="speed: 1 answers have a negative time"):
        assert score("speed", votes=votes).raw.tolist() == [4, 2]


def tiring(seed: int, n_tasks: int = 60) -> Votes:
    """Return votes of twenty workers who are right nine times in ten, except that the first five get steadily worse."""
    rng, n = np.random.default_rng(seed), 20
    truth = rng.integers(0, 3, n_tasks)
    at = np.stack([rng.permutation(n_tasks) for _ in range(n)])  # (n_workers, n_tasks) position of each task
    right = np.where(np.arange(n)[:, None] < 5, 1 - at / n_tasks, 0.9)
    said = np.where(rng.random((n, n_tasks)) < right, truth, (truth + 1) % 3)
    worker, task = np.divmod(np.arange(n * n_tasks), n_tasks)
    return Votes.of(task, worker, said.ravel(), when=at.ravel())


def test_drift_equals_a_scaled_correlation_with_time() -> None:
    votes = tiring(0)
    scores = score("drift", votes=votes)
    worker = 7
    mine = np.flatnonzero(votes.worker == worker)
    counts = votes.counts()[votes.task]
    share = (counts[np.arange(len(votes)), votes.label] - 1) / (counts.sum(1) - 1)
    above = share - (np.bincount(votes.task, share) / np.bincount(votes.task))[votes.task]
    assert votes.when is not None and scores.raw is not None and scores.n is not None
    r = np.corrcoef(votes.when[mine], above[mine])[0, 1]
    np.testing.assert_allclose(scores.badness[worker], -r * np.sqrt(len(mine) - 1))
    np.testing.assert_allclose(scores.raw[worker], np.polyfit(votes.when[mine], above[mine], 1)[0] * (len(mine) - 1))
    assert scores.n[worker] == 60


def test_drift_finds_tiring_workers_and_few_others() -> None:
    z = np.stack([score("drift", votes=tiring(seed)).badness for seed in range(20)])
    assert (z[:, :5] > 2.5).mean() > 0.95 and (z[:, 5:] > 2.5).mean() < 0.03


def test_drift_needs_times_and_is_nan_for_few_answers() -> None:
    with pytest.raises(InputError, match="a column when"):
        score("drift", votes=Votes.of(**crowd()))
    few = Votes.of(list("aabb"), ["ann", "bo"] * 2, list("xxxy"), when=[1, 2, 3, 4])
    assert np.isnan(score("drift", votes=few).badness).all()
    same = Votes.of(list("aabbcc"), ["ann", "bo"] * 3, list("xxyyzz"), when=range(6))
    np.testing.assert_array_equal(score("drift", votes=same).badness, [0, 0])
