"""Names of the numbered tasks, workers and labels of a peerannot folder: from `names.json`, or inferred."""

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError, first_few
from plurivox.io.tabular.read_csv_and_json import read_json

NAMES_FILE = "names.json"
FILE_DESCRIPTION = "names for the numbers in answers.json, by number; null is a worker without a name"
VERSION = 1


@dataclass(frozen=True)
class NameMap:
    """The names of the task keys, worker keys and label numbers in `answers.json`."""

    tasks: Mapping[str, Any]  # key -> name
    workers: Mapping[str, Any]  # key -> name, None if unnamed; several keys may be one worker
    labels: Mapping[Any, Any]  # number -> name
    order: tuple[Any, ...] | None = None  # all label names in order; None: those that occur, sorted
    scale: tuple[float, ...] | None = None  # the position of each label on its scale
    notes: tuple[str, ...] = ()


def write_names_json(
    folder: Path,
    tasks: list[Any],
    workers: list[Any],
    labels: list[Any],
    order: list[int],
    scale: Floats | None,
) -> None:
    """Write `names.json` to a folder: task, worker and label names by number, and `order`, the label numbers in label order."""
    contents = {"about": FILE_DESCRIPTION, "version": VERSION, "tasks": tasks, "workers": workers, "labels": labels}
    contents |= {"label_order": order, "scale": None if scale is None else scale.tolist()}
    (folder / NAMES_FILE).write_text(json.dumps(contents, ensure_ascii=False), encoding="utf-8")


def read_names_json_or_none(folder: Path) -> NameMap | None:
    """Return the names stored in `names.json` of a peerannot folder; None if the folder has no such file."""
    file = folder / NAMES_FILE
    if not file.is_file():
        return None
    contents = read_json(file)
    if not isinstance(contents, dict) or contents.get("about") != FILE_DESCRIPTION:
        return None
    if contents.get("version") != VERSION:
        raise InputError(f"{file} was written by a newer plurivox (version {contents.get('version')}); update plurivox")
    try:
        labels = contents["labels"]
        order = tuple(labels[number] for number in contents["label_order"])
        scale = None if contents["scale"] is None else tuple(float(value) for value in contents["scale"])
        tasks, workers = ({str(i): name for i, name in enumerate(contents[of])} for of in ("tasks", "workers"))
    except (KeyError, IndexError, TypeError, ValueError) as cause:
        raise InputError(
            f"{file} is damaged ({type(cause).__name__}: {cause}); delete it to read tasks, workers and labels by number"
        ) from cause
    return NameMap(tasks, workers, dict(enumerate(labels)), order, scale)


def name_map_from_keys(
    tasks: Iterable[str],
    workers: Iterable[str],
    labels: set[Any],
    n_labels: int | None,
) -> NameMap:
    """Return the name map whose task and worker names are the keys (integers if all are) and whose labels are unchanged."""
    listed = n_labels is not None and are_whole_numbers(labels) and all(0 <= label < n_labels for label in labels)
    order = tuple(range(n_labels)) if listed and n_labels is not None else None
    return NameMap(
        _dict_from_keys_to_ints_if_all_whole(tasks),
        _dict_from_keys_to_ints_if_all_whole(workers),
        {label: label for label in labels},
        order,
    )


def name_labels_by_number(name_map: NameMap, names_by_label_number: Iterable[Any], path: Path) -> NameMap:
    """Return the name map with label number i named `names_by_label_number[i]`; raise InputError if a label has no name."""
    order = tuple(names_by_label_number)
    if strange := [label for label in name_map.labels if not (are_whole_numbers({label}) and 0 <= label < len(order))]:
        raise InputError(
            f"{path} has the labels {first_few(strange)}; the {len(order)} names given are for labels 0 to {len(order) - 1}"
        )
    return NameMap(name_map.tasks, name_map.workers, dict(enumerate(order)), order, None, name_map.notes)


def name_labels_by_folders_if_votes_agree(
    name_map: NameMap, folders: tuple[str, ...], vote_counts: Mapping[tuple[str, Any], int]
) -> NameMap:
    """Return the name map with labels named by the sorted image folders, if most votes agree with that order.

    `vote_counts` counts the votes by (image folder, label number). torchvision numbers folders in sorted order, and most data
    sets follow it; others number their labels differently, and then labels stay numbers, with a note.
    """
    k = len(folders)
    votes = np.zeros((k, k))
    for (folder, number), count in vote_counts.items():
        votes[folders.index(folder), number] += count
    shares = votes / np.maximum(votes.sum(1, keepdims=True), 1)
    chosen = np.flatnonzero(votes.sum(0) > 0)
    likely = shares.argmax(0)[chosen]
    if not len(chosen) or np.mean(likely == chosen) > 0.5:
        note = f"labels 0 to {k - 1} are named by the sorted image folders"
        return NameMap(name_map.tasks, name_map.workers, dict(enumerate(folders)), folders, None, (note,))
    note = (
        "labels stay numbers: the votes do not agree with the sorted image folders, so the data set numbers its labels in "
        "another order; name them in that order when you read the votes: "
    )
    if len(chosen) == k == len(set(likely.tolist())):
        names = [folders[i] for i in likely]
        note += f"perhaps labels={names} (--labels {shlex.quote(','.join(names))})"
    else:
        note += "labels=[...] (--labels a,b,...)"
    return NameMap(name_map.tasks, name_map.workers, name_map.labels, name_map.order, None, (note,))


def are_whole_numbers(labels: Iterable[Any]) -> bool:
    """Return whether every label is a whole number."""
    return all(isinstance(label, int) and not isinstance(label, bool) for label in labels)


def _dict_from_keys_to_ints_if_all_whole(keys: Iterable[str]) -> dict[str, Any]:
    """Return {key: name}, where names are integers if all keys are whole numbers, else the keys."""
    listed = list(dict.fromkeys(keys))
    whole = all(key.lstrip("-").isascii() and key.lstrip("-").isdecimal() and str(int(key)) == key for key in listed)
    return {key: int(key) if whole else key for key in listed}
