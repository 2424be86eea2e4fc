"""The comparisons of the recipe cifar10s: smoothing, held-out settings, distinct results, typed percents, seconds."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox.core.answers import Answers
from plurivox.core.recipe_tables import Table, Tables
from plurivox.core.soft_labels import SoftLabels
from plurivox.recipes import Cifar10s
from plurivox.recipes._papers.cifar10s_methods import group_methods_with_same_result
from plurivox.recipes._papers.cifar10s_percent_calibration import percent_calibration_table
from plurivox.recipes._papers.cifar10s_smoothing import (
    dirichlet_shares,
    fold_of_each_task,
    losses_with_setting_of_other_folds,
    related_label_prior,
    smoothing_table,
    soft_labels_per_smoothing_and_setting,
)

COUNTS = np.array([[4.0, 2, 0], [0, 5, 1], [3, 3, 0], [0, 0, 6]])
TASKS, LABELS = ["a", "b", "c", "d"], ["cat", "dog", "ship"]


def test_smoothings_are_those_of_the_aggregation_methods() -> None:
    votes = pv.Votes.from_counts(COUNTS, TASKS, LABELS)
    ours = soft_labels_per_smoothing_and_setting(COUNTS)
    for spec, (name, setting) in {
        "vote-shares": ("none: vote-shares", ""),
        "softmax-shares": ("softmax-shares", ""),
        "dirichlet-shares[added=0.05]": ("dirichlet-shares", "0.05"),
        "temperature[method=[dirichlet-shares[added=0.5]],power=2]": ("dirichlet-shares, power", "0.5, power 2"),
    }.items():
        np.testing.assert_allclose(ours[name][setting], pv.fit(votes, spec).soft.prob, atol=1e-12)


def test_related_labels_get_the_pseudo_votes() -> None:
    prior = related_label_prior(COUNTS)
    np.testing.assert_allclose(prior.sum(1), 1)
    # nobody votes for ship where cat has votes, but some do for dog
    assert prior[0, 1] > 10 * prior[0, 2] and prior.min() > 0
    np.testing.assert_allclose(dirichlet_shares(COUNTS, 0, prior), COUNTS / COUNTS.sum(1, keepdims=True))


def test_a_setting_is_chosen_on_the_other_folds_only() -> None:
    fold = fold_of_each_task(100)
    assert np.bincount(fold).tolist() == [20] * 5
    losses = np.zeros((2, 100))
    losses[0, fold == 0] = 10  # bad in fold 0 only, so all other folds avoid it
    losses[1] = 1
    loss, chosen = losses_with_setting_of_other_folds(losses)
    assert chosen.tolist() == [0, 1, 1, 1, 1]
    assert set(loss[fold == 0]) == {10} and set(loss[fold != 0]) == {1}


def test_zeros_do_not_decide_once_both_kinds_of_answers_are_smoothed() -> None:
    rng = np.random.default_rng(0)
    tasks, truth = [str(i) for i in range(200)], rng.dirichlet([5, 1, 1], 200)
    plain = np.array([rng.multinomial(6, row) for row in truth], float)
    soft = plain * 0.9 + 0.2  # the same votes without zeros: no information is added
    table = smoothing_table(
        {"plain": plain, "soft": soft},
        np.array(tasks),
        np.array(LABELS),
        SoftLabels.of(truth, tasks, LABELS),
        "cross-entropy",
        "t",
    )
    rows = dict(zip(table.columns()["smoothing"].tolist(), range(len(table)), strict=True))
    gain, low, high = (table.columns()[name] for name in ("gain", "low", "high"))
    assert low[rows["none: vote-shares"]] > 0.5
    assert abs(gain[rows["dirichlet-shares"]]) < 0.01
    assert low[rows["dirichlet-shares"]] < 0 < high[rows["dirichlet-shares"]]


def test_methods_with_the_same_values_are_one_result() -> None:
    same = np.array([1.0, 0, 1, 1]), np.array([1.0, 1, 1, 1])
    other = np.array([1.0, 0, 1, 1]), np.array([0.0, 1, 1, 1])  # differs on soft answers only
    assert group_methods_with_same_result({"a": same, "b": other, "c": same}) == [["a", "c"], ["b"]]
    # any two methods of a group are close, so a chain of small steps is not one group
    steps = {name: (np.full(4, shift), np.zeros(4)) for name, shift in (("x", 0), ("y", 0.008), ("z", 0.016))}
    assert group_methods_with_same_result(steps) == [["x", "y"], ["z"]]


def test_typed_percents_beside_shares_of_votes_and_gold() -> None:
    answers = Answers.of(
        ["a", "b", "a"],
        ["v", "v", "w"],
        [[("named", "cat", "100")], [("named", "dog", "100")], [("named", "dog", "0")]],
        labels=LABELS,
    )
    human = SoftLabels.of([[0.8, 0.2, 0], [0.5, 0.4, 0.1]], ["a", "b"], LABELS)
    table = percent_calibration_table(answers, human, SoftLabels.gold(["a", "b"], ["cat", "cat"], labels=LABELS))
    cells = {name: column.tolist() for name, column in table.columns().items()}
    assert cells["percent typed"] == ["100", "all"] and cells["answers"] == [2, 2]
    assert cells["CIFAR-10H votes, percent"] == pytest.approx([60, 60]) and cells["correct, percent"] == [50, 50]
    assert "1 answers without a percent" in table.notes[0]


@cache
def real_tables(folder: Path) -> Tables:
    return Cifar10s(seeds=2).run(read=lambda name: pv.read(folder.parent / name))


def row(table: Table, name: str) -> dict[str, float]:
    """Return the row of a table whose first cell is `name`, or lists it among several methods."""
    columns = {key: column.tolist() for key, column in table.columns().items()}
    first = next(iter(columns.values()))
    at = first.index(name) if name in first else [name in cell.split(", ") for cell in first].index(True)
    return {key: column[at] for key, column in columns.items()}


@pytest.mark.filterwarnings("ignore:523 answers")
def test_key_numbers_of_the_page_soft_answers(data_set: Callable[[str], Path]) -> None:
    data_set("cifar10h")
    tables = real_tables(data_set("cifar10s"))
    people = tables["What people say: cross-entropy to CIFAR-10H"]
    assert row(people, "none: vote-shares")["plain"] == pytest.approx(2.514, abs=5e-4)  # zeros clipped at 1e-12
    assert row(people, "softmax-shares")["plain"] == pytest.approx(0.787, abs=5e-4)
    assert row(people, "dirichlet-shares")["plain"] == pytest.approx(0.706, abs=5e-4)
    related = row(people, "related labels")
    assert related["low"] < 0 < related["high"] and abs(related["gain"]) < 0.005
    accuracy = tables["What is true: accuracy"]
    assert len(accuracy) == 12 and row(accuracy, "log-pool")["low"] > 0
    assert row(accuracy, "dawid-skene-clusters")["soft"] == pytest.approx(0.948)
    said = tables["What people say: cross-entropy by method"]
    better = np.array(said.columns()["method"])[said.columns()["low mean"] > 0]
    assert better.tolist() == ["calibrated-shares"]  # no other method is better than the mean
    assert row(said, "ibcc")["high mean"] < 0
    assert row(tables["Percent of the top label"], "100")["CIFAR-10H votes, percent"] == pytest.approx(86.5, abs=0.05)
    for measure in ("accuracy", "cross-entropy"):
        assert set(tables[f"Break-even: soft against plain, {measure}"].columns()["cheaper"].tolist()) == {"plain"}
