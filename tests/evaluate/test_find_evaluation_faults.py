"""Leaks, evaluation on the training target and labels in task names are found; clean data have no findings."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import (
    check_reference,
    find_copies,
    find_faults,
    find_labels_in_names,
    find_name_copies,
    find_twins,
)
from plurivox.io import read

RNG = np.random.default_rng(9)
TASKS = [f"t{i}" for i in range(300)]
SPLIT = {task: "train" if i < 200 else "test" for i, task in enumerate(TASKS)}
X = RNG.normal(size=(300, 40))


def test_copies_are_found_by_content() -> None:
    assert find_copies((TASKS, X), SPLIT) == []
    twice = X.copy()
    twice[250:260] = X[:10]
    (found,) = find_copies((TASKS, twice), SPLIT)
    assert "10 of 100 tasks of test have the same content as a task of train ('t250' = 't0')" in found.words
    assert found.tasks == ("t250", "t251", "t252")
    within = dict.fromkeys(TASKS, "train")
    assert find_copies((TASKS, twice), within) == [] and find_copies({}, {}) == []


def test_near_copies_are_found_by_features() -> None:
    assert find_twins(TASKS, X, SPLIT) == []
    near = X.copy()
    near[299] = X[3] + np.random.default_rng(3).normal(0, 1e-3, 40)
    assert find_copies((TASKS, near), SPLIT) == [] and find_twins(TASKS, near, SPLIT)[0].tasks == ("t299",)
    with pytest.raises(InputError, match="features must be finite"):
        find_twins(TASKS, X[:9], SPLIT)
    with pytest.raises(OptionError, match="near must be"):
        find_twins(TASKS, X, SPLIT, near=0)


def test_copies_are_found_by_name() -> None:
    names = ["p1_aug_3.jpg", "p1-flip.jpg", "p2 (1).png", "p2.png", "p10.png", "valid-1"]
    split = dict(zip(names, ["train", "test", "test", "train", "test", "test"], strict=True))
    (found,) = find_name_copies(names, split)
    assert found.tasks == ("p1-flip.jpg", "p2 (1).png") and "2 of 4 tasks of test" in found.words
    copies = {"7-0": "train", "7-1": "test", "8-0": "test"}
    assert find_name_copies(list(copies), copies) == []
    assert find_name_copies(list(copies), copies, pattern=r"^(\d+)-")[0].tasks == ("7-1",)
    for wrong, said in (("(", "is not a valid regular expression"), ("x", "needs a group")):
        with pytest.raises(OptionError, match=said):
            find_name_copies(names, split, pattern=wrong)


def test_evaluation_on_the_training_target_is_found() -> None:
    assert check_reference("softmax-shares", "Softmax_Shares")[0].kind == "own-transform"
    assert check_reference("dawid-skene", "dawid-skene") and not check_reference("vote-shares", "vote-shares")
    assert not check_reference("softmax-shares", "vote-shares")


def test_task_names_that_reveal_the_label_are_found() -> None:
    labels = ["cat", "dog"] * 20
    assert find_labels_in_names(SoftLabels.gold([f"img-{i}" for i in range(40)], labels)) == []
    told = SoftLabels.gold([f"{label}{i}" for i, label in enumerate(labels)], labels)
    assert "40 of 40 tasks contain their true label" in find_labels_in_names(told)[0].words
    coded = SoftLabels.gold([f"{label}_{i}" for i, label in enumerate(labels)], [label == "cat" for label in labels])
    assert "the first word of the name predicts the true label of 100%" in find_labels_in_names(coded)[0].words
    asked = SoftLabels.gold([f"cat_or_dog_{i}" for i in range(40)], labels)
    assert find_labels_in_names(asked) == []
    one = SoftLabels.gold(["cat1", "cat2"], ["cat", "cat"])
    assert find_labels_in_names(one) == [] and find_labels_in_names(SoftLabels.gold([], [])) == []


def test_find_faults_runs_all_checks() -> None:
    twice = X.copy()
    twice[299] = X[0]
    truth = SoftLabels.of(np.full((300, 2), 0.5), TASKS, ["x", "y"])
    given = {"split": SPLIT, "tasks": TASKS[::-1], "target": "glad", "reference": "glad"}
    assert [one.kind for one in find_faults(truth, x=twice[::-1], **given)] == ["leak", "own-transform"]
    assert find_faults(truth) == []
    with pytest.raises(InputError, match="the order of the rows of x cannot be known"):
        find_faults(truth, split=SPLIT, x=twice)


def test_a_copy_does_not_hide_near_copies() -> None:
    both = X.copy()
    both[250], both[251:255] = X[0], X[1:5] + 1e-3
    same, near = find_faults(SoftLabels.of(np.full((300, 2), 0.5), TASKS, ["x", "y"]), split=SPLIT, x=both, tasks=TASKS)
    assert (same.n, near.n) == (1, 5) and "features within cosine 0.99" in near.words


def test_labelme_names_begin_with_the_label(data_set: Callable[[str], Path]) -> None:
    data = read(data_set("labelme"))
    assert data.gold is not None
    (found,) = find_faults(data.gold)
    assert "2688 of 2688 tasks contain their true label" in found.words
