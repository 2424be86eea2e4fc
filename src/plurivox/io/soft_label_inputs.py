"""Gold and soft labels as users hold them: SoftLabels, a Fit, a table, a mapping, a pandas Series, a file or a data set."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.dataset import Dataset
from plurivox.io.gold_column_of_votes_table import task_and_gold_column_of_votes
from plurivox.io.labels_without_task_names import labels_of_numbered_tasks, vector_of_labels_or_none
from plurivox.io.soft_label_files import read_soft, soft_from_frame
from plurivox.io.tabular.column_conversion import to_series
from plurivox.io.tabular.frame_index import is_pandas_series
from plurivox.io.tabular.table_file_names import READABLE_TABLE_SUFFIXES, file_suffix
from plurivox.io.tabular.table_files import Columns, read_table
from plurivox.io.votes_by_task_mapping import holds_numbers_per_task, is_mapping_of_mappings

WHERE = "the table of labels"
HOW_TO_GIVE_LABELS = (
    "give {task: label}, a table with the columns task and label, or a pandas Series with the tasks as index"
)


def as_soft_labels(given: Any, votes: Any = None) -> SoftLabels | None:
    """Return gold or soft labels as SoftLabels; None stays None.

    `given` is SoftLabels, a Fit, a table in any layout of `read_soft` (a DataFrame, a list of records, a mapping of columns),
    a mapping {task: label} or {task: {label: probability}}, a pandas Series with the tasks as its index, a path, or a data
    set with gold labels. A list, an array or an `.npy` file of labels has no task names: it is read if it has one label per
    task of the `votes`, whose tasks must be numbered 0, 1, 2, ..., as those of a matrix; else InputError is raised.

    >>> as_soft_labels({"a.png": "cat", "b.png": "dog"}).hard().tolist()
    ['cat', 'dog']
    >>> as_soft_labels({"task": ["a.png"], "label": ["cat"]}).tasks.tolist()
    ['a.png']
    """
    if given is None or isinstance(given, SoftLabels):
        return given
    if isinstance(given, Fit):
        return given.soft
    vector = vector_of_labels_or_none(given)
    if vector is not None and votes is not None:
        return labels_of_numbered_tasks(vector, votes)
    if isinstance(given, str | Path):
        return _labels_in_file_or_dataset(given)
    if isinstance(given, Dataset):
        return _labels_of_dataset(given)
    if isinstance(given, Votes | Answers):
        raise InputError(
            "votes are not yet labels: aggregate them, pv.fit(votes).soft, or take their shares, "
            "SoftLabels.from_vote_shares(votes)"
        )
    if isinstance(given, bool | int | float) or (
        isinstance(given, list | tuple | np.ndarray) and not _is_records(given)
    ):
        raise InputError(f"{type(given).__name__} has no task names; {HOW_TO_GIVE_LABELS}: dict(zip(tasks, labels))")
    if is_pandas_series(given):
        return _labels_of_mapping(dict(zip(given.index.tolist(), given.tolist(), strict=True)), len(given))
    if isinstance(given, Mapping) and given and not holds_columns(given):
        return _labels_of_mapping(given, len(given))
    return soft_from_frame(Columns.from_frame_mapping_or_parquet(given, WHERE), WHERE)


def _is_records(given: Any) -> bool:
    """Return whether a list is one of mappings, or an array is structured."""
    if isinstance(given, np.ndarray):
        return given.dtype.names is not None
    return bool(given) and all(isinstance(one, Mapping) for one in given)


def holds_columns(mapping: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is of columns: all its values are sequences, not labels or distributions."""
    return all(hasattr(value, "__len__") and not isinstance(value, str | bytes | Mapping) for value in mapping.values())


def _labels_of_mapping(labels: Mapping[Any, Any], n_rows: int) -> SoftLabels:
    """Return the labels in a mapping {task: label} or {task: {label: probability}}, in the order of its tasks."""
    if len(labels) < n_rows:
        raise InputError("the index of the labels names a task twice; keep one label per task")
    if is_mapping_of_mappings(labels) and not holds_numbers_per_task(labels):
        raise InputError(
            "{task: {name: text}} are not labels of tasks: if they are votes {task: {worker: label}}, aggregate them first, "
            "pv.fit(labels).soft; gold labels are {task: label}"
        )
    if any(isinstance(value, Mapping) for value in labels.values()):
        rows = [(task, name, p) for task, shares in labels.items() for name, p in dict(shares).items()]
        values = {name: [row[i] for row in rows] for i, name in enumerate(("task", "label", "p"))}
    else:
        values = {"task": list(labels), "label": list(labels.values())}
    columns = {name: to_series(column, name) for name, column in values.items()}
    return soft_from_frame(Columns(columns, list(columns), "the table of labels"), "the table of labels")


def _labels_in_file_or_dataset(path_or_name: str | Path) -> SoftLabels:
    """Return the labels in a file, or the gold labels of a folder or of the data set of this name."""
    from plurivox.io.dataset_reader import read, read_soft_labels_or_dataset  # which imports this module's siblings

    path = Path(path_or_name).expanduser()
    if path.is_file() and file_suffix(path) not in READABLE_TABLE_SUFFIXES:
        return read_soft(path)
    found = read_soft_labels_or_dataset(path) if path.is_file() else read(path_or_name)
    if isinstance(found, Dataset) and path.is_file() and not {"gold", "soft_labels"} & set(found.parts()):
        table = Columns.from_frame_mapping_or_parquet(read_table(path), str(path), is_untyped=True)
        if task_and_gold_column_of_votes(table) is not None:
            return soft_from_frame(table, path)
    return found if isinstance(found, SoftLabels) else _labels_of_dataset(found)


def _labels_of_dataset(data: Dataset) -> SoftLabels:
    """Return the gold labels of a data set, else the soft labels that came with it; raise InputError if it has neither."""
    found = data.gold if data.gold is not None else data.soft_labels
    if found is None:
        raise InputError(f"{data.name} has no gold labels; {HOW_TO_GIVE_LABELS}")
    return found
