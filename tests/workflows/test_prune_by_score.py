"""Dropping the worst by a score, and the effect on the labels."""

import numpy as np
import pytest

from clean.faulty_answers import GOLD, faulty
from crowds import crowd
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.recipes.prune_and_compare import PruneAndCompare
from plurivox.workflows.fit_votes import fit
from plurivox.workflows.prune_by_score import prune, prune_and_compare, votes_for_first_labels
from plurivox.workflows.simulate_and_write_crowd import simulate_crowd


def scores(of: str, names: list[str], badness: list[float]) -> Scores:
    """Return scores with this badness; their published number is minus it."""
    return Scores(of, as_names(names), -np.array(badness), np.array(badness), "made-up")  # type: ignore[arg-type]


VOTES = Votes.of(list("aaabbbccc"), ["ann", "bo", "cy"] * 3, list("xxyyyyxyz"))


def test_the_worst_are_dropped_and_nan_stays() -> None:
    left, audit = prune(VOTES, scores("worker", ["ann", "bo", "cy"], [0.2, np.nan, 0.9]), 0.5)
    assert left.workers.tolist() == ["ann", "bo"] and len(left) == 6
    assert left.columns()["label"].tolist() == ["x", "x", "y", "y", "x", "y"]
    assert (audit.worker.tolist(), audit.answers.tolist(), audit.value.tolist()) == (["cy"], [3], [-0.9])
    assert audit.reason.tolist() == ["-0.9, rank 1 of 2: among the worst 50%"]


def test_dropped_tasks_are_removed_from_the_task_names() -> None:
    left, audit = prune(VOTES, scores("task", list("abc"), [0.1, 0.9, 0.3]), 0.34)
    assert left.tasks.tolist() == ["a", "c"] and audit.task.tolist() == ["b"]
    assert fit(left, "dawid-skene").soft.tasks.tolist() == ["a", "c"]


