"""Leaks in the data of a report: tasks of one part that are in another, and tasks with the same text or image."""

from collections.abc import Mapping

import numpy as np

from plurivox.evaluate.train_test_leaks import Finding, find_copies, find_leaks
from plurivox.workflows.report.report_inputs import ReportInputs

MAX_COMPARED = 20_000  # of more images or rows of features, nothing is compared


def find_leaks_of_dataset(inputs: ReportInputs) -> list[Finding]:
    """Return leaks between the parts of the data (train, test, ...) by text and by features; [] if the data name no parts."""
    data = inputs.dataset
    part_of = {str(task): name for name, tasks in data.splits.items() for task in tasks.tolist()}
    if not part_of:
        return []
    texts = {task: text.encode() for task, text in inputs.contents.texts.items() if task in part_of}
    found = find_copies(texts, part_of) if texts else []
    features = data.features
    if features is not None and len(features.tasks) <= MAX_COMPARED:
        found += find_leaks(features.tasks.tolist(), np.asarray(features.x).reshape(len(features.tasks), -1), part_of)
    return found


def tasks_with_same_content(contents: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return pairs of a task and an earlier task with the same text or image; [] if there are too many to compare.

    >>> tasks_with_same_content({"a": "x", "b": "y", "c": "x"})
    [('c', 'a')]
    """
    if len(contents) > MAX_COMPARED:
        return []
    first: dict[int, str] = {}  # by hash, as all images together may be more than the memory
    return [
        (task, first[key]) for task, one in contents.items() if one and first.setdefault(key := hash(one), task) != task
    ]
