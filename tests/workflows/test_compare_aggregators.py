"""Comparison of methods on simulated and real data."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError, UnknownName
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import read
from plurivox.workflows.compare_aggregators import Comparison, compare
from plurivox.workflows.comparison_tables import rank_tests_by_measure, sentences_about_tests

WORDS = ["vote-shares", "wawa", "iwmv[weights=li-yu]", "average[parts=[vote-shares,softmax-shares]]"]


def made(seed: int) -> tuple[Votes, SoftLabels]:
    """Return votes of good workers and spammers on 100 tasks, 7 votes per task, and the true labels."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, 100)
    skill = np.where(np.arange(14) < 6, 0.9, 0.0)
    task = np.repeat(np.arange(100), 7)
    worker = np.concatenate([rng.permutation(14)[:7] for _ in range(100)])
    label = np.where(rng.random(700) < skill[worker], true[task], rng.integers(0, 3, 700))
    return Votes.of(task=task, worker=worker, label=label), SoftLabels.gold(range(100), true)


@pytest.fixture(scope="module")
def done() -> Comparison:
    return compare({f"made {seed}": made(seed) for seed in range(5)}, WORDS)


def test_rows_means_and_differences(done: Comparison) -> None:
    assert done.method_specs == WORDS and done.reference == "vote-shares" and len(done.columns()["nll"]) == 20
    table = done.table("accuracy")
    np.testing.assert_allclose(done.mean_over_datasets("accuracy"), table.mean(0))
    gain = done.mean_differences_to_reference("accuracy")
    assert gain[1].mean == pytest.approx((table[:, 1] - table[:, 0]).mean())
    assert gain[1].low > 0 and gain[1].excludes_zero  # wawa gives spammers less weight
    assert gain[0].mean == 0 and np.isnan(gain[0].low)  # the reference itself is not compared


def test_output_formats(done: Comparison, tmp_path: Path) -> None:
    lines = done.csv().splitlines()
    assert lines[0] == "dataset,method,accuracy,nll,brier,ece,seconds,tasks,estimates" and len(lines) == 21
    text = done.markdown()
    assert (
        f"| `wawa` | 5 | {done.mean_over_datasets('accuracy')[1]:.4f} |" in text
        and "Differences to `vote-shares`" in text
    )
    assert len(done.means_and_differences_of_each_method()["accuracy_low"]) == 4
    assert (
        "Mean ranks over the 5 data sets" in text and "Holm's correction" in text and "Medians over data sets" in text
    )
    assert "5 data sets are too few for these tests: a method that is better on all of them has p = 0.1875" in text
    assert "nan" not in text
    done.save(tmp_path / "comparison.npz")
    assert DataType.load(tmp_path / "comparison.npz").csv() == done.csv()  # type: ignore[attr-defined]


def test_another_reference_changes_the_sign(done: Comparison) -> None:
    other = compare({f"made {seed}": made(seed) for seed in range(5)}, WORDS[:2], reference="wawa")
    assert other.mean_differences_to_reference("nll")[0].mean == pytest.approx(
        -done.mean_differences_to_reference("nll")[1].mean
    )


def test_methods_with_the_same_results_are_one_comparison(done: Comparison) -> None:
    """Softmax of vote shares has the most probable labels of vote shares, so their mean has the same accuracy."""
    accuracy, nll = done.over_datasets["accuracy"], done.over_datasets["nll"]
    assert accuracy.n_comparisons == 2 and nll.n_comparisons == 3
    same = rank_tests_by_measure(done)["accuracy"]["same_results"]
    assert same == [["vote-shares", "average[parts=[vote-shares,softmax-shares]]"]]
    assert accuracy.mean_ranks[0] == accuracy.mean_ranks[3] and np.isnan(accuracy.holm_p_values[3])
    said = sentences_about_tests(done)
    assert any("have the same values on all data sets and count as one method" in sentence for sentence in said)


