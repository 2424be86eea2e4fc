"""Features: round trips, and invalid files."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.io import read
from plurivox.io.features import Features, read_features, read_gold_of_features, write_features
from plurivox.workflows import evaluate_labels

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def saved(folder: Path, **arrays: Any) -> Path:
    """Write an .npz file with these arrays and return its path."""
    np.savez(folder / "features.npz", **arrays)
    return folder / "features.npz"


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.uint8])
@pytest.mark.parametrize("tasks", [["b", "a", "ç"], [3, 1, 2]])
def test_features_survive_a_round_trip(tmp_path: Path, kind: type, tasks: list[Any]) -> None:
    gold = SoftLabels.gold(tasks, ["x", "y", "x"], labels=["y", "never", "x"])
    made = Features(as_names(tasks), X.astype(kind), as_names(["train", "train", "test"]), gold)
    write_features(made, tmp_path / "features.npz")
    back = read_features(tmp_path / "features.npz")
    assert back.tasks.tolist() == tasks and back.split is not None and back.split.tolist() == ["train", "train", "test"]
    assert back.x.dtype == kind and (back.x == made.x).all()
    assert back.gold is not None and back.gold.labels.tolist() == ["y", "never", "x"]
    np.testing.assert_array_equal(back.gold.on(made.tasks).prob, gold.on(made.tasks).prob)


def test_features_without_splits_and_gold(tmp_path: Path) -> None:
    write_features(Features(as_names(["a", "b", "c"]), X), tmp_path / "features.npz")
    back = read_features(tmp_path / "features.npz")
    assert back.split is None and back.gold is None and back.on(as_names(["c"])).tolist() == [[4, 5]]


def test_one_array_per_split(tmp_path: Path) -> None:
    items = pl.DataFrame({"task": ["q"], "split": ["test"], "row": [0]})
    path = saved(tmp_path, x_train=X[:2], x_test=X[2:], y_train=[1, 0], y_test=[1])
    back = read_features(path, items)
    assert back.tasks.tolist() == ["train-0", "train-1", "q"] and back.on(as_names(["q"])).tolist() == [[4, 5]]
    assert back.gold is not None and back.gold.on(back.tasks).hard().tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"x": X, "task": ["a", "b"]}, r"has 2 tasks, but its features \(x\) have the shape \(3, 2\)"),
        ({"x": np.float32(1), "task": ["a"]}, r"features \(x\) have the shape \(\)"),
        ({"x": X, "task": ["a", "b", "a"]}, "several rows of features for the tasks 'a'"),
        ({"x": X.astype(str), "task": ["a", "b", "c"]}, "they must be numbers"),
        ({"x": X, "task": ["a", "b", "c"], "split": ["train"]}, "has 3 tasks, but 1 values in split"),
        ({"x": X, "task": ["a", "b", "c"], "y": [0, 1]}, r"true labels \(y\) of shape \(2,\)"),
        ({"x": X, "task": ["a", "b", "c"], "y": [0, 1, 2], "labels": [0, 1]}, "outside the given list: 2"),
        ({"x_train": X, "x_test": X[:, :1]}, "differ in the shape of their features"),
        ({"x_train": X, "y_train": [0]}, r"true labels \(y\) of shape \(1,\)"),
        ({"z": X}, "contains 'z'; features need x and task"),
        ({"x": np.array([None, {}]), "task": ["a", "b"]}, "not an .npz file of plain arrays"),
    ],
)
def test_inconsistent_arrays_are_errors(tmp_path: Path, arrays: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        read_features(saved(tmp_path, **arrays))
    assert "features.npz" in str(raised.value)


@pytest.mark.parametrize("keep", [0, 1, 40, -30, -1])
def test_a_truncated_file_is_an_error(tmp_path: Path, keep: int) -> None:
    path = saved(tmp_path, x=X, task=["a", "b", "c"])
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"features.npz is not an .npz file of plain arrays, or it is damaged"):
        read_features(path)


def test_a_damaged_or_foreign_file(tmp_path: Path) -> None:
    path = saved(tmp_path, x=X, task=["a", "b", "c"])
    bytes_ = path.read_bytes()
    path.write_bytes(bytes_[:140] + b"?" + bytes_[141:])
    with pytest.raises(InputError, match="damaged"):
        read_features(path)
    with path.open("wb") as file:
        np.save(file, X)
    with pytest.raises(InputError, match=r"is an .npy file"):
        read_features(path)
    with pytest.raises(InputError, match="there is no file"):
        read_features(tmp_path / "none.npz")


def test_a_table_of_features(tmp_path: Path) -> None:
    path = tmp_path / "features.csv"
    path.write_text("task,height,width\na,1,2.5\nb,,4\n")
    back = read_features(path)
    assert back.tasks.tolist() == ["a", "b"]
    np.testing.assert_array_equal(back.x, [[1, 2.5], [np.nan, 4]])
    for text, said in (
        ("task,height\na,tall\n", "column 'height' of .*features.csv must contain numbers; row 1 contains 'tall'"),
        ("task\na\n", "has no column besides 'task'"),
        ("height\n1\n", r"missing column 'task' in"),
        ("task,height\na,1\na,2\n", "several rows of features for the tasks 'a'"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=said):
            read_features(path)


def test_true_labels_in_the_file_of_features_are_the_truth_of_rows_without_names(tmp_path: Path) -> None:
    (home := tmp_path / "photos").mkdir()
    np.savez(home / "features.npz", x_train=X[:1], x_test=X[1:], y_train=["cat"], y_test=["dog", "cat"])
    (home / "votes.csv").write_text("task,worker,label\nphoto7,ann,cat\nphoto7,bo,dog\n")
    (home / "gold.csv").write_text("task,label\nphoto7,cat\nphoto8,dog\nphoto9,cat\n")
    (home / "items.csv").write_text("task,split,row\nphoto7,train,0\nphoto8,rest,-1\nphoto9,rest,-1\n")
    data = read(home)
    assert data.features is not None and data.features.tasks.tolist() == ["photo7", "test-0", "test-1"]
    gold = read_gold_of_features(home / "features.npz", data.items)
    assert gold is not None and data.features.gold is not None
    assert gold.columns()["label"].tolist() == data.features.gold.columns()["label"].tolist()
    prediction = SoftLabels.gold(["test-0", "test-1"], ["dog", "dog"], ["cat", "dog"])
    found = evaluate_labels(prediction, home, measures="accuracy", repeats=0)
    assert (found.value.tolist(), found.n.tolist()) == ([0.5], [2])
    named = SoftLabels.gold(["photo7", "photo9"], ["cat", "cat"], ["cat", "dog"])
    assert evaluate_labels(named, home, measures="accuracy", repeats=0).n.tolist() == [2]  # the gold table covers more
