"""Read peerannot folders: `answers.json` {task: {worker: label}}, `metadata.json`, images under train/val/test/<label>.

An image belongs to the task whose key ends its name: `smile-2.png` is task 2. peerannot numbers tasks, workers and
labels from 0, so writing replaces names by numbers and stores the names in `names.json`, from which reading restores
them. `ground_truth.npy` and `matrices.npy` of a simulation are read as gold labels and as the table `confusion_matrices`.
Lefort, Charlier, Joly and Salmon, Peerannot (Computo, 2024), section 2.2.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, as_text
from plurivox.core.soft_labels import SoftLabels
from plurivox.io.dataset_folder_and_overwrite_checks import SPLITS
from plurivox.io.formats import _peerannot_task_worker_label_names as naming
from plurivox.io.formats._data_read_from_other_program import (
    ForeignContents,
    counted_notes,
    votes_with_unnamed,
)
from plurivox.io.formats._peerannot_arrays import read_ground_truth_or_none, read_matrices_or_none, soft_labels_of_array
from plurivox.io.formats._peerannot_writer import ANSWERS, METADATA, write_peerannot_folder
from plurivox.io.formats.image_folder import Image, ImageFiles, find_labelled_images
from plurivox.io.tabular.read_csv_and_json import read_json
from plurivox.io.tabular.table_file_names import file_suffix

__all__ = ["read", "read_labels_or_none", "recognises", "write", "write_labels", "write_peerannot_folder"]
MATRICES_TABLE = "confusion_matrices"  # worker, true, said, p: from which `peerannot simulate` drew the answers
write = write_peerannot_folder  # its name in version 0.1


@dataclass(frozen=True)
class AnswerColumns:
    """The votes of `answers.json` as columns: task key, worker key, label."""

    task: list[str]
    worker: list[str]
    label: list[Any]
    keys: list[str]  # all tasks, also those without a vote
    notes: tuple[str, ...]


@dataclass(frozen=True)
class FolderContents:
    """What a peerannot folder contains, and the names of its keys and label numbers."""

    answers: AnswerColumns
    metadata: dict[str, Any]
    image_files: ImageFiles | None
    images: Mapping[str, Image]  # task key -> image
    names: naming.NameMap
    image_notes: tuple[str, ...]


def recognises(path: Path) -> bool:
    """Return whether this is a folder with an `answers.json`, or such a file (also `answers_valid.json`)."""
    file = path / ANSWERS if path.is_dir() else path
    if not (file.name.startswith("answers") and file_suffix(file) == ".json" and file.is_file()):
        return False
    with file.open("rb") as opened:
        return opened.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def read(path: str | Path, labels: Iterable[object] | None = None) -> ForeignContents:
    """Return the votes of a peerannot folder, its images, and the names of their folders as gold labels.

    `labels` names the labels in the order of their numbers. Without it they are named by `names.json`, else by the
    sorted image folders if the votes agree with that order, else they stay numbers.
    """
    file = Path(path) / ANSWERS if Path(path).is_dir() else Path(path)
    contents = _parse_answers_and_images(file, labels)
    answers, names = contents.answers, contents.names
    votes = votes_with_unnamed(
        [names.tasks[key] for key in answers.task],
        [names.workers[key] for key in answers.worker],
        [names.labels[label] for label in answers.label],
        tasks=[names.tasks[key] for key in answers.keys],
        workers=list(dict.fromkeys(name for name in names.workers.values() if name is not None)),
        labels=names.order,
        ordered=names.scale or False,
    )
    as_named = {_task_name_text(names.tasks.get(key, key)): image for key, image in contents.images.items()}
    is_simulated = file.name == ANSWERS
    truth = read_ground_truth_or_none(file.parent, names) if is_simulated else None
    matrices = read_matrices_or_none(file.parent, names) if is_simulated else None
    return ForeignContents(
        name=str(contents.metadata.get("name", file.parent.resolve().name)),
        votes=votes,
        gold=truth if truth is not None else _gold_from_image_folders(as_named, contents.image_files),
        images={task: image.path for task, image in as_named.items()} or None,
        splits={task: image.split for task, image in as_named.items()} or None,
        tables=None if matrices is None else {MATRICES_TABLE: matrices},
        notes=answers.notes
        + names.notes
        + contents.image_notes
        + _notes_on_metadata_differences(contents.metadata, answers),
    )


def write_labels(soft: SoftLabels, folder: str | Path, method: str, *, hard: bool = False) -> Path:
    """Write soft labels for peerannot, to `labels/labels_<dataset>_<method>.npy` with one row per task number; return the path.

    The numbers are those of the folder's `answers.json`. `hard` writes the number of each task's top label instead,
    to a file whose name ends in `_hard`.
    """
    root = Path(folder)
    contents = read(root)
    assert contents.votes is not None
    names = naming.read_names_json_or_none(root)
    keys = [str(i) for i in range(contents.votes.n_tasks)]
    if names is None and contents.votes.tasks.tolist() != list(range(contents.votes.n_tasks)):
        raise InputError(
            f"{root / ANSWERS} must number its tasks from 0 to {len(keys) - 1} to write labels for peerannot"
        )
    tasks = contents.votes.tasks if names is None else [names.tasks[key] for key in keys]
    labels = contents.votes.labels if names is None else [names.labels[i] for i in range(len(names.labels))]
    rows = soft.on(as_names(tasks)).on_labels(as_names(labels))
    file = f"labels_{contents.name}_{method}{'_hard' if hard else ''}.npy"
    if Path(file).name != file:
        raise InputError(f"{file!r} is not a valid file name; choose another method name or data set name")
    (root / "labels").mkdir(exist_ok=True)
    with atomic_file(root / "labels" / file) as part, part.open("wb") as opened:
        np.save(opened, rows.most_probable_label_codes() if hard else rows.prob, allow_pickle=False)
    return root / "labels" / file


def read_labels_or_none(file: str | Path) -> SoftLabels | None:
    """Return the labels, hard or soft, that `peerannot aggregate` wrote to `labels/`; None if no answers.json is near the file.

    The tasks and labels have the names that `read` gives them.
    """
    path = Path(file)
    root = next((one for one in path.resolve().parents[:2] if (one / ANSWERS).is_file()), None)
    if root is None:
        return None
    contents = _parse_answers_and_images(root / ANSWERS, None)
    return soft_labels_of_array(path, contents.names, contents.answers.keys)


def _parse_answers_and_images(file: Path, labels: Iterable[object] | None) -> FolderContents:
    """Return the answers in a file, the images and metadata beside it, and the names of all keys."""
    answers, metadata = _read_answers_json_as_columns(file), _read_metadata_json_or_empty(file.parent)
    found = find_labelled_images(file.parent) if any((file.parent / split).is_dir() for split in SPLITS) else None
    images, notes = _images_by_task_key_and_notes(found, set(answers.keys)) if found else ({}, ())
    names = _names_of_keys(file, answers, metadata, found, images, labels)
    return FolderContents(answers, metadata, found, images, names, notes)


def _names_of_keys(
    file: Path,
    answers: AnswerColumns,
    metadata: Mapping[str, Any],
    image_files: ImageFiles | None,
    images: Mapping[str, Image],
    labels: Iterable[object] | None,
) -> naming.NameMap:
    """Return the names of tasks, workers and labels: from names.json, the list `labels`, or the image folders."""
    names = naming.read_names_json_or_none(file.parent) if file.name == ANSWERS else None
    if names is None:
        n_labels = metadata.get("n_classes") if isinstance(metadata.get("n_classes"), int) else None
        names = naming.name_map_from_keys(answers.keys, answers.worker, set(answers.label), n_labels)
        if labels is None and image_files and _labels_can_number_folders(image_files, answers, n_labels):
            vote_counts = Counter(
                (images[task].label, label)
                for task, label in zip(answers.task, answers.label, strict=True)
                if task in images
            )
            names = naming.name_labels_by_folders_if_votes_agree(names, image_files.labels, vote_counts)
    if labels is not None:
        names = naming.name_labels_by_number(names, labels, file)
    _check_tasks_workers_labels_have_names(names, answers, file)
    return names


def _read_answers_json_as_columns(file: Path) -> AnswerColumns:
    """Return the votes in answers.json as columns; raise InputError if its structure is not {task: {worker: label}}."""
    repeated: list[str] = []

    def dict_noting_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return the pairs of a JSON object as a dict; append keys that occur twice to the outer list `repeated`."""
        contents = dict(pairs)
        if len(contents) < len(pairs):
            repeated.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return contents

    contents = read_json(file, object_pairs_hook=dict_noting_repeated_keys)
    if not isinstance(contents, dict) or not all(isinstance(given, dict) for given in contents.values()):
        raise InputError(f"{file} is not a peerannot answers file; it must contain {{task: {{worker: label}}}}")
    rows = [(task, worker, label) for task, given in contents.items() for worker, label in given.items()]
    if strange := [label for _, _, label in rows if isinstance(label, list | dict)]:
        raise InputError(f"{file} must contain one label per worker and task; it has {first_few(strange)}")
    labelled = [row for row in rows if row[2] is not None]
    notes = counted_notes(
        (
            len(repeated),
            f"key occurs twice in {file.name}: {first_few(repeated[:1])}; the last value was used",
            f"keys occur twice in {file.name}, for example {first_few(repeated[:1])}; the last value was used",
        ),
        (len(rows) - len(labelled), "vote without a label was dropped", "votes without a label were dropped"),
        (
            sum(label == -1 for _, _, label in labelled),
            "vote has the label -1, which is read as a label; if it means no answer, set missing=-1 (--missing -1)",
            "votes have the label -1, which is read as a label; if it means no answer, set missing=-1 (--missing -1)",
        ),
    )
    task, worker, label = ([row[i] for row in labelled] for i in range(3))
    return AnswerColumns(task, worker, label, list(contents), notes)


