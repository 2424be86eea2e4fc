"""Names for the numbers of a peerannot folder: from `names.json` beside the answers, or found by looking."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.errors import InputError, first_few
from plurivox.core.types import Floats
from plurivox.io.tabular.text_files import read_json

NAMES = "names.json"
ABOUT = "names for the numbers in answers.json, by number; null is a worker without a name"
VERSION = 1


@dataclass(frozen=True)
class Naming:
    """What the keys and numbers of `answers.json` stand for."""

    tasks: Mapping[str, Any]  # key -> name
    workers: Mapping[str, Any]  # key -> name, None where nobody is named; several keys may be one worker
    labels: Mapping[Any, Any]  # number -> name
    order: tuple[Any, ...] | None = None  # all labels by name, in their own order; None: those seen, sorted
    scale: tuple[float, ...] | None = None  # where each of them stands
    notes: tuple[str, ...] = ()


def save_names(
    folder: Path,
    tasks: list[Any],
    workers: list[Any],
    labels: list[Any],
    order: list[int],
    scale: Floats | None,
) -> None:
    """Write `names.json`: each list by number, and `order`: the numbers of the labels in the labels' own order."""
    held = {"about": ABOUT, "version": VERSION, "tasks": tasks, "workers": workers, "labels": labels}
    held |= {"label_order": order, "scale": None if scale is None else scale.tolist()}
    (folder / NAMES).write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")


def load_names(folder: Path) -> Naming | None:
    """What `save_names` wrote; None where a folder has no `names.json` of ours."""
    file = folder / NAMES
    if not file.is_file():
        return None
    held = read_json(file)
    if not isinstance(held, dict) or held.get("about") != ABOUT:
        return None
    if held.get("version") != VERSION:
        raise InputError(f"{file} was written by a newer plurivox (version {held.get('version')}); update plurivox")
    try:
        labels = held["labels"]
        order = tuple(labels[number] for number in held["label_order"])
        scale = None if held["scale"] is None else tuple(float(value) for value in held["scale"])
        tasks, workers = ({str(i): name for i, name in enumerate(held[of])} for of in ("tasks", "workers"))
    except (KeyError, IndexError, TypeError, ValueError) as cause:
        raise InputError(
            f"{file} is damaged ({type(cause).__name__}: {cause}); remove it to keep the numbers"
        ) from cause
    return Naming(tasks, workers, dict(enumerate(labels)), order, scale)


def plain_naming(
    tasks: Iterable[str],
    workers: Iterable[str],
    labels: set[Any],
    n_labels: int | None,
) -> Naming:
    """Keys that are all whole numbers become numbers; labels stay as they are, `n_labels` of them if that fits."""
    listed = n_labels is not None and numbered(labels) and all(0 <= label < n_labels for label in labels)
    order = tuple(range(n_labels)) if listed and n_labels is not None else None
    return Naming(_numbers(tasks), _numbers(workers), {label: label for label in labels}, order)


def named_by(naming: Naming, names: Iterable[Any], path: Path) -> Naming:
    """The same with labels named in the order of their numbers."""
    order = tuple(names)
    if strange := [label for label in naming.labels if not (numbered({label}) and 0 <= label < len(order))]:
        raise InputError(
            f"{path} has the labels {first_few(strange)}; {len(order)} names are for 0 to {len(order) - 1}"
        )
    return Naming(naming.tasks, naming.workers, dict(enumerate(order)), order, None, naming.notes)


def named_by_folders(naming: Naming, folders: tuple[str, ...], seen: Mapping[tuple[str, Any], int]) -> Naming:
    """Labels named by the sorted image folders, if the votes bear that out: `seen` counts (folder, number) of votes.

    torchvision numbers folders in sorted order, and most data sets follow it; some keep numbers of their own.
    """
    k = len(folders)
    votes = np.zeros((k, k))
    for (folder, number), count in seen.items():
        votes[folders.index(folder), number] += count
    shares = votes / np.maximum(votes.sum(1, keepdims=True), 1)
    chosen = np.flatnonzero(votes.sum(0) > 0)
    likely = shares.argmax(0)[chosen]
    if not len(chosen) or np.mean(likely == chosen) > 0.5:
        note = f"labels 0 to {k - 1} are named by the sorted image folders"
        return Naming(naming.tasks, naming.workers, dict(enumerate(folders)), folders, None, (note,))
    note = "labels stay numbers: the votes do not follow the sorted image folders; give labels=[...]"
    if len(chosen) == k == len(set(likely.tolist())):
        note += f", perhaps {[folders[i] for i in likely]}"
    return Naming(naming.tasks, naming.workers, naming.labels, naming.order, None, (note,))


def numbered(labels: Iterable[Any]) -> bool:
    """Are all of them whole numbers?"""
    return all(isinstance(label, int) and not isinstance(label, bool) for label in labels)


def _numbers(keys: Iterable[str]) -> dict[str, Any]:
    listed = list(dict.fromkeys(keys))
    whole = all(key.lstrip("-").isascii() and key.lstrip("-").isdecimal() and str(int(key)) == key for key in listed)
    return {key: int(key) if whole else key for key in listed}
