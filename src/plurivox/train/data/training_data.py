"""Material: inputs with what is known of them, in one .npz of plain arrays, for machines that read no tables.

`x` (n, ...) and `task` (n,); perhaps `split` (n,), the true labels `y` (n,), the list of all `labels`, `soft` (n, n_labels)
probabilities, `counts` (n, n_labels) of unnamed people, or votes as the columns `vote_task`, `vote_worker` and
`vote_label`. Instead of x, task and y there may be `x_<split>` and `y_<split>` for every split; row i is then <split>-i.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.encoding import as_names, duplicates
from plurivox.core.errors import InputError, first_few
from plurivox.core.npz import read_arrays, read_task_rows, select_rows, without_stringdtype, write_arrays
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.core.votes import Votes

PARTS = {"train": ("train", "training"), "dev": ("dev", "valid", "val", "validation"), "test": ("test", "rest")}


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Inputs and what is known of their tasks; row i of `x` is task i, and no task is there twice.

    All training data of a data set come this way, be they features, images, packed inputs or arrays of a user, so that an
    InputError is raised here where they do not fit together.
    """

    name: str
    tasks: Names  # (n,)
    x: NDArray[Any]  # (n, ...)
    split: Names | None = None  # (n,) such as train, valid, test
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

    def on(self, tasks: Names) -> NDArray[Any]:
        """(n, ...) the inputs of these tasks, in this order."""
        return select_rows(tasks, self.tasks, self.x, f"inputs in {self.name}")

    def parts(self) -> dict[str, Names]:
        """The tasks of train, dev and test, by the usual names of splits; nothing where there are no splits."""
        if self.split is None:
            return {}
        text = np.array([str(one).lower() for one in self.split.tolist()])
        found = {part: self.tasks[np.isin(text, words)] for part, words in PARTS.items()}
        return {part: tasks for part, tasks in found.items() if len(tasks)}


def read_training_data(path: str | Path) -> TrainingData:
    """The material of an .npz; see the module for the arrays it may hold."""
    arrays = read_arrays(Path(path), "inputs")
    listed = as_names(arrays["labels"], "labels") if "labels" in arrays else None
    tasks, x, split, gold = read_task_rows(arrays, path, "inputs", numbered=True)
    votes = soft = None
    if "vote_task" in arrays:
        votes = Votes.of(arrays["vote_task"], arrays.get("vote_worker"), arrays["vote_label"], labels=listed)
    elif "counts" in arrays:
        votes = Votes.from_counts(arrays["counts"], tasks, _needed(listed, "counts", path))
    if "soft" in arrays:
        soft = SoftLabels.of(arrays["soft"], tasks, _needed(listed, "soft", path))
    return TrainingData(Path(path).stem, tasks, x, split, gold, votes, soft)


def write_training_data(training_data: TrainingData, path: str | Path) -> None:
    """Write an .npz that `read_training_data` reads."""
    arrays: dict[str, NDArray[Any]] = {"x": training_data.x, "task": without_stringdtype(training_data.tasks)}
    nouns = [one for one in (training_data.votes, training_data.soft, training_data.gold) if one is not None]
    if nouns:
        labels = max((one.labels for one in nouns), key=len)
        arrays["labels"] = without_stringdtype(labels)
    if training_data.split is not None:
        arrays["split"] = without_stringdtype(training_data.split)
    if training_data.gold is not None:
        arrays["y"] = without_stringdtype(training_data.gold.on(training_data.tasks).hard())
    if training_data.soft is not None:
        arrays["soft"] = training_data.soft.on(training_data.tasks).on_labels(labels).prob
    if training_data.votes is not None:
        arrays |= _vote_arrays(training_data.votes, training_data.tasks, labels)
    write_arrays(path, arrays)


def _vote_arrays(votes: Votes, tasks: Names, labels: Names) -> dict[str, NDArray[Any]]:
    if votes.weight is None and not (votes.worker < 0).any():
        columns = votes.columns()
        return {f"vote_{name}": without_stringdtype(columns[name]) for name in ("task", "worker", "label")}
    if votes.answer is not None:
        raise InputError("soft answers cannot be kept in a plain .npz of inputs; aggregate them and give soft labels")
    return {"counts": votes.on(tasks).with_labels(labels).counts()}


def _needed(labels: Names | None, what: str, path: object) -> Names:
    if labels is None:
        raise InputError(f"{path} has {what} without names for their columns; add the array labels")
    return labels
