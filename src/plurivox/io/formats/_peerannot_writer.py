"""Writing a peerannot folder: names become numbers from 0, and `names.json` keeps them."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.atomic_write import atomic_folder
from plurivox.core.encoding import as_text
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Ints
from plurivox.core.votes import UNNAMED, Votes
from plurivox.io.folder_check import SPLITS
from plurivox.io.formats._contents import counted
from plurivox.io.formats._peerannot_names import NAMES, save_names

ANSWERS, METADATA = "answers.json", "metadata.json"


@dataclass(frozen=True)
class Shown:
    """An image on its way into the folder."""

    source: Path
    label: str
    split: str


def write(
    votes: Votes,
    path: str | Path,
    *,
    name: str | None = None,
    gold: SoftLabels | None = None,
    images: Mapping[str, Path] | None = None,
    splits: Mapping[str, str] | None = None,
    replace: bool = False,
) -> tuple[str, ...]:
    """Write votes as a peerannot folder, whole or not at all; the answer tells what changed on the way.

    Images, by task name as text, are copied to `<split>/<gold label>/<stem>-<number>`; without a gold label they have
    no place there and are left out.
    """
    if not bool((votes.weights == 1).all()):
        raise InputError("peerannot keeps one plain label per worker and task; these votes have soft answers or counts")
    worker, workers, n_extra = _worker_numbers(votes)
    shown = _shown(gold, images or {}, splits or {})
    labels, number = _label_numbers(votes, shown)
    tasks = votes.tasks.tolist()
    keys = {text: i for i, text in enumerate(as_text(votes.tasks).tolist())}
    for task in shown:
        if task not in keys:
            keys[task] = len(tasks)
            tasks.append(task)
    facts = {"name": name or Path(path).resolve().name, "n_classes": len(labels)}
    facts |= {"n_workers": len(workers), "n_tasks": votes.n_tasks}
    with atomic_folder(path, replace=replace) as folder:
        (folder / ANSWERS).write_text(json.dumps(_answers(votes, worker, number)), encoding="utf-8")
        (folder / METADATA).write_text(json.dumps(facts, indent=2, ensure_ascii=False), encoding="utf-8")
        save_names(folder, tasks, workers, labels, number.tolist(), votes.scale)
        _copy_images(folder, shown, keys, [_text_of(label) for label in labels])
    return (
        f"tasks, workers and labels are numbers from 0 in {ANSWERS}; {NAMES} keeps their names",
        *counted(
            (n_extra, "repeated or unnamed votes stand under further worker numbers: one worker has one vote a task"),
            (0 if votes.when is None and votes.seconds is None else len(votes), "votes lost their times"),
            (len(images or {}) - len(shown), "images without a gold label were left out"),
            (0 if gold is None else len(gold) - len(shown), "gold labels were left out: they come with images alone"),
        ),
    )


def _worker_numbers(votes: Votes) -> tuple[Ints, list[Any], int]:
    """Of each row its worker number; the names by number (None: nobody); how many rows needed a number of their own.

    A worker's second vote on a task, and every vote that nobody signed, goes to a number after the workers'.
    """
    pair = votes.task.astype(np.int64) * (votes.n_workers + 1) + votes.worker + 1
    order = np.argsort(pair, kind="stable")
    turn = np.empty(len(pair), np.int64)  # 0 for a worker's first vote on a task, 1 for the second, ...
    turn[order] = np.arange(len(pair)) - np.searchsorted(pair[order], pair[order])
    extra = (turn > 0) | (votes.worker == UNNAMED)
    number = votes.worker.astype(np.int64)
    names = votes.workers.tolist()
    if extra.any():
        more, place = np.unique(np.stack([turn, number], 1)[extra], axis=0, return_inverse=True)
        number[extra] = len(names) + place.ravel()
        names = names + [None if worker == UNNAMED else names[worker] for _, worker in more.tolist()]
    return number, names, int(extra.sum())


def _shown(gold: SoftLabels | None, images: Mapping[str, Path], splits: Mapping[str, str]) -> dict[str, Shown]:
    """The images that have a gold label, by task."""
    if gold is None:
        return {}
    labels = dict(zip(as_text(gold.tasks).tolist(), as_text(gold.hard()).tolist(), strict=True))
    shown = {
        task: Shown(Path(file), labels[task], splits.get(task, "train"))
        for task, file in images.items()
        if task in labels
    }
    if strange := {one.split for one in shown.values()} - set(SPLITS):
        raise InputError(f"peerannot has the splits train, val and test, not {first_few(sorted(strange))}")
    if absent := [str(one.source) for one in shown.values() if not one.source.is_file()]:
        raise InputError(f"{len(absent)} images are not there: {first_few(absent)}")
    return shown


def _label_numbers(votes: Votes, shown: Mapping[str, Shown]) -> tuple[list[Any], Ints]:
    """The labels by number, and the number of each label of the votes.

    With images the numbers follow the sorted folder names, since torchvision counts folders so.
    """
    if not shown:
        return votes.labels.tolist(), np.arange(votes.n_labels)
    known = dict(zip(as_text(votes.labels).tolist(), votes.labels.tolist(), strict=True))
    folders = sorted(known.keys() | {one.label for one in shown.values()})
    if bad := [label for label in folders if not label or label.startswith(".") or set(label) & set("/\\\0")]:
        raise InputError(f"labels that cannot name a folder: {first_few(bad)}; rename them or write without images")
    return [known.get(label, label) for label in folders], np.array([folders.index(label) for label in known])


def _answers(votes: Votes, worker: Ints, number: Ints) -> dict[int, dict[int, int]]:
    held: dict[int, dict[int, int]] = {task: {} for task in range(votes.n_tasks)}
    codes = number[votes.label] if len(votes) else number[:0]
    for task, who, label in zip(votes.task.tolist(), worker.tolist(), codes.tolist(), strict=True):
        held[task][who] = label
    return held


def _copy_images(folder: Path, shown: Mapping[str, Shown], keys: Mapping[str, int], labels: list[str]) -> None:
    for split in {one.split for one in shown.values()}:
        for label in labels:  # also those without an image: a folder left out would shift the numbers of the others
            (folder / split / label).mkdir(parents=True)
    for task, one in shown.items():
        file = f"{one.source.stem}-{keys[task]}{one.source.suffix}"
        shutil.copyfile(one.source, folder / one.split / one.label / file)


def _text_of(label: object) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
