"""Splits of tasks into train, dev and test: stratified, grouped, k-fold, or from a file. Input order does not matter."""

import csv
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from plurivox.core.array_types import Ints, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, duplicates, encode, sorted_names

Shares = Mapping[str, float]  # split -> its share of the tasks
DEFAULT_SHARES: Shares = {"train": 0.7, "dev": 0.1, "test": 0.2}


def stratified(
    tasks: Iterable[object], labels: Iterable[object] | None = None, shares: Shares = DEFAULT_SHARES, seed: int = 0
) -> dict[str, Names]:
    """Split tasks at random so that every split has its share of every label (without labels: of all tasks).

    >>> made = stratified(range(10), ["a"] * 6 + ["b"] * 4, {"train": .5, "test": .5})
    >>> {name: len(tasks) for name, tasks in made.items()}, int((made["test"] < 6).sum())
    ({'train': 5, 'test': 5}, 3)
    """
    names, label = _sorted_tasks_and_codes_or_zeros(tasks, labels)
    share = _normalise_shares(shares)
    order = np.lexsort((np.random.default_rng(seed).random(len(names)), label))  # by label, random within
    cuts = np.concatenate([[0.0], np.cumsum(list(share.values()))])  # (n_splits + 1,)
    edge = np.flatnonzero(np.diff(label[order], prepend=-1, append=-1))  # bounds of the tasks of each label
    assigned = np.zeros(len(cuts), np.int64)  # tasks so far in the splits before each cut
    split = np.empty(len(names), np.int64)
    for begin, end in itertools.pairwise(edge):
        due = np.floor(end * cuts + 0.5).astype(np.int64) - assigned  # may be negative by rounding
        before = np.maximum.accumulate(due).clip(0, end - begin)
        split[order[begin:end]] = np.repeat(np.arange(len(share)), np.diff(before))
        assigned += before
    return {name: names[split == i] for i, name in enumerate(share)}


def grouped(
    tasks: Iterable[object], groups: Iterable[object], shares: Shares = DEFAULT_SHARES, seed: int = 0
) -> dict[str, Names]:
    """Split tasks at random by whole groups, so that related tasks (crops of a photo, tokens of a text) stay together.

    >>> made = grouped(range(8), [0, 0, 1, 1, 2, 2, 3, 3], {"train": .5, "test": .5})
    >>> sorted(len(tasks) for tasks in made.values())
    [4, 4]
    """
    names, group = _sorted_tasks_and_codes_or_zeros(tasks, groups)
    share = _normalise_shares(shares)
    size = np.bincount(group)
    missing = np.array(list(share.values())) * len(names)  # (n_splits,) tasks still to be assigned
    split = np.empty(len(size), np.int64)  # (n_groups,)
    order = np.random.default_rng(seed).permutation(len(size))
    for one in order[np.argsort(-size[order], kind="stable")]:  # large groups first
        split[one] = missing.argmax()
        missing[split[one]] -= size[one]
    return {name: names[split[group] == i] for i, name in enumerate(share)}


def folds(
    tasks: Iterable[object],
    k: int = 5,
    *,
    labels: Iterable[object] | None = None,
    groups: Iterable[object] | None = None,
    seed: int = 0,
) -> list[dict[str, Names]]:
    """Return k splits into train and test for cross-validation, stratified by labels or by whole groups.

    Every task is in the test split of exactly one of them.

    >>> [len(one["test"]) for one in folds(range(10), 5)]
    [2, 2, 2, 2, 2]
    """
    names = as_names(tasks, "tasks")
    if not 2 <= k <= len(names):
        raise InputError(f"{len(names)} tasks cannot be split into {k} folds")
    shares = {str(i): 1 / k for i in range(k)}
    tests = stratified(names, labels, shares, seed) if groups is None else grouped(names, groups, shares, seed)
    if not all(map(len, tests.values())):
        raise InputError(f"there are fewer groups than {k} folds: a fold would have no test tasks; use fewer folds")
    trains = [sorted_names(np.concatenate([tests[other] for other in tests if other != one])) for one in tests]
    return [{"train": train, "test": test} for train, test in zip(trains, tests.values(), strict=True)]


def read_split(path: str | Path) -> dict[str, Names]:
    """Read the tasks of each split from a CSV file with the columns task and split; InputError if it is not one."""
    header, rows = _read_csv_header_and_rows(path, "splits")
    if not {"task", "split"} <= set(header):
        raise InputError(f"{path} needs the columns task and split; it has {first_few(header, 6)}")
    task, split = header.index("task"), header.index("split")
    found: dict[str, list[str]] = {}
    for row in rows:
        if row[split]:
            found.setdefault(row[split], []).append(row[task])
    if len(twice := duplicates(as_names([one for listed in found.values() for one in listed]))):
        raise InputError(f"{path} puts tasks into two splits: {first_few(twice)}")
    return {name: as_names(listed, "tasks") for name, listed in found.items()}


def read_task_list(path: str | Path) -> Names:
    """Read a list of tasks from a CSV file with the column task; InputError if it is not one."""
    header, rows = _read_csv_header_and_rows(path, "tasks")
    if "task" not in header:
        raise InputError(f"{path} needs the column task; it has {first_few(header, 6)}")
    task = header.index("task")
    return as_names([row[task] for row in rows if row[task]], "tasks")


def _read_csv_header_and_rows(path: str | Path, contents: str) -> tuple[list[str], list[list[str]]]:
    """Return (header, rows) of a CSV file; InputError, which names the `contents`, if there is none or it cannot be read."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            header, *rows = csv.reader(file)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, csv.Error) as cause:
        raise InputError(f"{path} is not a CSV file of {contents} ({cause})") from None
    for line, row in enumerate(rows, start=2):
        if row and len(row) != len(header):
            raise InputError(f"{path}, line {line} has {len(row)} cells; the header has {len(header)}")
    return header, [row for row in rows if row]


def _sorted_tasks_and_codes_or_zeros(
    tasks: Iterable[object], labels_or_groups: Iterable[object] | None
) -> tuple[Names, Ints]:
    """Return the tasks sorted, and the integer code of the label or group of each (0 if None); InputError for duplicates."""
    names = as_names(tasks, "tasks")
    if len(twice := duplicates(names)):
        raise InputError(f"the list of tasks has duplicates: {first_few(twice)}")
    codes = (
        np.zeros(len(names), np.int64)
        if labels_or_groups is None
        else encode(labels_or_groups, "labels")[0].astype(np.int64)
    )
    if len(codes) != len(names):
        raise InputError(f"there are {len(names)} tasks but {len(codes)} labels or groups; give one per task")
    order = np.argsort(names, kind="stable")
    return names[order], codes[order]


def _normalise_shares(shares: Shares) -> dict[str, float]:
    """Return the shares of the splits divided by their sum; InputError if one is negative or all are 0."""
    total = sum(shares.values())
    if not shares or total <= 0 or min(shares.values()) < 0:
        raise InputError(f"shares of splits must be 0 or more, with a sum above 0; got {dict(shares)}")
    return {name: one / total for name, one in shares.items()}
