"""Write a peerannot folder: tasks, workers and labels are numbered from 0, and `names.json` stores their names."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.array_types import Ints
from plurivox.core.atomic_write import atomic_folder
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_text
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import UNNAMED, Votes
from plurivox.io.dataset_folder_and_overwrite_checks import SPLITS
from plurivox.io.formats._data_read_from_other_program import counted_notes
from plurivox.io.formats._peerannot_task_worker_label_names import NAMES_FILE, write_names_json

ANSWERS, METADATA = "answers.json", "metadata.json"


@dataclass(frozen=True)
class ImageToWrite:
    """An image to copy into a peerannot folder: source file, gold label, split."""

    source: Path
    label: str
    split: str


def write_peerannot_folder(
    votes: Votes,
    path: str | Path,
    *,
    name: str | None = None,
    gold: SoftLabels | None = None,
    images: Mapping[str, Path] | None = None,
    splits: Mapping[str, str] | None = None,
    replace: bool = False,
) -> tuple[str, ...]:
    """Write votes as a peerannot folder and return notes on what it cannot store; an error leaves no partial folder.

    Images, by task name as text, are copied to `<split>/<gold label>/<stem>-<number>`; images without a gold label
    are left out.
    """
    if not bool((votes.weights == 1).all()):
        raise InputError("peerannot stores one label per worker and task; these votes contain soft answers or counts")
    worker, workers, n_extra = _worker_numbers_names_and_n_extra(votes)
    to_write = _images_with_gold_by_task(gold, images or {}, splits or {})
    labels, number = _labels_by_number_and_number_of_each(votes, to_write)
    tasks = votes.tasks.tolist()
    keys = {text: i for i, text in enumerate(as_text(votes.tasks).tolist())}
    for task in to_write:
        if task not in keys:
            keys[task] = len(tasks)
            tasks.append(task)
    metadata = {"name": name or Path(path).resolve().name, "n_classes": len(labels)}
    metadata |= {"n_workers": len(workers), "n_tasks": votes.n_tasks}
    with atomic_folder(path, replace=replace) as folder:
        (folder / ANSWERS).write_text(json.dumps(_contents_of_answers_json(votes, worker, number)), encoding="utf-8")
        (folder / METADATA).write_text(json.dumps(metadata, indent=2, ensure_ascii=False), encoding="utf-8")
        write_names_json(folder, tasks, workers, labels, number.tolist(), votes.scale)
        _copy_images(folder, to_write, keys, [_label_text_with_lower_case_booleans(label) for label in labels])
    return (
        f"tasks, workers and labels are numbers from 0 in {ANSWERS}; {NAMES_FILE} contains their names",
        *counted_notes(
            (
                n_extra,
                "repeated or unnamed vote got an additional worker number: peerannot allows one vote per worker and task",
                "repeated or unnamed votes got additional worker numbers: peerannot allows one vote per worker and task",
            ),
            (
                0 if votes.when is None and votes.seconds is None else len(votes),
                "vote was written without its time",
                "votes were written without their times",
            ),
            (
                len(images or {}) - len(to_write),
                "image without a gold label was left out",
                "images without a gold label were left out",
            ),
            (
                0 if gold is None else len(gold) - len(to_write),
                "gold label was left out: peerannot stores them only with images",
                "gold labels were left out: peerannot stores them only with images",
            ),
        ),
    )


def _worker_numbers_names_and_n_extra(votes: Votes) -> tuple[Ints, list[Any], int]:
    """Return the worker number of each vote, names by number (None: unnamed), and how many votes got an extra number.

    A worker's second vote on a task, and every unnamed vote, gets a number after those of the workers.
    """
    pair = votes.task.astype(np.int64) * (votes.n_workers + 1) + votes.worker + 1
    order = np.argsort(pair, kind="stable")
    repeat = np.empty(len(pair), np.int64)  # 0 for a worker's first vote on a task, 1 for the second, ...
    repeat[order] = np.arange(len(pair)) - np.searchsorted(pair[order], pair[order])
    extra = (repeat > 0) | (votes.worker == UNNAMED)
    number = votes.worker.astype(np.int64)
    names = votes.workers.tolist()
    if extra.any():
        more, place = np.unique(np.stack([repeat, number], 1)[extra], axis=0, return_inverse=True)
        number[extra] = len(names) + place.ravel()
        names = names + [None if worker == UNNAMED else names[worker] for _, worker in more.tolist()]
    return number, names, int(extra.sum())


def _images_with_gold_by_task(
    gold: SoftLabels | None, images: Mapping[str, Path], splits: Mapping[str, str]
) -> dict[str, ImageToWrite]:
    """Return the images that have a gold label, by task; raise InputError for a missing file or an unknown split."""
    if gold is None:
        return {}
    labels = dict(zip(as_text(gold.tasks).tolist(), as_text(gold.hard()).tolist(), strict=True))
    to_write = {
        task: ImageToWrite(Path(file), labels[task], splits.get(task, "train"))
        for task, file in images.items()
        if task in labels
    }
    if strange := {one.split for one in to_write.values()} - set(SPLITS):
        raise InputError(f"peerannot has the splits train, val and test; rename {first_few(sorted(strange))}")
    if absent := [str(one.source) for one in to_write.values() if not one.source.is_file()]:
        raise InputError(f"{len(absent)} image files do not exist: {first_few(absent)}")
    return to_write


def _labels_by_number_and_number_of_each(
    votes: Votes, images_to_write: Mapping[str, ImageToWrite]
) -> tuple[list[Any], Ints]:
    """Return (labels in the order of their numbers, (n_labels,) the number of each label of the votes).

    With images the numbers follow the sorted folder names, as in torchvision.
    """
    if not images_to_write:
        return votes.labels.tolist(), np.arange(votes.n_labels)
    known = dict(zip(as_text(votes.labels).tolist(), votes.labels.tolist(), strict=True))
    folders = sorted(known.keys() | {one.label for one in images_to_write.values()})
    if bad := [label for label in folders if not label or label.startswith(".") or set(label) & set("/\\\0")]:
        raise InputError(f"labels that cannot name a folder: {first_few(bad)}; rename them or write without images")
    return [known.get(label, label) for label in folders], np.array([folders.index(label) for label in known])


def _contents_of_answers_json(votes: Votes, worker_number: Ints, label_number: Ints) -> dict[int, dict[int, int]]:
    """Return {task number: {worker number: label number}}, the contents of answers.json."""
    answers: dict[int, dict[int, int]] = {task: {} for task in range(votes.n_tasks)}
    codes = label_number[votes.label] if len(votes) else label_number[:0]
    for task, who, label in zip(votes.task.tolist(), worker_number.tolist(), codes.tolist(), strict=True):
        answers[task][who] = label
    return answers


def _copy_images(
    folder: Path, images_to_write: Mapping[str, ImageToWrite], task_numbers: Mapping[str, int], labels: list[str]
) -> None:
    """Copy the images to `<split>/<label>/` of a peerannot folder and append the task number to their file names."""
    for split in {one.split for one in images_to_write.values()}:
        for label in labels:  # also those without an image: a folder left out would shift the numbers of the others
            (folder / split / label).mkdir(parents=True)
    for task, one in images_to_write.items():
        file = f"{one.source.stem}-{task_numbers[task]}{one.source.suffix}"
        shutil.copyfile(one.source, folder / one.split / one.label / file)


def _label_text_with_lower_case_booleans(label: object) -> str:
    """Return a label as text; booleans in lower case."""
    return str(label).lower() if isinstance(label, bool) else str(label)
