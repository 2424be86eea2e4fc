"""Gold labels in a list, an array or an `.npy` file, without task names: those of votes whose tasks are numbered from 0."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.tabular.column_conversion import is_none_nan_or_na, to_names_or_error_if_missing, to_series

HOW_TO_NAME_TASKS = "give {task: label}, such as dict(zip(tasks, labels)), or a table with the columns task and label"


def vector_of_labels_or_none(given: Any) -> NDArray[Any] | None:
    """Return the labels in a list of single values, a one-dimensional array, or an `.npy` file of one; else None."""
    if isinstance(given, str | Path):
        path = Path(given).expanduser()
        if path.suffix.lower() != ".npy" or not path.is_file():
            return None
        try:
            found = np.load(path, allow_pickle=False)
        except (ValueError, EOFError) as cause:
            raise InputError(f"{path} is not an .npy file of numbers or texts, or it is damaged ({cause})") from cause
    elif isinstance(given, np.ndarray):
        found = given
    elif isinstance(given, list | tuple) and given and all(isinstance(one, str | int | float | None) for one in given):
        found = np.array(given, dtype=object)
    else:
        return None
    return found if found.ndim == 1 and found.dtype.names is None else None


def is_vector_of_labels(given: Any) -> bool:
    """Return whether labels are given without task names: a list, an array or an `.npy` file of one dimension."""
    return vector_of_labels_or_none(given) is not None


def labels_of_numbered_tasks(labels: NDArray[Any], votes: Any) -> SoftLabels:
    """Return the labels as those of the tasks 0, 1, 2, ... of the votes; None, NaN and, among whole numbers, -1 mean no label.

    Raise InputError if the tasks of the votes have other names, or their number is another.
    """
    from plurivox.io.dataset_reader import as_votes  # which imports this module's siblings

    tasks = (votes if isinstance(votes, Votes) else as_votes(votes)).tasks
    if tasks.dtype.kind != "i" or not np.array_equal(tasks, np.arange(len(tasks))):
        raise InputError(
            f"the gold labels have no task names, and the tasks are not numbered from 0 but called {tasks[0]!r}, ...; "
            f"{HOW_TO_NAME_TASKS}"
        )
    if len(labels) != len(tasks):
        raise InputError(
            f"there are {len(labels):,} gold labels without task names for {len(tasks):,} tasks; {HOW_TO_NAME_TASKS}"
        )
    is_code = labels.dtype.kind == "i" and labels.min(initial=0) == -1 < labels.max(initial=-1)
    known = np.array([not is_none_nan_or_na(label) and not (is_code and label == -1) for label in labels], bool)
    values = labels[known]
    whole = values.dtype.kind == "f" and bool((values == np.floor(values)).all())  # NaN made whole numbers decimals
    series = to_series(values.astype(np.int64) if whole else values, "label")
    return SoftLabels.gold(tasks[known], to_names_or_error_if_missing(series, "the gold labels"))
