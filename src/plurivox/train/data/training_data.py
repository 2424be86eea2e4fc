"""TrainingData: inputs of tasks with their split, gold labels, votes and soft labels; and the .npz files of them.

Arrays of such a file: `x` (n, ...) and `task` (n,); optionally `split` (n,), true labels `y` (n,), the list of all `labels`,
`soft` (n, n_labels) probabilities and `soft_estimates`, the word truth or people, `counts` (n, n_labels) of votes without
workers, or votes as the columns `vote_task`, `vote_worker` and `vote_label`. Instead of x, task and y there may be `x_<split>`
and `y_<split>` for every split; the task of row i is then called <split>-i.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, duplicates
from plurivox.core.npz_arrays_and_task_rows import (
    read_npz,
    select_rows_by_task,
    task_rows_from_npz_arrays,
    without_stringdtype,
    write_npz,
)
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

SPLIT_NAMES = {"train": ("train", "training"), "dev": ("dev", "valid", "val", "validation"), "test": ("test", "rest")}


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Inputs of tasks with their split, gold labels, votes and soft labels; row i of `x` is task i, tasks are unique.

    Features, images, packed inputs and a user's arrays all become this type; InputError if the lengths of x, tasks and split
    differ or a task occurs twice.
    """

    name: str
    tasks: Names  # (n,)
    x: NDArray[Any]  # (n, ...)
    split: Names | None = None  # (n,) name of each task's split, such as train, valid, test
    gold: SoftLabels | None = None
    votes: Votes | None = None
    soft: SoftLabels | None = None

    def __post_init__(self) -> None:
        n = len(self.tasks)
        if self.x.ndim == 0 or len(self.x) != n:
            raise InputError(f"{self.name} has {n} tasks, but inputs (x) of the shape {self.x.shape}")
        if self.split is not None and len(self.split) != n:
            raise InputError(f"{self.name} has {n} tasks, but {len(self.split)} splits")
        if len(twice := duplicates(self.tasks)):
            raise InputError(f"{self.name} has two inputs for the tasks {first_few(twice)}")

    def inputs_of(self, tasks: Names) -> NDArray[Any]:
        """(n, ...) the inputs of `tasks`, in this order; InputError if one is missing."""
        return select_rows_by_task(tasks, self.tasks, self.x, f"inputs in {self.name}")

    def tasks_by_standard_split(self) -> dict[str, Names]:
        """Return the tasks of the splits train, dev and test, by their usual names; empty without splits."""
        if self.split is None:
            return {}
        text = np.array([str(one).lower() for one in self.split.tolist()])
        found = {split: self.tasks[np.isin(text, names)] for split, names in SPLIT_NAMES.items()}
        return {split: tasks for split, tasks in found.items() if len(tasks)}


def read_training_data(path: str | Path) -> TrainingData:
    """Read training data from an .npz file; see the module's docstring for its arrays."""
    arrays = read_npz(Path(path), "inputs")
    labels = as_names(arrays["labels"], "labels") if "labels" in arrays else None
    tasks, x, split, gold = task_rows_from_npz_arrays(arrays, path, "inputs", number_rows=True)
    votes = soft = None
    if "vote_task" in arrays:
        votes = Votes.of(arrays["vote_task"], arrays.get("vote_worker"), arrays["vote_label"], labels=labels)
    elif "counts" in arrays:
        votes = Votes.from_counts(arrays["counts"], tasks, _require_labels(labels, "counts", path))
    if "soft" in arrays:
        estimates = str(arrays.get("soft_estimates", "unknown"))
        soft = SoftLabels.of(arrays["soft"], tasks, _require_labels(labels, "soft", path), estimates=estimates)
    return TrainingData(Path(path).stem, tasks, x, split, gold, votes, soft)


def write_training_data(training_data: TrainingData, path: str | Path) -> None:
    """Write training data to an .npz file that `read_training_data` reads."""
    arrays: dict[str, NDArray[Any]] = {"x": training_data.x, "task": without_stringdtype(training_data.tasks)}
    labelled = [one for one in (training_data.votes, training_data.soft, training_data.gold) if one is not None]
    if labelled:
        labels = max((one.labels for one in labelled), key=len)
        arrays["labels"] = without_stringdtype(labels)
    if training_data.split is not None:
        arrays["split"] = without_stringdtype(training_data.split)
    if training_data.gold is not None:
        arrays["y"] = without_stringdtype(training_data.gold.on(training_data.tasks).hard())
    if training_data.soft is not None:
        arrays["soft"] = training_data.soft.on(training_data.tasks).on_labels(labels).prob
        arrays["soft_estimates"] = np.array(training_data.soft.estimates)
    if training_data.votes is not None:
        arrays |= _votes_as_npz_columns_or_counts(training_data.votes, training_data.tasks, labels)
    write_npz(path, arrays)


def _votes_as_npz_columns_or_counts(votes: Votes, tasks: Names, labels: Names) -> dict[str, NDArray[Any]]:
    """Return the votes as named arrays for an .npz file: columns, or counts if workers are unknown; error for soft answers."""
    if votes.weight is None and not (votes.worker < 0).any():
        columns = votes.columns()
        return {f"vote_{name}": without_stringdtype(columns[name]) for name in ("task", "worker", "label")}
    if votes.answer is not None:
        raise InputError("soft answers cannot be stored in an .npz of inputs; aggregate them and give soft labels")
    return {"counts": votes.on(tasks).with_labels(labels).counts()}


def _require_labels(labels: Names | None, array_name: str, path: object) -> Names:
    """Return the list of labels; InputError if the file has none for the columns of `array_name`."""
    if labels is None:
        raise InputError(f"{path} has the array {array_name} without names for its columns; add the array labels")
    return labels
