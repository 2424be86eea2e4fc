"""Packed inputs and a data set with the same features give the same training data and tensors."""

from pathlib import Path

import numpy as np
import pytest
import torch

from plurivox.core.errors import InputError
from plurivox.train.data.input_tensors import to_input_tensor
from plurivox.train.data.training_data import TrainingData
from plurivox.workflows.load_training_data import load_training_data
from plurivox.workflows.train_nets import PreparedTraining, make_train_spec
from toy_training import toy_data

pytest.importorskip("polars")
X, GOLD, VOTES = toy_data(12)
CPU = torch.device("cpu")


def both(folder: Path, **arrays: object) -> tuple[TrainingData, TrainingData]:
    """Return the same arrays and votes as (packed inputs, features of a data set)."""
    columns = {f"vote_{name}": np.array(column.tolist()) for name, column in VOTES.columns().items()}
    np.savez(folder / "packed.npz", **arrays, **columns)  # type: ignore[arg-type]
    (home := folder / "set").mkdir()
    np.savez(home / "features.npz", **arrays)  # type: ignore[arg-type]
    rows = zip(*(columns[f"vote_{name}"] for name in ("task", "worker", "label")), strict=True)
    (home / "votes.csv").write_text("task,worker,label\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return load_training_data(folder / "packed.npz"), load_training_data(home)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.uint8, np.int32])
def test_packed_inputs_and_features_give_the_same_tensors(tmp_path: Path, kind: type) -> None:
    x, labels = (10 * np.abs(X)).astype(kind), np.array(GOLD.labels.tolist())
    tasks, y = np.array(GOLD.tasks.tolist()), np.array(GOLD.hard().tolist())
    split = np.repeat(["train", "test"], 6)
    packed, folder = both(tmp_path, x=x, task=tasks, split=split, y=y, labels=labels)
    assert (
        packed.x.dtype == folder.x.dtype == kind
        and packed.tasks_by_standard_split().keys() == folder.tasks_by_standard_split().keys()
    )
    assert packed.gold is not None and folder.gold is not None and np.array_equal(packed.gold.prob, folder.gold.prob)
    assert torch.equal(*(to_input_tensor(one.inputs_of(GOLD.tasks), CPU) for one in (packed, folder)))
    one, two = (
        PreparedTraining.prepare_training(made, made.tasks_by_standard_split(), make_train_spec("gold")).data
        for made in (packed, folder)
    )
    assert torch.equal(one.x, two.x) and one.tasks.tolist() == two.tasks.tolist() == tasks[:6].tolist()
    assert one.labels.tolist() == two.labels.tolist()
    drawn = [
        make_train_spec("gold")
        .target.make_examples(data.supervision, data.tasks, data.labels, CPU)
        .get_or_draw_labels(torch.arange(6), torch.Generator())
        for data in (one, two)
    ]
    assert isinstance(drawn[0], torch.Tensor) and isinstance(drawn[1], torch.Tensor) and torch.equal(*drawn)


def test_packed_inputs_have_one_row_and_one_split_per_task(tmp_path: Path) -> None:
    for arrays, said in (
        ({"x": X[:2], "task": ["a", "b", "c"]}, r"odd has 3 tasks, but inputs \(x\) of the shape \(2, 3\)"),
        ({"x": X[:3], "task": ["a", "b", "a"]}, "odd has two inputs for the tasks 'a'"),
        ({"x": X[:2], "task": ["a", "b"], "split": ["train"]}, "odd has 2 tasks, but 1 splits"),
    ):
        np.savez(tmp_path / "odd.npz", **arrays)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=said):
            load_training_data(tmp_path / "odd.npz")


def test_rows_of_splits_have_the_same_names(tmp_path: Path) -> None:
    y = np.array(GOLD.hard().tolist())
    packed, folder = both(tmp_path, x_train=X[:8], x_valid=X[8:], y_train=y[:8], y_valid=y[8:])
    assert packed.tasks.tolist() == folder.tasks.tolist() and packed.tasks[8] == "valid-0"
    assert torch.equal(*(to_input_tensor(one.x, CPU) for one in (packed, folder)))
    assert packed.gold is not None and folder.gold is not None
    assert packed.gold.hard().tolist() == folder.gold.hard().tolist() == y.tolist()
