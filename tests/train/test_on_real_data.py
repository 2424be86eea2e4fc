"""LabelMe with its official split: training on gold is better than on vote shares, and both are good."""

from collections.abc import Callable
from pathlib import Path

from plurivox import io
from plurivox.train import Plan
from plurivox.train.data.training_data import TrainingData
from plurivox.workflows.load_training_data import splits_from_file_or_data_else_random
from plurivox.workflows.train_nets import make_train_spec, train_runs


def test_accuracy_on_labelme_with_gold_and_with_vote_shares(data_set: Callable[[str], Path]) -> None:
    data = io.read(data_set("labelme"))
    seen = data.features
    assert seen is not None
    training_data = TrainingData(data.name, seen.tasks, seen.x, seen.split, seen.gold, data.votes)
    splits = splits_from_file_or_data_else_random(training_data)
    assert {name: len(part) for name, part in splits.items()} == {"train": 1000, "dev": 500, "test": 1188}
    plan = Plan(epochs=10, best="accuracy", device="cpu")
    found = {
        target: train_runs(
            training_data, splits, make_train_spec(target, net="labelme-head", plan=plan)
        ).mean_over_runs("test accuracy")
        for target in ("gold", "vote-shares")
    }
    assert found["gold"] > 0.9 > found["vote-shares"] > 0.8
