"""Splits by task name."""

from pathlib import Path

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.train.data import splits

TASKS = [f"t{i}" for i in range(101)]
LABELS = np.array(["a", "b", "c"])[np.random.default_rng(0).integers(0, 3, 101)]


def test_every_split_has_its_share_of_every_label_in_any_input_order() -> None:
    made = splits.stratified(TASKS, LABELS, seed=3)
    assert sorted(np.concatenate(list(made.values())).tolist()) == sorted(TASKS)
    assert [len(part) for part in made.values()] == [71, 10, 20]
    of = dict(zip(TASKS, LABELS.tolist(), strict=True))
    for name, share in splits.DEFAULT_SHARES.items():
        for label in "abc":
            n = sum(of[task] == label for task in made[name].tolist())
            assert abs(n - share * (label == LABELS).sum()) <= 1
    turned = splits.stratified(TASKS[::-1], LABELS[::-1], seed=3)
    assert all(made[name].tolist() == turned[name].tolist() for name in made)
    assert made["test"].tolist() != splits.stratified(TASKS, LABELS, seed=4)["test"].tolist()


@pytest.mark.parametrize("shares", [splits.DEFAULT_SHARES, {"a": 0.5, "b": 0.1, "c": 0.4}])
def test_rare_labels_do_not_change_the_shares_of_the_splits(shares: dict[str, float]) -> None:
    rare = np.concatenate([np.arange(60), np.arange(60, 80).repeat(2), np.full(101, 99)])
    made = splits.stratified(range(len(rare)), rare, shares)
    assert sorted(np.concatenate(list(made.values())).tolist()) == list(range(201))
    for name, share in shares.items():
        assert abs(len(made[name]) - share * 201) <= 1
        assert abs((rare[made[name]] == 99).sum() - share * 101) <= 2


def test_groups_stay_together() -> None:
    group = np.arange(101) // 4
    made = splits.grouped(TASKS, group, seed=1)
    homes = [{int(task[1:]) // 4 for task in part.tolist()} for part in made.values()]
    assert sum(map(len, homes)) == len(set.union(*homes)) == 26
    assert [len(part) for part in made.values()] == pytest.approx([70.7, 10.1, 20.2], abs=4)


def test_folds_test_every_task_once() -> None:
    for how in ({}, {"labels": LABELS}, {"groups": np.arange(101) // 4}):
        made = splits.folds(TASKS, 5, **how)  # type: ignore[arg-type]
        assert sorted(np.concatenate([one["test"] for one in made]).tolist()) == sorted(TASKS)
        assert all(len(one["train"]) + len(one["test"]) == 101 for one in made)
        assert all(not set(one["train"].tolist()) & set(one["test"].tolist()) for one in made)


def test_splits_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "split.csv"
    file.write_text("task,split\na,train\nb,test\nc,train\nd,\n")
    assert {name: part.tolist() for name, part in splits.read_split(file).items()} == {
        "train": ["a", "c"],
        "test": ["b"],
    }
    file.write_text("task,split\na,train\na,test\n")
    with pytest.raises(InputError, match="puts tasks into two splits: 'a'"):
        splits.read_split(file)
    file.write_text("task,part\na,train\n")
    with pytest.raises(InputError, match="needs the columns task and split"):
        splits.read_split(file)


def test_wrong_arguments_raise_errors() -> None:
    with pytest.raises(InputError, match="has duplicates: 'a'"):
        splits.stratified(["a", "a"])
    with pytest.raises(InputError, match="cannot be split into 3 folds"):
        splits.folds(["a", "b"], 3)
    with pytest.raises(InputError, match="fewer groups than 3 folds"):
        splits.folds(range(6), 3, groups=[0, 0, 0, 1, 1, 1])
    with pytest.raises(InputError, match="shares of splits"):
        splits.stratified(["a"], shares={"train": 0})
