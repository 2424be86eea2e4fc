"""TrainingData: inputs of tasks with their split, gold labels, votes and soft labels; and the .npz files of them.

Arrays of such a file: `x` (n, ...) and `task` (n,); optionally `split` (n,), true labels `y` (n,), or `gold_task` and
`gold_label` if some tasks have none, the list of all `labels`, `soft` (n, n_labels) probabilities, or of the tasks `soft_task`,
and `soft_estimates`, the word truth or people, `counts` (n, n_labels) of votes without workers, or votes as the columns
`vote_task`, `vote_worker` and `vote_label`, for soft answers also `vote_answer` and `vote_weight`. `encoding` is the JSON text
of the encoding by which x was made, with the vocabulary of word codes. Instead of x, task and y there may be `x_<split>` and
`y_<split>` for every split; the task of row i is then called <split>-i.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, duplicates, positions
from plurivox.core.npz_arrays_and_task_rows import (
    read_npz,
    select_rows_by_task,
    task_rows_from_npz_arrays,
    without_stringdtype,
    write_npz,
)
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

if TYPE_CHECKING:
    from plurivox.train.data.input_encodings import InputEncoding  # needs torch

SPLIT_NAMES = {
    "train": ("train", "training", "trn"),
    "dev": ("dev", "valid", "val", "validation"),
    "test": ("test", "rest", "tst"),
}


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
    encoding: "InputEncoding | None" = (
        None  # how x becomes, or if it is fitted became, the inputs of a net; None: x are the inputs
    )

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

    def with_inputs_encoded(self, training_tasks: Names) -> Self:
        """Return the data with the inputs of all tasks encoded, the encoding fitted to the training tasks.

        Unchanged if the inputs need no encoding, or have been encoded.
        """
        if self.encoding is None or self.encoding.is_fitted:
            return self
        fitted = self.encoding.fit(self.inputs_of(training_tasks))
        return replace(self, x=fitted.encode(self.x), encoding=fitted)

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
    arrays |= _gold_rows_of_y_without_gaps(arrays)
    tasks, x, split, gold = task_rows_from_npz_arrays(arrays, path, "inputs", number_rows=True)
    if "gold_task" in arrays:
        gold = SoftLabels.gold(arrays["gold_task"], arrays["gold_label"], labels)
    votes = soft = None
    if "vote_task" in arrays:
        votes = Votes.of(
            arrays["vote_task"],
            arrays.get("vote_worker"),
            arrays["vote_label"],
            weight=arrays.get("vote_weight"),
            answer=arrays.get("vote_answer"),
            labels=labels,
        )
    elif "counts" in arrays:
        votes = Votes.from_counts(arrays["counts"], tasks, _require_labels(labels, "counts", path))
    if "soft" in arrays:
        estimates = str(arrays.get("soft_estimates", "unknown"))
        of_tasks = arrays.get("soft_task", tasks)
        soft = SoftLabels.of(arrays["soft"], of_tasks, _require_labels(labels, "soft", path), estimates=estimates)
    encoding = None
    if "encoding" in arrays:
        from plurivox.train.data.input_encodings import encoding_from_json

        encoding = encoding_from_json(str(arrays["encoding"]))
    return TrainingData(Path(path).stem, tasks, x, split, gold, votes, soft, encoding)


def _gold_rows_of_y_without_gaps(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return `gold_task` and `gold_label` of the true labels `y` that are not empty, which `y` is removed for, in place.

    Empty if no label is "", or "" is one of the labels.
    """
    y, tasks = arrays.get("y"), arrays.get("task", arrays.get("tasks"))
    if y is None or tasks is None or y.dtype.kind not in "UT" or y.shape != tasks.shape:
        return {}
    known = y != ""
    if known.all() or "" in arrays.get("labels", np.empty(0, str)).tolist():
        return {}
    del arrays["y"]
    return {"gold_task": tasks[known], "gold_label": y[known]} if known.any() else {}


def write_training_data(training_data: TrainingData, path: str | Path) -> None:
    """Write training data to an .npz file that `read_training_data` reads; inputs must have been encoded."""
    arrays: dict[str, NDArray[Any]] = {"x": training_data.x, "task": without_stringdtype(training_data.tasks)}
    labels = _labels_of_votes_soft_and_gold(training_data)
    if len(labels):
        arrays["labels"] = without_stringdtype(labels)
    if training_data.split is not None:
        arrays["split"] = without_stringdtype(training_data.split)
    if training_data.gold is not None and len(gold := training_data.gold.shared(training_data.tasks)):
        hard = without_stringdtype(gold.hard())
        whole = len(gold) == len(training_data.tasks)
        arrays |= {"y": hard} if whole else {"gold_task": without_stringdtype(gold.tasks), "gold_label": hard}
    if training_data.soft is not None and len(soft := training_data.soft.shared(training_data.tasks)):
        arrays["soft"] = soft.on_labels(labels).prob
        arrays["soft_estimates"] = np.array(soft.estimates)
        arrays |= {} if len(soft) == len(training_data.tasks) else {"soft_task": without_stringdtype(soft.tasks)}
    if training_data.votes is not None:
        arrays |= _votes_as_npz_columns_or_counts(training_data.votes, training_data.tasks, labels)
    if training_data.encoding is not None:
        arrays["encoding"] = np.array(training_data.encoding.to_json())
    write_npz(path, arrays)


def _labels_of_votes_soft_and_gold(training_data: TrainingData) -> Names:
    """Return the longest list of labels of votes, soft labels and gold labels, then the labels that only the others have."""
    known = [one for one in (training_data.votes, training_data.soft, training_data.gold) if one is not None]
    lists = sorted((one.labels for one in known), key=len, reverse=True)
    labels = lists[0] if lists else training_data.tasks[:0]
    for more in lists[1:]:
        if len(absent := more[positions(labels, more) < 0]):
            labels = as_names([*labels.tolist(), *absent.tolist()], "labels")
    return labels


def _votes_as_npz_columns_or_counts(votes: Votes, tasks: Names, labels: Names) -> dict[str, NDArray[Any]]:
    """Return the votes as named arrays for an .npz file: columns, or counts if workers are unknown."""
    if not (votes.worker < 0).any():
        columns = votes.columns()
        names = [name for name in ("task", "worker", "label", "weight", "answer") if name in columns]
        return {f"vote_{name}": without_stringdtype(columns[name]) for name in names}
    if votes.answer is not None:
        raise InputError("soft answers without worker names cannot be stored in an .npz of inputs; give soft labels")
    there = positions(votes.tasks, tasks)
    counts = np.zeros((len(tasks), len(labels)))
    counts[there >= 0] = votes.with_labels(labels).counts()[there[there >= 0]]
    return {"counts": counts}


def _require_labels(labels: Names | None, array_name: str, path: object) -> Names:
    """Return the list of labels; InputError if the file has none for the columns of `array_name`."""
    if labels is None:
        raise InputError(f"{path} has the array {array_name} without names for its columns; add the array labels")
    return labels