def test_ties_at_the_border_stay_with_a_warning() -> None:
    with pytest.warns(
        PlurivoxWarning, match=r"made-up: 1 instead of 2 are dropped; 2 tasks are tied at badness 0.5 and stay"
    ):
        left, _ = prune(VOTES, scores("task", list("abc"), [0.5, 0.5, 0.6]), 0.7)
    assert left.tasks.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("of", "values", "quantile", "words"),
    [
        ("worker", [1, 2, 3], 0.7, r"dropping the worst 0.7 of 3 workers leaves 1; at least 2 must be left"),
        ("crowd", [1], 0.5, "made-up is a score of a crowd; dropping needs a score of a worker or task"),
    ],
)
def test_invalid_drops_are_errors(of: str, values: list[float], quantile: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        prune(VOTES, scores(of, ["ann", "bo", "cy"][: len(values)], values), quantile)


@pytest.mark.parametrize("quantile", [0, 1, -0.1, 1.5, float("nan")])
def test_a_quantile_is_between_0_and_1(quantile: float) -> None:
    with pytest.raises(OptionError, match="quantile must be between 0 and 1"):
        prune(VOTES, "disagreement", quantile)


def test_answers_are_pruned_by_the_votes_for_their_top_labels() -> None:
    left, audit = prune(faulty(), "gold-accuracy", 0.1, gold=GOLD)
    assert audit.worker.tolist() == ["still"] and len(left) == len(faulty()) - 14


def test_answers_votes_and_counts_are_pruned() -> None:
    counts = Votes.from_counts(np.array([[1, 0], [1, 1], [0, 2], [3, 3]]), list("abcd"), ["x", "y"])
    data = Dataset("made", votes=VOTES, counts=counts, gold=SoftLabels.gold(list("abc"), list("xyz")))
    left, audit = prune(data, scores("task", list("abc"), [0.1, 0.9, 0.3]), 0.34)
    assert left.votes is not None and left.votes.tasks.tolist() == ["a", "c"]
    assert left.counts is not None and left.counts.tasks.tolist() == ["a", "c", "d"]
    assert left.gold is not None and left.gold.tasks.tolist() == ["a", "b", "c"]
    assert audit.answers.tolist() == [2]  # from the counts, which have more answers (11) than the votes (9)
    unnamed = scores("task", list("abcd"), [0.1, 0.2, 0.3, 0.9])
    assert prune(data, unnamed, 0.25)[1].answers.tolist() == [6]  # task d has six counts without workers


def test_counts_are_left_out_if_workers_are_dropped() -> None:
    counts = Votes.from_counts(VOTES.counts(), list("abc"), ["x", "y", "z"])
    data = Dataset("made", votes=VOTES, counts=counts)
    with pytest.warns(PlurivoxWarning, match="made: workers are dropped from the votes; left out: counts"):
        left, audit = prune(data, "agreement-with-rest", 0.34)
    assert left.votes is not None and left.votes.n_workers == 2 and audit.answers.tolist() == [3]
    assert left.parts() == ["votes"]  # counts would still contain the answers of the dropped workers
    worst = scores("worker", ["ann", "bo", "cy"], [0.1, 0.2, 0.9])
    with pytest.raises(InputError, match="has counts without worker names; workers can be dropped"):
        prune(Dataset("unnamed", counts=counts), worst, 0.34)


def test_dropping_tasks_is_also_evaluated_on_all_tasks() -> None:
    hard = scores("task", [str(i) for i in range(30)], list(range(30)))
    votes = Votes.of(**{name: [str(one) for one in column] for name, column in crowd().items()})
    gold = SoftLabels.gold(votes.tasks, ["0"] * 30, labels=["0", "1", "2"])
    table = prune_and_compare(votes, gold, hard, [0.5]).columns()
    assert table["on"].tolist() == ["tasks left", "all tasks"] and table["tasks"].tolist() == [15, 30]
    left, every = table["accuracy after"].tolist()
    assert every == pytest.approx((15 * left + 15 / 3) / 30)  # a uniform prediction is right in one of three tasks
    assert table["accuracy before"][0] == left  # same tasks and same votes


def test_dropping_spammers_improves_accuracy() -> None:
    made = simulate_crowd("hammer-spammer", n_tasks=200, n_workers=30, feedback=5, ratio=0.6, seed=2)
    table = prune_and_compare(made.votes, made.truth, "spam-score-pooled", [0.3, 0.5], "majority-vote").columns()
    gain = table["accuracy after"] - table["accuracy before"]
    assert (gain > 0.02).all() and (gain[2:] > 0.1).all()
    assert table["workers out"].tolist() == [9, 9, 15, 15]


def test_no_gold_task_and_no_quantile_are_errors() -> None:
    with pytest.raises(InputError, match="no task has both votes and a gold label"):
        prune_and_compare(VOTES, SoftLabels.gold(["q"], ["x"]), "disagreement", [0.1])
    with pytest.raises(InputError, match="at least one quantile"):
        prune_and_compare(VOTES, SoftLabels.gold(["a"], ["x"]), "disagreement", [])


def test_the_recipe_drops_by_default_and_hints_at_a_quantile() -> None:
    votes = Votes.of(task=list("aaabbbcc"), worker=[1, 2, 3, 1, 2, 3, 1, 2], label=list("xxyyyyxy"))
    three = Dataset("three", votes=votes, gold=SoftLabels.gold(list("abc"), list("xyy")))
    with pytest.warns(PlurivoxWarning, match="of 3 tasks is less than one: use 0.34 or more") as told:
        (table,) = PruneAndCompare().run(read=lambda _: three).tables
    assert len(told) == 2 and table.columns()["tasks out"].tolist() == [0, 0, 0, 0, 1, 1]
    # a uniform prediction for the dropped task
    assert table.columns()["NLL after"][-1] > table.columns()["NLL before"][-1]


def test_the_recipe_computes_scores_and_reports() -> None:
    data = Dataset("made", votes=Votes.of(**crowd()), gold=SoftLabels.gold(range(30), [0] * 30, labels=[0, 1, 2]))
    recipe = PruneAndCompare(score="agreement-with-rest", quantiles="0.2", method="vote-shares")
    (table,) = recipe.run(read=lambda name: data).tables
    assert table.columns()["workers out"].tolist() == [1, 1] and "uniform prediction" in table.notes[0]
    for wrong in ("", "x", "0.1,2"):
        with pytest.raises(OptionError, match="quantiles"):
            PruneAndCompare(quantiles=wrong)
    with pytest.raises(InputError, match="bare has no gold labels"):
        recipe.run(read=lambda name: Dataset("bare", votes=VOTES))


def test_abstentions_are_not_top_votes() -> None:
    marks = [[("named", "cat", "70")]] * 3
    aside = {"abstain": np.array([True, False, False]), "none_of_these": np.array([False, True, False])}
    assert votes_for_first_labels(Answers.of(list("abc"), ["w"] * 3, marks, **aside)).counts().tolist() == [
        [0],
        [0],
        [1],
    ]


def test_a_quantile_of_less_than_one_drops_nothing_with_a_warning() -> None:
    one = Votes.of(list("ab"), ["ann"] * 2, list("xy"))
    with pytest.warns(PlurivoxWarning, match="made-up: nothing is dropped; 0.5 of 1 workers is less than one"):
        left, audit = prune(one, scores("worker", ["ann"], [1]), 0.5)
    assert len(left) == 2 and not len(audit)


def test_the_audit_has_the_number_of_answers_of_each_worker() -> None:
    votes = Votes.of(list("abcabcd"), ["ann"] * 3 + ["bo"] * 4, list("xyzxyzx"))
    names = ["stranger", "bo", "ann", "cy"]
    _, audit = prune(votes, scores("worker", names, [4, 3, 2, 1]), 0.5)
    assert (audit.worker.tolist(), audit.answers.tolist()) == (["stranger", "bo"], [0, 4])
