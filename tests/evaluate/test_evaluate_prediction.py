"""evaluate_labels: values of the functions, bootstrap intervals, and a constant prediction as baseline."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plurivox import evaluate
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError, UnknownName
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates
from plurivox.core.votes import Votes
from plurivox.evaluate import MEASURES, Evaluation, compare_predictions, evaluate_labels, most_different
from plurivox.evaluate.align_tasks_and_labels import align_rows
from plurivox.evaluate.bootstrap_over_tasks import mean_as_task_sums, resample_measures
from plurivox.io import read

RNG = np.random.default_rng(7)
P, Q = RNG.dirichlet(np.ones(4), (2, 150))
PREDICTION, TRUTH = (SoftLabels.of(prob, range(150), list("abcd")) for prob in (Q, P))
ALIKE = {  # measures whose name differs from the name of their function: how to call it
    "top-2-accuracy": lambda q, p: evaluate.top_k_accuracy(q, p, k=2),
    "top-5-accuracy": lambda q, p: 1.0,
    "top-2-macro-accuracy": lambda q, p: evaluate.top_k_accuracy(q, p, k=2, average="macro"),
    "top-5-macro-accuracy": lambda q, p: 1.0,
    **{
        f"{average}-{what}": lambda q, p, average=average, what=what: getattr(evaluate, what)(q, p, average=average)
        for average in ("macro", "weighted", "micro")
        for what in ("precision", "recall", "f1")
    },
}


@pytest.mark.parametrize("name", MEASURES)
def test_an_evaluation_a_measure_and_its_function_give_the_same_bits(name: str) -> None:
    function = ALIKE.get(name) or getattr(evaluate, name.replace("-", "_"))
    found = evaluate_labels(PREDICTION, TRUTH, measures=[name], repeats=50)
    assert found.value[0] == MEASURES[name](PREDICTION, TRUTH) == function(PREDICTION, TRUTH) and found.n[0] == 150
    assert found.low[0] <= found.value[0] <= found.high[0]


@pytest.mark.parametrize("name", [name for name, one in MEASURES.items() if not one.biased])
def test_resampling_task_sums_equals_resampling_tasks(name: str) -> None:
    """Computing the measure anew on drawn tasks has the same mean and deviation as resampling sums per task."""
    drawn = resample_measures(
        [MEASURES[name].measure_as_task_sums(*align_rows(PREDICTION, TRUTH))], repeats=1000, seed=3
    )[:, 0]
    rows, slow = np.random.default_rng(9), []
    for _ in range(150):
        at = rows.integers(0, 150, 150)
        again = [SoftLabels.of(prob[at], range(150), list("abcd")) for prob in (Q, P)]
        slow.append(MEASURES[name].measure_as_task_sums(*align_rows(*again)).measure_over_all_tasks)
    spread = np.std(slow)
    assert np.std(drawn) == pytest.approx(spread, rel=0.3, abs=1e-12)
    assert np.mean(drawn) == pytest.approx(np.mean(slow), abs=spread / 3 + 1e-12)


def test_resampling_groups_of_tasks_approximates_resampling_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).normal(0, 1, 5000)
    one = resample_measures([mean_as_task_sums(values)], repeats=2000)
    monkeypatch.setattr("plurivox.evaluate.bootstrap_over_tasks.MAX_GROUPS", 500)
    few = resample_measures([mean_as_task_sums(values)], repeats=2000)
    assert few.std() == pytest.approx(one.std(), rel=0.12) and few.mean() == pytest.approx(values.mean(), abs=0.002)


def test_intervals_equal_the_bootstrap_and_depend_on_the_seed() -> None:
    found = evaluate_labels(PREDICTION, TRUTH, measures=["brier"], repeats=4000)["brier"]
    direct = evaluate.bootstrap(evaluate.by_task(PREDICTION, TRUTH, "brier")[1], repeats=4000)
    assert (found.low, found.high) == pytest.approx((direct.low, direct.high), abs=0.004)
    twice = [evaluate_labels(PREDICTION, TRUTH, seed=5, repeats=30).columns() for _ in range(2)]
    assert all(
        np.array_equal(twice[0][name], twice[1][name], equal_nan=name == "low") for name in ("value", "low", "n")
    )


def test_the_baseline_is_a_constant_prediction() -> None:
    gold = SoftLabels.one_hot(P.argmax(1), range(150), list("abcd"))
    often = np.bincount(P.argmax(1), minlength=4) / 150
    found = evaluate_labels(PREDICTION, gold, against=TRUTH, repeats=0)
    base = dict(zip(found.measure.tolist(), found.baseline.tolist(), strict=True))
    assert base["accuracy"] == found.majority_share == pytest.approx(often.max())
    assert base["nll"] == pytest.approx(-(often * np.log(often)).sum()) and base["ece"] == pytest.approx(0, abs=1e-12)
    assert base["total-variation"] == pytest.approx(np.abs(P - P.mean(0)).sum(1).mean() / 2)
    assert np.isnan(base["entropy-correlation"]) and np.isnan(found.low).all()
    assert found.majority_label == "abcd"[often.argmax()]


def test_votes_add_soft_measures_and_the_floor() -> None:
    counts = np.random.default_rng(1).multinomial(8, P)
    votes = Votes.from_counts(counts, range(150), list("abcd"))
    gold = SoftLabels.one_hot(P.argmax(1), range(150), list("abcd"))
    found = evaluate_labels(PREDICTION, gold, votes=votes, repeats=20)
    assert found["kl-divergence"].mean == pytest.approx(evaluate.kl_divergence(PREDICTION, evaluate.shares_of(votes)))
    assert found["count-deviance"].mean == pytest.approx(8 * found["kl-divergence"].mean)
    assert found["kl-divergence-floor"].mean == pytest.approx(evaluate.vote_floor(votes))
    right = evaluate_labels(TRUTH, gold, votes=votes, repeats=0)
    assert right["cross-entropy"].mean == pytest.approx(right["cross-entropy-floor"].mean, rel=0.1)
    assert set(found.against.tolist()) == {"truth", "votes"} and not found.notes
    few = Votes.from_counts(counts // 4, range(150), list("abcd"))
    assert "the true floors are higher" in evaluate_labels(PREDICTION, gold, votes=few, repeats=0).notes[-1]
    assert not {"cross-entropy", "kl-divergence-floor"} & set(
        evaluate_labels(PREDICTION, gold, repeats=0).measure.tolist()
    )


def test_tasks_and_measures_left_out_are_noted() -> None:
    gold = SoftLabels.gold([0, 1, 999], ["a", "b", "c"])
    notes = " ".join(evaluate_labels(PREDICTION, gold, repeats=0).notes)
    assert "148 of 150 tasks of the prediction" in notes and "1 of 3 tasks with a true label" in notes
    assert "soft measures are left out" in notes
    assert "compared with itself" in " ".join(evaluate_labels(PREDICTION, PREDICTION, repeats=0).notes)
    assert "the truth is soft" in " ".join(evaluate_labels(PREDICTION, TRUTH, repeats=0).notes)


def test_one_task_and_one_label() -> None:
    found = evaluate_labels(SoftLabels.gold("a", "x"), SoftLabels.gold("a", "x"), measures=["all"], repeats=20)
    assert found["accuracy"].mean == 1 and np.isnan(found.low).all() and np.isnan(found["entropy-correlation"].mean)


def test_ordered_labels_add_wasserstein() -> None:
    ordered = SoftLabels.of(P, range(150), list("abcd"), scale=np.arange(4.0))
    found = evaluate_labels(PREDICTION, ordered, repeats=0)
    assert found["wasserstein"].mean == pytest.approx(evaluate.wasserstein(PREDICTION, ordered))
    assert evaluate_labels(PREDICTION, ordered, measures=["wasserstein"], repeats=0).measure.tolist() == ["wasserstein"]
    with pytest.raises(InputError, match="have no common order"):
        evaluate_labels(PREDICTION, TRUTH, measures=["wasserstein"])


def test_output_formats(tmp_path: Path) -> None:
    found = evaluate_labels(PREDICTION, TRUTH, measures=["accuracy", "entropy-correlation"], repeats=50)
    rows = json.loads(found.json())["rows"]
    assert rows[0]["measure"] == "accuracy" and rows[1]["baseline"] is None
    assert found.markdown().count("\n| ") == 3 and found.majority_baseline_text in found.markdown()
    assert r"accuracy $\uparrow$ & " in found.latex() and r"95\% interval" in found.latex()
    assert found.csv().splitlines()[0] == "measure,value,low,high,baseline,better,n,against,fits"
    found.save(tmp_path / "evaluation.npz")
    again = DataType.load(tmp_path / "evaluation.npz")
    assert isinstance(again, Evaluation) and again.csv() == found.csv()
    with pytest.raises(UnknownName, match="did you mean 'accuracy'"):
        found["acuracy"]


def test_candidates_are_evaluated_like_dense_rows() -> None:
    """Each prediction lists two of 2,000 labels; the other labels share the remaining probability."""
    n, size, rng = 300, 2000, np.random.default_rng(4)
    label = np.sort(np.argsort(rng.random((n, size)), axis=1)[:, :2], axis=1)
    mass = rng.dirichlet([1, 1, 1], n)
    rows = Candidates(np.arange(0, 2 * n + 1, 2), label.ravel(), mass[:, :2].ravel(), mass[:, 2], size)
    sparse = SoftLabels(rows, np.arange(n), np.arange(size))
    gold = SoftLabels.one_hot(label[:, 0], range(n), range(size))
    words = ["hard", "calibration", "cross-entropy", "entropy-similarity"]
    one = evaluate_labels(sparse, gold, measures=words, repeats=5)
    two = evaluate_labels(SoftLabels.of(sparse.prob, range(n), range(size)), gold, measures=words, repeats=5)
    np.testing.assert_allclose(one.value, two.value)


def test_evaluation_needs_only_numpy_and_scipy() -> None:
    code = (
        "import sys; from plurivox import evaluate; from plurivox.core.soft_labels import SoftLabels;"
        "gold = SoftLabels.gold('ab', 'xy'); evaluate.evaluate_labels(gold, gold, measures=['all']);"
        "print({'polars', 'pandas', 'click', 'numba', 'sklearn', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_invalid_arguments_raise_errors() -> None:
    with pytest.raises(UnknownName, match="there is no measure 'brie'; did you mean 'brier'"):
        evaluate_labels(PREDICTION, TRUTH, measures=["brie"])
    with pytest.raises(OptionError, match="repeats must be 0 or more"):
        evaluate_labels(PREDICTION, TRUTH, repeats=-1)
    with pytest.raises(InputError, match="have no task in common"):
        evaluate_labels(PREDICTION, SoftLabels.gold(["z"], ["a"]))


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_cifar10s_labels_compared_with_cifar10h(data_set: Callable[[str], Path]) -> None:
    """The released CIFAR-10S labels are compared with the vote shares of CIFAR-10H."""
    counts = read(data_set("cifar10h")).counts
    ours = read(data_set("cifar10s")).soft_labels
    assert counts is not None and ours is not None
    theirs = evaluate.shares_of(counts)
    assert evaluate.entropy_correlation(ours, theirs) == pytest.approx(0.6243, abs=5e-5)
    assert evaluate.sorted_wasserstein(ours, theirs) == pytest.approx(0.02696, abs=5e-6)
    assert evaluate.total_variation(ours, theirs) == pytest.approx(0.1597, abs=5e-5)
    assert evaluate.jensen_shannon_divergence(ours, theirs, base=2) == pytest.approx(0.069, abs=5e-4)
    shared_task_positions = np.arange(10.0)
    assert evaluate.wasserstein(ours, theirs, scale=shared_task_positions) == pytest.approx(0.523, abs=5e-4)


@pytest.mark.parametrize("measures", [None, ["all"]])
def test_measures_that_do_not_fit_what_the_prediction_estimates_are_marked(measures: list[str] | None) -> None:
    votes = Votes.of(list("aaabbbcccddd"), list("xyz") * 4, list("nnynyynnyyyy"))
    gold, shares = SoftLabels.gold("abcd", "nyny"), SoftLabels.from_vote_shares(votes)
    truth = SoftLabels.of([[0.9, 0.1], [0.2, 0.8], [0.8, 0.2], [0.1, 0.9]], "abcd", "ny", estimates="truth")
    calibration = {"ece", "classwise-ece", "rms-calibration", "brier", "nll"}

    def unfit(prediction: SoftLabels) -> tuple[set[str], str]:
        made = evaluate_labels(prediction, gold, votes=votes, measures=measures, repeats=0, truth_name="gold")
        columns = made.columns()
        return set(columns["measure"][~columns["fits"]].tolist()), made.notes[0] if made.notes else ""

    against_gold, note = unfit(shares)
    assert against_gold == calibration and note.startswith("the prediction estimates people (")
    against_votes, note = unfit(truth)
    assert {"cross-entropy", "jensen-shannon-divergence", "entropy-correlation", "count-deviance"} <= against_votes
    assert not {"accuracy", "kl-divergence-floor", *calibration} & against_votes and "estimates truth" in note
    unknown, note = unfit(replace(truth, estimates="unknown"))
    assert not unknown and "estimates" not in note


def test_tables_of_an_evaluation_show_the_marks(tmp_path: Path) -> None:
    people = SoftLabels.of([[0.9, 0.1], [0.4, 0.6]], "ab", "ny", estimates="people")
    made = evaluate_labels(people, SoftLabels.gold("ab", "ny"), measures=["accuracy", "nll"], repeats=0)
    assert [row[0] for row in made.text_rows()] == ["accuracy", "nll *"]
    assert "nll * " in made.latex() and "\n| nll * |" in made.markdown() and "marked with * (nll)" in made.markdown()
    assert [row["fits"] for row in json.loads(made.json())["rows"]] == [True, False]
    made.save(tmp_path / "made.npz")
    assert Evaluation.load(tmp_path / "made.npz").columns()["fits"].tolist() == [True, False]
    before = replace(made, fits=None)  # as saved by an earlier version
    assert "fits" not in before.columns() and "| nll |" in before.markdown()


def test_a_comparison_of_estimates_of_different_things_says_so() -> None:
    gold = SoftLabels.gold("ab", "ny")
    people = SoftLabels.of([[0.9, 0.1], [0.4, 0.6]], "ab", "ny", estimates="people")
    truth = replace(people, estimates="truth")
    noted = compare_predictions(truth, people, gold, measures=["accuracy", "nll"], repeats=20).notes
    assert "differ by design" in noted[0] and "estimates people" in noted[1] and "measures (nll) evaluate" in noted[1]
    assert compare_predictions(truth, people, gold, measures=["accuracy"], repeats=20).notes == ()
    assert compare_predictions(truth, truth, gold, measures=["nll"], repeats=20).notes == ()
    assert most_different(truth, people).notes and not most_different(people, people).notes
