"""Tasks on which two sets of soft labels differ most."""

import numpy as np
import pytest

from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import PlurivoxError
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import by_task, most_different, softening

LEFT = SoftLabels.of([[0.6, 0.4], [0.3, 0.7], [1, 0]], ["a", "b", "c"], ["no", "yes"])
RIGHT = SoftLabels.of([[1, 0], [1, 0], [0.5, 0.5]], ["b", "a", "c"], ["no", "yes"])


def test_the_largest_difference_is_first() -> None:
    found = most_different(LEFT, RIGHT, n=2)
    assert found.tasks.tolist() == ["b", "c"] and found.value.tolist() == pytest.approx([0.7, 0.5])
    assert found.columns()["left_label"].tolist() == ["yes", "no"]
    assert most_different(LEFT, RIGHT, n=1, measure="kl-divergence").tasks.tolist() == ["c"]
    with pytest.raises(PlurivoxError, match="not a mean over tasks"):
        most_different(LEFT, RIGHT, measure="macro-f1")


def test_higher_entropy_on_the_left() -> None:
    found = softening(LEFT, RIGHT)
    assert found.tasks.tolist() == ["a", "b"] and found.what == "entropy_gain"
    assert softening(LEFT, RIGHT, same_label=True).tasks.tolist() == ["a"]
    assert softening(RIGHT, LEFT).tasks.tolist() == ["c"]


def test_contrasts_are_saved(tmp_path: object) -> None:
    path = f"{tmp_path}/contrast.npz"
    most_different(LEFT, RIGHT).save(path)
    assert len(DataType.load(path).columns()["task"]) == 3


def test_value_of_each_task() -> None:
    tasks, value = by_task(LEFT, RIGHT, "total-variation")
    assert dict(zip(tasks.tolist(), value.tolist(), strict=True)) == pytest.approx({"a": 0.4, "b": 0.7, "c": 0.5})
    assert np.array_equal(by_task(LEFT, RIGHT, "accuracy")[1], [1, 0, 1])
