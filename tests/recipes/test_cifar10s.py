"""The recipe cifar10s: our numbers equal those published or computed from the released data."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox.core.answers import Answers
from plurivox.core.array_types import TEXT
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.parse_typed_percents import parse_percents
from plurivox.core.soft_labels import SoftLabels
from plurivox.io import Dataset
from plurivox.recipes import Cifar10s
from plurivox.recipes._papers.cifar10s_published_numbers import (
    RELEASED,
    PublishedNumber,
    compare_published_numbers_with_ours,
    largest_soft_label_difference,
)

WITHIN = {  # largest allowed difference between our number and that of the release
    "label of each answer, largest difference": 1e-12,
    "people per image, mean": 1e-9,
    "repeats, share changed": 5e-5,
    "repeats, mean change of percent": 5e-3,
    "median seconds": 1e-3,
    "median seconds, first views": 1e-2,
    "median seconds, repeats": 0.05,
    "entropy r, six answers per image": 0.003,  # depends on random draws of answers
    "entropy r, six answers: sd": 0.002,
    "total variation to CIFAR-10H": 5e-5,
    "Jensen-Shannon divergence to CIFAR-10H": 5e-4,
    "Wasserstein over places in the list": 5e-4,
    "CIFAR-10H, at most two labels": 5e-5,
}
COUNTED = ("people", "answers", "first", "repeats", "CIFAR-10H images")


@cache
def data(folder: Path) -> Dataset:
    with pytest.warns(PlurivoxWarning, match="523 answers are a worker's second"):
        found = pv.read(folder)
        assert found.votes is not None
    return found


@cache
def figures(folder: Path) -> dict[str, PublishedNumber]:
    ours, human = data(folder), pv.read(folder.parent / "cifar10h")
    published = ours.tables["published_labels"]().to_dict(as_series=False)
    return {
        one.name: one for one in compare_published_numbers_with_ours(ours.answers, published, human.counts, ours.gold)
    }


def test_every_number_equals_the_release(data_set: Callable[[str], Path]) -> None:
    data_set("cifar10h")
    found = figures(data_set("cifar10s"))
    assert len(found) == 48
    for name, one in found.items():
        near = WITHIN.get(name, 0 if name.startswith(COUNTED) else 5.1e-5 if " r" in name else 5.1e-6)
        assert abs(one.ours - one.release) <= near, one


def test_odd_cases_among_the_released_answers(data_set: Callable[[str], Path]) -> None:
    answers = data(data_set("cifar10s")).answers
    top, second = answers.label_codes_at_rank(0), answers.label_codes_at_rank(1)
    p1, p2 = parse_percents(answers.typed_texts_at_rank(0)).value, parse_percents(answers.typed_texts_at_rank(1)).value
    # a percent without a second label
    assert int(((second < 0) & (answers.typed_texts_at_rank(1) != "")).sum()) == 1090
    p2 = np.where(second < 0, np.nan, p2)
    p1 = np.where(p1 == 0, 100, p1)  # the released code reads a percent of 0 as 100
    both = p1 + np.nan_to_num(p2)
    assert [int((both > 100).sum()), int((both == 100).sum()), int((both < 100).sum())] == [674, 4263, 1786]
    never, named = answers.mask_marked_labels_per_answer("never"), answers.mask_marked_labels_per_answer("named")
    assert int((never & named).any(1).sum()) == 40
    with_mass = np.where(second == top, p2 > 0, 1 + (p2 > 0))  # a second label equal to the top label replaces it
    assert int((never.sum(1) + with_mass == len(answers.labels)).sum()) == 3839
    there = second >= 0
    assert [int((there & np.isnan(p2)).sum()), int((p2 == 0).sum()), int((second == top).sum())] == [10, 4, 153]
    assert [int((p2 > p1).sum()), int((p2 == p1).sum())] == [36, 455]


def test_default_flags_on_the_released_answers(data_set: Callable[[str], Path]) -> None:
    found = pv.elicit_votes(data(data_set("cifar10s")).answers, "top-two")
    assert found.outcome_counts == {"read": 6723, "abstained": 0, "none-of-these": 0, "unreadable": 0}
    expected = {"repaired": 1, "zero-top": 6, "zero-second": 4, "second-without-percent": 10}
    expected |= {"named-twice": 153, "contradiction": 40}
    assert expected.items() <= found.flag_counts.items()


def test_published_labels_are_compared_as_multisets() -> None:
    marks = [[("named", "x", "70")], [("named", "y", "20")], [("named", "x", "100")]]
    answers = Answers.of(task=["a", "a", "b"], worker=[1, 2, 1], marks=marks, labels=["x", "y"])
    published = {"task": ["b", "a", "a"], "x": [0.9, 0.8, 0.7], "y": [0.1, 0.2, 0.3]}
    assert largest_soft_label_difference(answers, published) < 1e-15
    assert largest_soft_label_difference(answers, published | {"x": [0.9, 0.8, 0.8]}) == pytest.approx(0.1)
    assert largest_soft_label_difference(answers, {"task": ["b"], "x": [1.0], "y": [0.0]}) == np.inf


def made_data() -> dict[str, Dataset]:
    """Return small data sets for the recipe: two images, five answers, one of them a repeat."""
    answers = Answers.of(
        task=["0", "1", "0", "0", "1"],
        worker=["v", "v", "v", "w", "w"],
        marks=[
            [("named", "cat", "80"), ("never", "bird", "")],
            [("named", "dog", "100")],
            *[[("named", "cat", "60")]] * 3,
        ],
        labels=["bird", "cat", "deer", "dog", "frog", "horse"],
        position=np.array([1, 2, 3, 1, 2]),
        sitting=np.array(["p"] * 5, dtype=TEXT),
        seconds=np.array([30.0, 20, 10, 40, 50]),
        repeat_of=np.array([-1, -1, 0, -1, -1]),
    )
    soft = pv.elicit_votes(answers, RELEASED).votes
    rows = np.zeros((5, 6))
    rows[soft.answer, soft.label] = soft.weight
    columns = {"task": answers.tasks[answers.task]} | {str(label): rows[:, k] for k, label in enumerate(answers.labels)}
    gold = SoftLabels.gold(["0", "1"], ["cat", "dog"], labels=answers.labels)
    human = pv.Votes.from_counts(np.array([[0, 40, 0, 10, 1, 0], [1, 0, 0, 50, 0, 0]]), ["0", "1"], answers.labels)
    table = {"published_labels": lambda: pv.io.frame_of(columns, "published_labels")}
    return {
        "cifar10s": Dataset("cifar10s", answers=answers, gold=gold, tables=table),
        "cifar10h": Dataset("h", counts=human),
    }


@pytest.mark.long
def test_the_recipe_runs_on_small_data() -> None:
    made = made_data()
    tables = Cifar10s(seeds=2).run(read=made.__getitem__)
    ours = dict(zip(*(tables["Figures"].columns()[name].tolist() for name in ("figure", "ours")), strict=True))
    assert ours["people"] == "2" and ours["repeats"] == "1" and ours["repeats, top label changed"] == "0"
    assert float(ours["label of each answer, largest difference"]) < 1e-12
    assert len(ours) > 40 and all(name in tables.text() for name in ours)  # no row is left out of the text
    assert tables["Break-even"].columns()["cheaper"].tolist()[0] in ("plain", "soft", "-")
    assert tables["Choosing gamma"].columns()["gamma"].tolist() == [0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4]
    assert "4 first answers" in tables.text()  # the repeat is in the first table only
    made["cifar10s"] = Dataset("cifar10s", gold=made["cifar10s"].gold)
    with pytest.raises(InputError, match="needs answers, gold labels and published labels"):
        Cifar10s().run(read=made.__getitem__)