def _read_metadata_json_or_empty(folder: Path) -> dict[str, Any]:
    """Return the contents of metadata.json, {} if there is none."""
    file = folder / METADATA
    contents = read_json(file) if file.is_file() else {}
    if not isinstance(contents, dict):
        raise InputError(f"{file} must contain an object such as {{'name': 'toy', 'n_classes': 2, 'n_workers': 4}}")
    return contents


def _notes_on_metadata_differences(metadata: Mapping[str, Any], answers: AnswerColumns) -> tuple[str, ...]:
    """Return one note per number in metadata.json that differs from the answers."""
    have = {"n_tasks": len(answers.keys), "n_workers": len(set(answers.worker))}
    notes = [
        f"{METADATA} has {name} = {metadata[name]}, but {ANSWERS} has {number}"
        for name, number in have.items()
        if name in metadata and metadata[name] != number
    ]
    n_labels = metadata.get("n_classes")
    if (
        isinstance(n_labels, int)
        and naming.are_whole_numbers(answers.label)
        and max(answers.label, default=0) >= n_labels
    ):
        notes.append(f"{METADATA} has n_classes = {n_labels}, but {ANSWERS} has labels up to {max(answers.label)}")
    return tuple(notes)


def _labels_can_number_folders(image_files: ImageFiles, answers: AnswerColumns, n_labels: int | None) -> bool:
    """Return whether all labels of the answers can be numbers of the image folders (0 to number of folders - 1)."""
    k = len(image_files.labels)
    return (
        n_labels in (None, k)
        and naming.are_whole_numbers(answers.label)
        and all(0 <= label < k for label in answers.label)
    )


