"""Training labels from a file: hard or soft labels of the tasks of a data set, in a table, an .npz or an .npy file.

An .npy file, such as peerannot writes to labels/, contains no names: row i is the i-th task, column j the j-th label.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Names
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few
from plurivox.core.method import parse_spec
from plurivox.core.name_encoding import as_names, parse_floats_or_none, positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.data.training_data import TrainingData

if TYPE_CHECKING:
    from plurivox.io import Dataset

Note = Callable[[str], None]  # called with a message for the user


def options_with_target_of_label_file(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `make_train_spec` for training on the labels in a file; InputError for another source of labels.

    The target is `soft`; another one must use soft labels, as `soft[hard=yes]` does.

    >>> options_with_target_of_label_file({"target": "", "net": "mlp"})
    {'target': 'soft', 'net': 'mlp'}
    """
    from plurivox.train import targets  # needs torch, which reading labels does not

    target, soft = options.get("target") or "soft", options.get("soft")
    name = parse_spec(target)[0]
    if soft or options.get("answers_per_task") is not None:
        other = "soft (--soft)" if soft else "answers_per_task (--answers-per-task)"
        raise InputError(
            f"the training labels are those of the file, training_labels=... (--labels FILE), which are not made from "
            f"votes; leave {other} out"
        )
    if name not in targets.methods or not targets.methods.make(target).can_train_on_soft_labels:
        raise InputError(
            f"the target {target} does not use the labels in the file, training_labels=... (--labels FILE); leave "
            "the target out, or use soft[hard=yes] for the most probable label of each task"
        )
    return {**options, "target": target}


def with_training_labels(
    training_data: TrainingData, path: Path, note: Note, data: "Dataset | None" = None
) -> TrainingData:
    """Return the training data with the labels in a file as its soft labels, which the target soft trains on.

    `data` is the data set of the training data, from which the order of the rows of an .npy file is known; None: an .npz of
    training data. InputError if no task of the training data has a label. `note` is called with what was read.
    """
    known = _known_labels(training_data)
    if path.suffix.lower() != ".npy" or (data is not None and _is_in_peerannot_folder(path, data.path)):
        from plurivox.io.soft_label_files import read_soft

        found = read_soft(path)
        order = ("row i is task number i of answers.json",) if path.suffix.lower() == ".npy" else ()
        for message in (*order, *found.notes):
            note(f"{path.name}: {message}")
    else:
        found = _labels_of_rows(_read_npy(path), path, _tasks_and_order_of_rows(training_data, data, path), known, note)
    found = _in_labels_of_data(found, known, training_data.name, path)
    there = positions(training_data.tasks, found.tasks) >= 0
    if not there.any():
        raise InputError(
            f"no task of {path} is in {training_data.name}; its tasks are {first_few(found.tasks)}, those of the data are "
            f"{first_few(training_data.tasks)}"
        )
    note(f"training labels: {count_text(int(there.sum()), 'task')} of {path.name}")
    if not there.all():
        missing = count_text(int((~there).sum()), "task")
        note(f"{missing} of {path.name} have no input and are not trained on: {first_few(found.tasks[~there])}")
    return replace(training_data, soft=replace(found.shared(training_data.tasks), notes=()))


def _is_in_peerannot_folder(file: Path, data_path: Path | None) -> bool:
    """Return whether a file is in the peerannot folder that the data were read from, or in its folder labels."""
    from plurivox.io.formats import peerannot

    if data_path is None or not peerannot.recognises(data_path):
        return False
    home = data_path if data_path.is_dir() else data_path.parent
    return home.resolve() in file.resolve().parents[:2]


def _read_npy(path: Path) -> NDArray[Any]:
    """Return the array of an .npy file; InputError if it is missing, damaged or contains Python objects."""
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError) as cause:
        raise InputError(f"{path} is not an .npy file of numbers or texts: {cause}") from cause


# ---- the tasks of the rows


def _tasks_and_order_of_rows(training_data: TrainingData, data: "Dataset | None", path: Path) -> tuple[Names, str]:
    """Return (tasks of the rows of an .npy file, what their order is) of a data set; InputError if it is not known."""
    if data is None:
        return training_data.tasks, f"the rows of {training_data.name}"
    if data.path is not None and (numbered := _tasks_by_peerannot_number(data.path, path)) is not None:
        return numbered, "the numbers of the tasks in answers.json"
    if training_data.votes is not None:
        _check_numbers_sort_by_value(training_data.votes.tasks, path)
        return training_data.votes.tasks, "the tasks of the votes, sorted"
    if data.images is not None:
        return _tasks_of_images(training_data)
    return training_data.tasks, f"the inputs of {training_data.name}"


def _check_numbers_sort_by_value(tasks: Names, path: Path) -> None:
    """Raise InputError if the tasks are numbers as text, whose order is not that of their values: 10 before 2."""
    values = parse_floats_or_none(tasks)
    if values is not None and (values[1:] < values[:-1]).any():
        raise InputError(
            f"the order of the rows of {path} is not known: as text, the tasks sort as {first_few(tasks)}, by value as "
            f"{first_few(tasks[np.argsort(values, kind='stable')])}; give a table with the column task (.csv), or an .npz"
        )


