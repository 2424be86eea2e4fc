"""peerannot folders: `answers.json` {task: {worker: label}}, `metadata.json`, images under train/val/test/<label>.

An image belongs to the task whose key ends its name: `smile-2.png` is task 2. peerannot counts tasks, workers and
labels from 0, so writing gives every name a number and keeps the names in `names.json` beside, and reading takes them
back from there. Lefort, Charlier, Joly and Salmon, Peerannot (Computo, 2024), section 2.2.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.atomic_write import atomic_file
from plurivox.core.encoding import as_names, as_text
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.io.folder_check import SPLITS
from plurivox.io.formats import _peerannot_names as naming
from plurivox.io.formats._contents import Contents, counted, votes_of
from plurivox.io.formats._peerannot_writer import ANSWERS, METADATA, write
from plurivox.io.formats.image_folder import Found, Image, find_images
from plurivox.io.tabular.file_names import suffix_of
from plurivox.io.tabular.text_files import read_json

__all__ = ["read", "recognises", "write", "write_labels"]


@dataclass(frozen=True)
class Answers:
    """`answers.json` as columns of keys."""

    task: list[str]
    worker: list[str]
    label: list[Any]
    keys: list[str]  # every task, those without a vote too
    notes: tuple[str, ...]


def recognises(path: Path) -> bool:
    """Is this a folder with an `answers.json`, or such a file (also `answers_valid.json`)?"""
    file = path / ANSWERS if path.is_dir() else path
    if not (file.name.startswith("answers") and suffix_of(file) == ".json" and file.is_file()):
        return False
    with file.open("rb") as opened:
        return opened.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def read(path: str | Path, labels: Iterable[object] | None = None) -> Contents:
    """The votes of a peerannot folder, with its images and their folders as gold labels.

    `labels` names the labels in the order of their numbers. Without it they are named by `names.json`, else by the
    sorted image folders where the votes bear that out, else they stay numbers.
    """
    file = Path(path) / ANSWERS if Path(path).is_dir() else Path(path)
    answers = _read_answers(file)
    metadata = _read_metadata(file.parent)
    found = find_images(file.parent) if any((file.parent / split).is_dir() for split in SPLITS) else None
    images, notes = _images_by_key(found, set(answers.keys)) if found else ({}, ())
    names = naming.load_names(file.parent) if file.name == ANSWERS else None
    if names is None:
        n_labels = metadata.get("n_classes") if isinstance(metadata.get("n_classes"), int) else None
        names = naming.plain_naming(answers.keys, answers.worker, set(answers.label), n_labels)
        if labels is None and found and _fits(found, answers, n_labels):
            seen = Counter(
                (images[task].label, label)
                for task, label in zip(answers.task, answers.label, strict=True)
                if task in images
            )
            names = naming.named_by_folders(names, found.labels, seen)
    if labels is not None:
        names = naming.named_by(names, labels, file)
    _must_be_named(names, answers, file)
    votes = votes_of(
        [names.tasks[key] for key in answers.task],
        [names.workers[key] for key in answers.worker],
        [names.labels[label] for label in answers.label],
        tasks=[names.tasks[key] for key in answers.keys],
        workers=list(dict.fromkeys(name for name in names.workers.values() if name is not None)),
        labels=names.order,
        ordered=names.scale or False,
    )
    as_named = {_text(names.tasks.get(key, key)): image for key, image in images.items()}
    return Contents(
        name=str(metadata.get("name", file.parent.resolve().name)),
        votes=votes,
        gold=_gold(as_named, found),
        images={task: image.path for task, image in as_named.items()} or None,
        splits={task: image.split for task, image in as_named.items()} or None,
        notes=answers.notes + names.notes + notes + _contradictions(metadata, answers),
    )


def write_labels(soft: SoftLabels, folder: str | Path, method: str, *, hard: bool = False) -> Path:
    """Write soft labels where peerannot looks for them: `labels/labels_<dataset>_<method>.npy`, a row per task number.

    The numbers are those of the folder's `answers.json`. `hard` writes the number of each task's top label instead,
    to a file whose name ends in `_hard`.
    """
    home = Path(folder)
    contents = read(home)
    assert contents.votes is not None
    names = naming.load_names(home)
    keys = [str(i) for i in range(contents.votes.n_tasks)]
    if names is None and contents.votes.tasks.tolist() != list(range(contents.votes.n_tasks)):
        raise InputError(f"{home / ANSWERS} does not number its tasks 0 to {len(keys) - 1}, as peerannot's labels need")
    tasks = contents.votes.tasks if names is None else [names.tasks[key] for key in keys]
    labels = contents.votes.labels if names is None else [names.labels[i] for i in range(len(names.labels))]
    rows = soft.on(as_names(tasks)).on_labels(as_names(labels))
    file = f"labels_{contents.name}_{method}{'_hard' if hard else ''}.npy"
    if Path(file).name != file:
        raise InputError(f"{file!r} cannot be the name of a file; choose another method name or dataset name")
    (home / "labels").mkdir(exist_ok=True)
    with atomic_file(home / "labels" / file) as part, part.open("wb") as opened:
        np.save(opened, rows.codes() if hard else rows.prob, allow_pickle=False)
    return home / "labels" / file


def _read_answers(file: Path) -> Answers:
    repeated: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            repeated.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return held

    held = read_json(file, pairs=once)
    if not isinstance(held, dict) or not all(isinstance(given, dict) for given in held.values()):
        raise InputError(f"{file} must hold {{task: {{worker: label}}}}")
    rows = [(task, worker, label) for task, given in held.items() for worker, label in given.items()]
    if strange := [label for _, _, label in rows if isinstance(label, list | dict)]:
        raise InputError(f"{file} must hold one label per worker and task; it has {first_few(strange)}")
    told = [row for row in rows if row[2] is not None]
    notes = counted(
        (
            len(repeated),
            f"keys stand twice in {file.name}, such as {first_few(repeated[:1])}; the last of each was kept",
        ),
        (len(rows) - len(told), "votes without a label were dropped"),
        (sum(label == -1 for _, _, label in told), "votes say -1, which is a label like any other here"),
    )
    task, worker, label = ([row[i] for row in told] for i in range(3))
    return Answers(task, worker, label, list(held), notes)


def _read_metadata(folder: Path) -> dict[str, Any]:
    file = folder / METADATA
    held = read_json(file) if file.is_file() else {}
    if not isinstance(held, dict):
        raise InputError(f"{file} must hold an object such as {{'name': 'toy', 'n_classes': 2, 'n_workers': 4}}")
    return held


def _contradictions(metadata: Mapping[str, Any], answers: Answers) -> tuple[str, ...]:
    """A note for each number in metadata.json that the answers do not bear out."""
    have = {"n_tasks": len(answers.keys), "n_workers": len(set(answers.worker))}
    notes = [
        f"{METADATA} says {name} = {metadata[name]}; {ANSWERS} has {number}"
        for name, number in have.items()
        if name in metadata and metadata[name] != number
    ]
    n_labels = metadata.get("n_classes")
    if isinstance(n_labels, int) and naming.numbered(answers.label) and max(answers.label, default=0) >= n_labels:
        notes.append(f"{METADATA} says n_classes = {n_labels}; {ANSWERS} has labels up to {max(answers.label)}")
    return tuple(notes)


def _fits(found: Found, answers: Answers, n_labels: int | None) -> bool:
    """Can the labels be numbers of the image folders?"""
    k = len(found.labels)
    return n_labels in (None, k) and naming.numbered(answers.label) and all(0 <= label < k for label in answers.label)


def _images_by_key(found: Found, keys: set[str]) -> tuple[dict[str, Image], tuple[str, ...]]:
    """Images by the key of their task. A split that counts its keys anew gets them with its name before: `test/0`."""
    images: dict[str, Image] = {}
    anew: list[str] = []
    twice = 0
    for split in SPLITS:
        mine = [(_key(image.path, keys), image) for image in found.images if image.split == split]
        if clash := any(key in images for key, _ in mine):
            anew.append(split)
        for key, image in mine:
            name = f"{split}/{key}" if clash else key
            twice += name in images and images[name].split == split
            images.setdefault(name, image)
    bare = sum(image.split == "train" and key not in keys for key, image in images.items())
    notes = counted(
        (found.n_other, "files are no images and were passed over"),
        (found.n_loose, "images stand outside label folders and were passed over"),
        (twice, "images share their task's key with an earlier one and were passed over"),
        (bare, f"train images have no task in {ANSWERS}"),
        (len(keys - set(images)) if images else 0, f"tasks in {ANSWERS} have no image"),
    )
    if anew:
        notes += (f"keys under {' and '.join(anew)} begin anew; those tasks are named {anew[0]}/<key>",)
    return images, notes


def _key(file: Path, keys: set[str]) -> str:
    key = file.stem.rsplit("-", 1)[-1]
    if key not in keys and key.isascii() and key.isdecimal() and str(int(key)) in keys:
        return str(int(key))  # peerannot reads 0007 as 7
    return key


def _gold(images: Mapping[str, Image], found: Found | None) -> SoftLabels | None:
    if not images or found is None:
        return None
    return SoftLabels.gold(list(images), [image.label for image in images.values()], labels=found.labels)


def _must_be_named(names: naming.Naming, answers: Answers, file: Path) -> None:
    for what, known, used in (
        ("tasks", names.tasks, answers.keys),
        ("workers", names.workers, answers.worker),
        ("labels", names.labels, answers.label),
    ):
        if strange := [key for key in dict.fromkeys(used) if key not in known]:
            raise InputError(
                f"{file} has {what} that {naming.NAMES} does not name: {first_few(strange)}; remove that file"
            )


def _text(name: object) -> str:
    return str(as_text(as_names([name]))[0])