def _images_by_task_key_and_notes(
    image_files: ImageFiles, task_keys: set[str]
) -> tuple[dict[str, Image], tuple[str, ...]]:
    """Return {task key: image} and notes; if a split repeats task keys of another, its keys get a prefix: `test/0`."""
    images: dict[str, Image] = {}
    renamed_splits: list[str] = []
    twice = 0
    for split in SPLITS:
        mine = [
            (_task_key_after_last_hyphen(image.path, task_keys), image)
            for image in image_files.images
            if image.split == split
        ]
        if clash := any(key in images for key, _ in mine):
            renamed_splits.append(split)
        for key, image in mine:
            name = f"{split}/{key}" if clash else key
            twice += name in images and images[name].split == split
            images.setdefault(name, image)
    bare = sum(image.split == "train" and key not in task_keys for key, image in images.items())
    notes = counted_notes(
        (image_files.n_other, "file is not an image and was skipped", "files are not images and were skipped"),
        (
            image_files.n_loose,
            "image outside of label folders was skipped",
            "images outside of label folders were skipped",
        ),
        (
            twice,
            "image has the same task key as an earlier one and was skipped",
            "images have the same task key as an earlier one and were skipped",
        ),
        (bare, f"train image has no task in {ANSWERS}", f"train images have no task in {ANSWERS}"),
        (
            len(task_keys - set(images)) if images else 0,
            f"task in {ANSWERS} has no image",
            f"tasks in {ANSWERS} have no image",
        ),
    )
    if renamed_splits:
        notes += (
            f"keys under {' and '.join(renamed_splits)} repeat those of another split; "
            f"these tasks are named {renamed_splits[0]}/<key>",
        )
    return images, notes


def _task_key_after_last_hyphen(file: Path, known_keys: set[str]) -> str:
    """Return the task key at the end of an image file name, such as "7" of "cat-7.jpg"."""
    key = file.stem.rsplit("-", 1)[-1]
    if key not in known_keys and key.isascii() and key.isdecimal() and str(int(key)) in known_keys:
        return str(int(key))  # peerannot reads 0007 as 7
    return key


def _gold_from_image_folders(images: Mapping[str, Image], image_files: ImageFiles | None) -> SoftLabels | None:
    """Return gold labels: the name of the folder that contains the image of each task; None if there are no images."""
    if not images or image_files is None:
        return None
    return SoftLabels.gold(list(images), [image.label for image in images.values()], labels=image_files.labels)


def _check_tasks_workers_labels_have_names(name_map: naming.NameMap, answers: AnswerColumns, file: Path) -> None:
    """Raise InputError if a task, worker or label of the answers has no name in names.json."""
    for what, known, used in (
        ("tasks", name_map.tasks, answers.keys),
        ("workers", name_map.workers, answers.worker),
        ("labels", name_map.labels, answers.label),
    ):
        if strange := [key for key in dict.fromkeys(used) if key not in known]:
            raise InputError(
                f"{file} has {what} that {naming.NAMES_FILE} does not name: {first_few(strange)}; "
                f"delete {naming.NAMES_FILE} to read by number"
            )


def _task_name_text(name: object) -> str:
    """Return a task name as text."""
    return str(as_text(as_names([name]))[0])
