"""Splits by task name: stratified, grouped, k-fold, or fixed by a file. The order of the input never matters."""

import csv
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from plurivox.core.encoding import as_names, duplicates, encode
from plurivox.core.errors import InputError, first_few
from plurivox.core.types import Ints, Names

Shares = Mapping[str, float]  # split -> its share of the tasks
USUAL: Shares = {"train": 0.7, "dev": 0.1, "test": 0.2}


def stratified(
    tasks: Iterable[object], labels: Iterable[object] | None = None, shares: Shares = USUAL, seed: int = 0
) -> dict[str, Names]:
    """Tasks dealt out by lot, so that every split has its share of every label (without labels: of all tasks).

    >>> made = stratified(range(10), ["a"] * 6 + ["b"] * 4, {"train": .5, "test": .5})
    >>> {name: len(part) for name, part in made.items()}, int((made["test"] < 6).sum())
    ({'train': 5, 'test': 5}, 3)
    """
    names, kind = _sorted(tasks, labels)
    share = _checked(shares)
    order = np.lexsort((np.random.default_rng(seed).random(len(names)), kind))  # label by label, by lot within
    cuts = np.concatenate([[0.0], np.cumsum(list(share.values()))])  # (n_splits + 1,)
    edge = np.flatnonzero(np.diff(kind[order], prepend=-1, append=-1))  # where the tasks of each label begin and end
    dealt = np.zeros(len(cuts), np.int64)  # how many of the labels so far lie before each split
    part = np.empty(len(names), np.int64)
    for begin, end in itertools.pairwise(edge):
        due = np.floor(end * cuts + 0.5).astype(np.int64) - dealt  # rounding alone may ask for less than nothing
        before = np.maximum.accumulate(due).clip(0, end - begin)
        part[order[begin:end]] = np.repeat(np.arange(len(share)), np.diff(before))
        dealt += before
    return {name: names[part == i] for i, name in enumerate(share)}


def grouped(
    tasks: Iterable[object], groups: Iterable[object], shares: Shares = USUAL, seed: int = 0
) -> dict[str, Names]:
    """Whole groups dealt out by lot, so that twins (crops of one photo, tokens of one text) never part.

    >>> made = grouped(range(8), [0, 0, 1, 1, 2, 2, 3, 3], {"train": .5, "test": .5})
    >>> sorted(len(part) for part in made.values())
    [4, 4]
    """
    names, group = _sorted(tasks, groups)
    share = _checked(shares)
    size = np.bincount(group)
    open_for = np.array(list(share.values())) * len(names)
    part = np.empty(len(size), np.int64)
    lot = np.random.default_rng(seed).permutation(len(size))
    for one in lot[np.argsort(-size[lot], kind="stable")]:  # large ones first, while there is room
        part[one] = open_for.argmax()
        open_for[part[one]] -= size[one]
    return {name: names[part[group] == i] for i, name in enumerate(share)}


def folds(
    tasks: Iterable[object],
    k: int = 5,
    *,
    labels: Iterable[object] | None = None,
    groups: Iterable[object] | None = None,
    seed: int = 0,
) -> list[dict[str, Names]]:
    """k splits into train and test, so that every task is tested once; stratified by labels, or by whole groups.

    >>> [len(one["test"]) for one in folds(range(10), 5)]
    [2, 2, 2, 2, 2]
    """
    names = as_names(tasks, "tasks")
    if not 2 <= k <= len(names):
        raise InputError(f"{len(names)} tasks cannot be cut into {k} folds")
    even = {str(i): 1 / k for i in range(k)}
    parts = stratified(names, labels, even, seed) if groups is None else grouped(names, groups, even, seed)
    if not all(map(len, parts.values())):
        raise InputError(f"there are fewer groups than {k} folds: a fold would have nothing to test; take fewer folds")
    rest = [np.sort(np.concatenate([parts[other] for other in parts if other != one])) for one in parts]
    return [{"train": train, "test": parts[one]} for one, train in zip(parts, rest, strict=True)]


def read_split(path: str | Path) -> dict[str, Names]:
    """The split of a CSV file with the columns task and split."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            head, *rows = csv.reader(file)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, csv.Error) as cause:
        raise InputError(f"{path} is no CSV file of splits ({cause})") from None
    if not {"task", "split"} <= set(head):
        raise InputError(f"{path} lacks columns; it has {first_few(head, 6)}, a split needs task and split")
    task, split = head.index("task"), head.index("split")
    found: dict[str, list[str]] = {}
    for row in rows:
        if len(row) == len(head) and row[split]:
            found.setdefault(row[split], []).append(row[task])
    if len(twice := duplicates(as_names([one for part in found.values() for one in part]))):
        raise InputError(f"{path} puts tasks into two splits: {first_few(twice)}")
    return {name: as_names(part, "tasks") for name, part in found.items()}


def _sorted(tasks: Iterable[object], of: Iterable[object] | None) -> tuple[Names, Ints]:
    """The tasks in order, and the code of what goes with each."""
    names = as_names(tasks, "tasks")
    if len(twice := duplicates(names)):
        raise InputError(f"the list of tasks names some twice: {first_few(twice)}")
    codes = np.zeros(len(names), np.int64) if of is None else encode(of, "labels")[0].astype(np.int64)
    if len(codes) != len(names):
        raise InputError(f"there are {len(names)} tasks and {len(codes)} labels or groups for them")
    order = np.argsort(names, kind="stable")
    return names[order], codes[order]


def _checked(shares: Shares) -> dict[str, float]:
    total = sum(shares.values())
    if not shares or total <= 0 or min(shares.values()) < 0:
        raise InputError(f"shares of splits must be 0 or more, with a sum above 0; got {dict(shares)}")
    return {name: one / total for name, one in shares.items()}
