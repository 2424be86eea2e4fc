"""What would make the figures of a training look better than they are: leaks, telling names, labels judged by themselves."""

from pathlib import Path

from plurivox.core.errors import InputError
from plurivox.evaluate import Finding, check_reference, find_labels_in_names, find_leaks
from plurivox.train.data.training_data import TrainingData
from plurivox.workflows.train_inputs import divide


def check_leaks(
    training_data: TrainingData,
    split: str | Path | None = None,
    *,
    near: float = 0.99,
    trained_on: str = "",
    scored_on: str = "",
) -> tuple[list[Finding], list[str]]:
    """(what was found, what was looked at): labels in task names, tasks of one split in another, labels judged by themselves.

    `split` is a file of task and split, for data that name none. Tasks whose centred inputs have a cosine of `near` or
    more are twins. `trained_on` and `scored_on` say how votes became the labels taught and those scored on.
    """
    if bool(trained_on) != bool(scored_on):
        raise InputError("--trained-on and --scored-on belong together: how votes became labels for each")
    found, looked = [], []
    if training_data.gold is not None and len(training_data.gold):
        found += find_labels_in_names(training_data.gold)
        looked.append("labels in names")
    if split is None and not training_data.splits():
        looked.append("no splits: there are none, give --split FILE")
    else:
        part_of = {task: name for name, tasks in divide(training_data, split).items() for task in tasks.tolist()}
        found += find_leaks(training_data.tasks.tolist(), training_data.x, part_of, near=near)
        looked.append("copies by name, content and features")
    if trained_on:
        found += check_reference(trained_on, scored_on)
        looked.append("target and reference")
    return found, looked