def _tasks_by_peerannot_number(folder: Path, path: Path) -> Names | None:
    """Return the tasks of a peerannot folder by their number; None if its tasks have no names other than their numbers.

    InputError if the names sort in another order: the file may have been written in either.
    """
    from plurivox.io.formats._peerannot_task_worker_label_names import read_names_json_or_none

    names = read_names_json_or_none(folder) if folder.is_dir() else None
    if names is None:
        return None
    numbered = as_names([names.tasks[key] for key in sorted(names.tasks, key=int)], "tasks")
    if not bool((numbered[1:] >= numbered[:-1]).all()):
        raise InputError(
            f"the order of the rows of {path} is not known: the tasks of {folder} have numbers and names in different orders; "
            f"put the file into {folder / 'labels'} if it is in the order of the numbers, or give a table with the column task"
        )
    return numbered


def _tasks_of_images(training_data: TrainingData) -> tuple[Names, str]:
    """Return (tasks, what their order is) of images without votes: of the split train, if there are splits.

    The order is that of the numbers at the end of the names, as in peerannot, if they are 0, 1, 2, ...; else that of the files.
    """
    from plurivox.io.formats.image_folder import IMAGE_SUFFIXES

    tasks = training_data.tasks_by_standard_split().get("train", training_data.tasks)
    names = [str(task).rpartition("/")[2] for task in tasks.tolist()]  # some are named by their path, with its suffix
    ends = [
        (Path(name).stem if Path(name).suffix.lower() in IMAGE_SUFFIXES else name).rpartition("-")[2] for name in names
    ]
    if all(end.isascii() and end.isdecimal() for end in ends):
        numbers = np.array([int(end) for end in ends])
        if np.array_equal(np.sort(numbers), np.arange(len(tasks))):
            return tasks[np.argsort(numbers)], "the numbers at the end of the names of the images"
    return tasks, "the images, sorted by folder and name"


# ---- the labels of the rows


def _known_labels(training_data: TrainingData) -> Names | None:
    """Return the labels of the votes, else of the gold labels; None if there are neither."""
    for one in (training_data.votes, training_data.gold):
        if one is not None:
            return one.labels
    return None


def _labels_of_rows(
    rows: NDArray[Any], path: Path, tasks_and_order: tuple[Names, str], labels: Names | None, note: Note
) -> SoftLabels:
    """Return the hard (n,) or soft (n, n_labels) labels of the rows of an .npy file; InputError if they do not fit the data."""
    tasks, order = tasks_and_order
    if rows.ndim not in (1, 2) or len(rows) != len(tasks):
        raise InputError(
            f"{path} has an array of the shape {rows.shape}; it needs one row per task, and the data set has "
            f"{count_text(len(tasks), 'task')} ({order}): give a table with the column task instead (.csv)"
        )
    note(
        f"row i of {path.name} is task i of {order}: the first is {first_few(tasks[:1])}, the last {first_few(tasks[-1:])}"
    )
    if rows.ndim == 1 and rows.dtype.kind in "UT":
        return SoftLabels.gold(tasks, as_names(rows, "labels"), None)
    if labels is None:
        raise InputError(
            f"{path} has no label names, and the data set has no labels; give a table with the column label (.csv)"
        )
    if rows.ndim == 2:
        if rows.shape[1] != len(labels):
            raise InputError(
                f"{path} has {rows.shape[1]} columns, but the data set has {len(labels)} labels: {first_few(labels, 9)}; list "
                "all labels in their order (`labels` in dataset.toml, or --labels)"
            )
        return SoftLabels.of(rows.astype(np.float64), tasks, labels)
    codes = rows.astype(np.int64)
    if rows.dtype.kind not in "iuf" or not np.array_equal(codes, rows) or codes.min() < 0 or codes.max() >= len(labels):
        raise InputError(
            f"{path} must contain the number of each task's label, from 0 to {len(labels) - 1} ({first_few(labels, 9)}); it "
            f"has {first_few(np.unique(rows).tolist())}"
        )
    note(
        f"the labels of {path.name} are numbers: 0 is {first_few(labels[:1])}, {len(labels) - 1} {first_few(labels[-1:])}"
    )
    return SoftLabels.one_hot(codes, tasks, labels)


def _in_labels_of_data(found: SoftLabels, labels: Names | None, name: str, path: Path) -> SoftLabels:
    """Return the labels of a file under the names that they have in the data; InputError if they share none."""
    if labels is None:
        return found
    place = positions(labels, found.labels)
    if (place < 0).all():
        raise InputError(
            f"the labels of {path} are {first_few(found.labels)}, those of {name} are {first_few(labels)}: name them alike"
        )
    return found.on_labels(labels) if (place >= 0).all() else found
