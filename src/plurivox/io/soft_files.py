"""Soft labels in files: wide tables, long tables, hard labels, bare matrices, and the noun's own `.npz`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.atomic_write import atomic_file
from plurivox.core.base import DataType
from plurivox.core.encoding import as_names, encode, positions, sort_by_value
from plurivox.core.errors import InputError, first_few
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import SUM_TOLERANCE, Candidates
from plurivox.core.types import Floats, Ints, Names
from plurivox.io.tabular.column_values import names_of, numbers_of
from plurivox.io.tabular.file_names import suffix_of
from plurivox.io.tabular.table_files import read_table, write_table

PREFIX = "p:"
ROUNDED = 5e-3  # sums this near come from rounded numbers, and are mended with a note
NO_REST = 1e-9


def write_soft(soft: SoftLabels, path: str | Path) -> None:
    """Write soft labels, whole or not at all, in the form of the file's ending.

    A table has `task, label, confidence` and one `p:<label>` column per label, up to 64 labels; beyond that it is long:
    `task, label, p`. `.npy` is the bare (n_tasks, n_labels) matrix in task order; `.npz` keeps everything.
    """
    ending = suffix_of(path)
    if ending == ".npz":
        soft.save(path)
    elif ending == ".npy":
        prob = soft.prob
        with atomic_file(path) as part, part.open("wb") as file:
            np.save(file, prob, allow_pickle=False)
    else:
        columns = soft.columns()
        write_table(columns if "p" not in columns else _with_every_label(soft, columns), path)


def read_soft(path: str | Path) -> SoftLabels:
    """Read soft labels: what `write_soft` wrote, a wide table of a float column per label, or hard labels.

    Names keep the kind they have in the file; in CSV they are text. What was dropped or mended is in `notes`.
    """
    ending = suffix_of(path)
    if ending == ".npy":
        raise InputError(
            f"{path} holds numbers without the names of tasks and labels; "
            "load it with numpy and give the names: SoftLabels.of(prob, tasks, labels)"
        )
    if ending == ".npz":
        noun = DataType.load(path)
        if isinstance(noun, Fit):
            return noun.soft
        if isinstance(noun, SoftLabels):
            return noun
        raise InputError(f"{path} holds {type(noun).__name__}, not SoftLabels")
    return soft_of(read_table(path), path)


def soft_given(given: SoftLabels | str | Path | None) -> SoftLabels | None:
    """Soft labels, or those of the file at a path."""
    return read_soft(given) if isinstance(given, str | Path) else given


def soft_of(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    """Soft labels of a table in any of the forms of `read_soft`; `path` is for messages."""
    names = frame.columns
    if "task" not in names:
        raise InputError(
            f"{path} lacks columns ['task']; it has {first_few(names, 9)}; a table of labels has task and label, or task and a "
            "column a label: rename its columns"
        )
    if any(name.startswith(PREFIX) for name in names):
        read = _read_prefixed
    elif "label" in names:
        read = _read_long if "p" in names else _read_hard
    else:
        read = _read_bare
    try:
        return read(frame, path)
    except InputError as cause:
        raise cause if str(path) in str(cause) else InputError(f"{path}: {cause}") from None


def _with_every_label(soft: SoftLabels, columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """A long table that names every label: one that no row lists is told with the first task, at its true number."""
    listed = positions(soft.labels, encode(columns["label"])[1])
    absent = np.setdiff1d(np.arange(soft.n_labels), listed)
    if not len(soft) or not len(absent):
        return columns
    first = soft.body.block(slice(0, 1))[0]
    extra = {"task": soft.tasks[np.zeros(len(absent), int)], "label": soft.labels[absent], "p": first[absent]}
    return {name: np.concatenate([column, extra[name]]) for name, column in columns.items()}


# ---- the forms


def _read_prefixed(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    columns = [name for name in frame.columns if name.startswith(PREFIX)]
    others = [name for name in frame.columns if name not in columns and name not in ("task", "label", "confidence")]
    texts = [name.removeprefix(PREFIX) for name in columns]
    kind = frame["label"].dtype if "label" in frame.columns else pl.String()
    labels = _like(texts, kind, path)
    return _wide(frame, columns, labels, _left_out(others), path)


def _read_bare(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    """`task`, a number per label, and perhaps `n`: how many answers stand behind the row."""
    columns = [name for name in frame.columns if name != "task"]
    if not columns:
        raise InputError(f"{path} has tasks alone; soft labels need a column of numbers for each label")
    if "n" in columns and len(columns) > 2:
        rest = [name for name in columns if name != "n"]
        sums = sum(numbers_of(frame[name], path) for name in rest)
        if bool((np.abs(sums - 1) <= ROUNDED).all()):
            return _wide(frame, rest, as_names(rest), (), path, support=numbers_of(frame["n"], path))
    return _wide(frame, columns, as_names(columns), (), path)


def _wide(
    frame: pl.DataFrame,
    columns: list[str],
    labels: Names,
    notes: tuple[str, ...],
    path: str | Path,
    support: Floats | None = None,
) -> SoftLabels:
    tasks = names_of(frame["task"], path)
    prob = np.column_stack([numbers_of(frame[name], path) for name in columns])  # (n_tasks, n_labels)
    empty = np.isnan(prob).any(1)
    if empty.any():
        raise InputError(f"{path} lacks numbers for {int(empty.sum())} tasks: {first_few(tasks[empty])}")
    sums = prob.sum(1)
    scale, mended = _mend(sums)
    return SoftLabels.of(prob / scale[:, None], tasks, labels, support=support, notes=notes + mended)


def _read_long(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    """`task, label, p`, one row a label that has something; what is missing to one goes to the labels not listed."""
    task, tasks = _coded_as_seen(names_of(frame["task"], path))
    told = (frame["label"].is_not_null() & frame["p"].is_not_null()).to_numpy()
    full = frame.filter(pl.Series(told))
    codes, found = encode(names_of(full["label"], path), "labels")
    labels = sort_by_value(found)
    label = positions(labels, found)[codes] if len(codes) else codes
    row, mass = task[told], numbers_of(full["p"], path)
    order = np.lexsort((label, row))
    row, label, mass = row[order], label[order], mass[order]
    same = (row[1:] == row[:-1]) & (label[1:] == label[:-1])
    if same.any():
        raise InputError(f"{path} gives a label of a task twice; look at the tasks {first_few(tasks[row[1:][same]])}")
    start = np.searchsorted(row, np.arange(len(tasks) + 1))
    sums = np.bincount(row, mass, minlength=len(tasks))
    whole = (np.diff(start) == len(labels)) | (sums > 1)  # rows with no room for a rest
    scale, mended = _mend(np.where(whole, sums, 1.0))
    rest = np.where(whole | (1 - sums <= NO_REST), 0.0, 1 - sums)
    body = Candidates(start, label, mass / scale[row], rest, len(labels))
    dropped = len(told) - int(told.sum())
    notes = (f"{dropped} rows without a label or a number were dropped",) if dropped else ()
    others = [name for name in frame.columns if name not in ("task", "label", "p")]
    return SoftLabels(body, tasks, labels, notes=notes + mended + _left_out(others))


def _read_hard(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    """`task, label`: all mass on one label; tasks without a label are dropped and counted."""
    told = frame.filter(frame["label"].is_not_null())
    tasks = names_of(told["task"], path)
    codes, found = encode(names_of(told["label"], path), "labels")
    labels = sort_by_value(found)
    place = positions(labels, found)[codes] if len(codes) else codes
    dropped = frame.height - told.height
    notes = (f"{dropped} tasks without a label were dropped",) if dropped else ()
    others = [name for name in frame.columns if name not in ("task", "label")]
    return SoftLabels.one_hot(place, tasks, labels, notes=notes + _left_out(others))


# ---- pieces


def _mend(sums: Floats) -> tuple[Floats, tuple[str, ...]]:
    """What to divide rows by, so that rounded numbers sum to one again; and a note on how many there were."""
    off = np.abs(sums - 1)
    rounded = (off > SUM_TOLERANCE) & (off <= ROUNDED)
    note = (f"{int(rounded.sum())} rows of rounded numbers were divided by their sum",) if rounded.any() else ()
    return np.where(rounded, sums, 1.0), note


def _like(texts: list[str], kind: pl.DataType, path: str | Path) -> Names:
    """Label names from column names, in the kind of the label column."""
    try:
        if kind.is_integer():
            return as_names(np.array([int(text) for text in texts], np.int64), "labels")
        if kind.is_float():
            return as_names([float(text) for text in texts], "labels")
    except (ValueError, OverflowError):
        raise InputError(
            f"{path} has numbers in column 'label' but other labels in its {PREFIX} columns: {first_few(texts)}"
        ) from None
    if kind == pl.Boolean and {text.lower() for text in texts} <= {"true", "false"}:
        return as_names([text.lower() == "true" for text in texts], "labels")
    return as_names(texts, "labels")


def _coded_as_seen(values: Names) -> tuple[Ints, Names]:
    """Codes and names in the order in which the names first occur."""
    codes, names = encode(values)
    _, first = np.unique(codes, return_index=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return (rank[codes] if len(codes) else codes), names[order]


def _left_out(columns: Iterable[str]) -> tuple[str, ...]:
    named = list(columns)
    return (f"columns not read: {first_few(named)}",) if named else ()