@pytest.mark.parametrize(("n", "said"), [(1, "at least 3 (1 data set given)"), (2, "at least 3 (2 data sets given)")])
def test_with_one_or_two_data_sets_the_tests_are_not_defined(n: int, said: str) -> None:
    done = compare({f"made {seed}": made(seed) for seed in range(n)}, WORDS[:3])
    text = done.markdown()
    assert f"over data sets, {said}" in text and "nan" not in text
    assert done.over_datasets["nll"].n_comparisons == 0 and rank_tests_by_measure(done)["nll"]["friedman"] is None


def test_the_clip_bounds_the_nll() -> None:
    votes = Votes.of(task=["a", "b"], worker=[1, 1], label=["x", "y"])
    gold = SoftLabels.gold(["a", "b"], ["y", "y"])
    done = compare({"wrong": (votes, gold)}, ["majority-vote"], clip=1e-3)
    assert done.nll[0] == pytest.approx(-np.log(1e-3) / 2) and done.clip == 1e-3
    with pytest.raises(OptionError, match="clip, the least probability in the NLL, must be above 0"):
        compare({"wrong": (votes, gold)}, ["majority-vote"], clip=0)


def test_methods_without_a_result_are_noted() -> None:
    votes, gold = made(0)
    counts = Votes.from_counts(votes.counts(), votes.tasks, votes.labels)
    done = compare({"made": (votes, gold), "counts": (counts, gold)}, ["vote-shares", "wawa"])
    assert np.isnan(done.table("nll")[1, 1]) and done.means_and_differences_of_each_method()["datasets"].tolist() == [
        2,
        1,
    ]
    assert "wawa has no result on counts: wawa needs worker names" in done.notes[0] and done.notes[0] in done.markdown()
    many = compare({"counts": (counts, gold)}, ["log-pool", "wawa", "majority-vote"])
    assert "2 methods have no result on counts (log-pool, wawa): each needs worker names" in many.notes[0]
    assert many.reference == "majority-vote"  # the default, log-pool, has no results
    assert compare({"made": (votes, gold)}, ["wawa", "log-pool"]).reference == "log-pool"


def test_only_tasks_with_votes_and_gold_count() -> None:
    votes = Votes.of(task=["a", "b"], worker=[1, 1], label=["x", "y"], tasks=["a", "b", "c"])
    gold = SoftLabels.gold(["a", "c", "d"], ["x", "y", "y"])
    assert compare({"part": (votes, gold)}, ["vote-shares"]).accuracy.tolist() == [1.0]


def test_invalid_input_raises_clear_errors() -> None:
    with pytest.raises(InputError, match="at least one data set"):
        compare({}, WORDS)
    with pytest.raises(
        InputError, match="far: no task has both votes and a gold label; the votes are on the tasks 0, 1, 2"
    ):
        compare({"far": (made(0)[0], SoftLabels.gold(["x"], [1]))}, WORDS)
    with pytest.raises(InputError, match="a method is given twice: 'wawa'"):
        compare({"made": made(0)}, ["wawa", "wawa"])
    with pytest.raises(UnknownName, match="no method in this comparison called 'iwmv'"):
        compare({"made": made(0)}, ["wawa"], reference="iwmv")
    with pytest.raises(UnknownName, match="did you mean 'wawa'"):
        compare({"made": made(0)}, ["wava"])


def test_accuracy_on_real_data(data_set: Callable[[str], Path]) -> None:
    """Vote shares with shared ties have the majority-vote accuracy in INDEX.csv; wawa is at least as accurate."""
    published = {"bluebird": 0.7593, "rte": 0.8969, "web": 0.7307, "labelme": 0.7660, "wsd": 0.9944}
    datasets = {}
    for name in published:
        data = read(data_set(name))
        datasets[name] = data.crowd(), data.gold
    done = compare(datasets, ["vote-shares", "wawa", "iwmv"])
    np.testing.assert_allclose(done.table("accuracy")[:, 0], list(published.values()), atol=5e-5)
    assert (done.table("accuracy")[:, 1] >= done.table("accuracy")[:, 0]).all()
