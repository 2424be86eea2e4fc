"""Check training data for leaks: labels in task names, tasks in several splits, evaluation on the training target."""

from pathlib import Path

from plurivox.core.errors import InputError
from plurivox.evaluate import Finding, check_reference, find_labels_in_names, find_leaks
from plurivox.train.data.training_data import TrainingData
from plurivox.workflows.load_training_data import splits_from_file_or_data_else_random


def check_leaks(
    training_data: TrainingData,
    split: str | Path | None = None,
    *,
    near: float = 0.99,
    trained_on: str = "",
    scored_on: str = "",
) -> tuple[list[Finding], list[str]]:
    """Return (findings, checks made): labels in task names, tasks of one split in another, evaluation on the training target.

    `split` is a file with the columns task and split, for data without splits. Tasks whose centred inputs have a cosine
    similarity of `near` or more count as copies. `trained_on` and `scored_on` name how votes became the labels of training and
    of evaluation.
    """
    if bool(trained_on) != bool(scored_on):
        raise InputError(
            "give both trained_on and scored_on (--trained-on, --scored-on), or neither: how votes became the labels of each"
        )
    found, checks = [], []
    if training_data.gold is not None and len(training_data.gold):
        found += find_labels_in_names(training_data.gold)
        checks.append("labels in names")
    if split is None and not training_data.tasks_by_standard_split():
        checks.append("no splits: the data have none; give a file of splits: split=... (--split FILE)")
    else:
        part_of = {
            task: name
            for name, tasks in splits_from_file_or_data_else_random(training_data, split).items()
            for task in tasks.tolist()
        }
        found += find_leaks(training_data.tasks.tolist(), training_data.x, part_of, near=near)
        checks.append("copies by name, content and features")
    if trained_on:
        found += check_reference(trained_on, scored_on)
        checks.append("target and reference")
    return found, checks
