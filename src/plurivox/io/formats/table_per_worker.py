"""Read a folder with one table per worker: ann.csv, bo.csv, ..., with the same columns, a row per task, no worker column."""

import shlex
import warnings
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few
from plurivox.io.formats import doccano
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._worker_names_of_files import worker_names_of_files
from plurivox.io.tabular.column_roles import find_column
from plurivox.io.tabular.label_column_by_values import columns_with_few_values
from plurivox.io.tabular.table_file_names import READABLE_TABLE_SUFFIXES, file_suffix, table_name_of_file
from plurivox.io.tabular.table_files import Columns, read_table
from plurivox.io.tabular.usual_column_names import bare_name, has_usual_name
from plurivox.io.votes_from_tables import votes

OTHER_TABLES = frozenset(  # names of tables that are not those of a worker
    (
        *(
            "votes",
            "answers",
            "counts",
            "gold",
            "items",
            "workers",
            "features",
            "softlabels",
            "images",
            "texts",
            "labels",
        ),
        *(
            "train",
            "training",
            "test",
            "dev",
            "val",
            "valid",
            "validation",
            "metadata",
            "readme",
            "truth",
            "groundtruth",
        ),
    )
)


@dataclass(frozen=True)
class _TablesOfWorkers:
    """The rows of all tables with the column `worker`, their task column, and the columns that may be the label."""

    table: Columns
    n_workers: int
    task: str
    labels: list[str]
    is_label_named: bool  # the label column has a usual name


def recognises(folder: Path) -> bool:
    """Return whether a folder has one table per worker: the same columns, each task once in a table, and in several tables."""
    with warnings.catch_warnings(action="ignore"):  # they are issued when the folder is read
        return _tables_of_workers_or_none(folder) is not None


def read_folder(folder: Path, names: FieldNames) -> ForeignContents:
    """Return the votes in a folder with one table per worker, who is called as the file, without what all file names share.

    The label is a column with a usual name, else the only column whose few values differ between workers.
    """
    found = _tables_of_workers_or_none(folder)
    assert found is not None
    task, label = names.task or found.task, names.label or found.labels[0]
    if names.label is None and len(found.labels) > 1:
        raise InputError(
            f"{folder.name} has one table per worker, in which the columns {first_few(found.labels)} may each be the label; "
            f"select one, for example label={label!r} (--label {shlex.quote(label)})"
        )
    found.table.check_has_columns({"task": task, "label": label})
    made = votes(found.table, task=task, worker="worker", label=label, labels=names.labels, where=folder.name)
    how = "" if found.is_label_named or names.label else ", by its values; another column: label=... (--label)"
    note = (
        f"{folder.name} is read as one table per worker: {count_text(found.n_workers, 'worker')}, called as the files, "
        f"{task!r} is the task, {label!r} the label{how}"
    )
    items = _items_or_none(found.table, task, label)
    return ForeignContents(folder.resolve().name, made, items=items, notes=(note,))


def _tables_of_workers_or_none(folder: Path) -> _TablesOfWorkers | None:
    """Return the tables in a folder that has one table per worker; None for another folder."""
    files = _tables_in(folder) if folder.is_dir() and not doccano.recognises(folder) else []
    if len(files) < 2 or any(bare_name(table_name_of_file(file)) in OTHER_TABLES for file in files):
        return None
    try:
        frames = [read_table(file) for file in files]
        names = {bare_name(name): name for name in frames[0].columns}
        if any(sorted(map(bare_name, frame.columns)) != sorted(names) for frame in frames):
            return None
        if any(has_usual_name(name, "worker") for name in frames[0].columns):
            return None
        if pl.Binary in frames[0].dtypes:  # images, such as those of train and test
            return None
        workers = worker_names_of_files([file.name.removesuffix(file_suffix(file)) for file in files])
        alike = [  # the same names in the same order, whatever their case
            frame.rename({name: names[bare_name(name)] for name in frame.columns})
            .select(names.values())
            .with_columns(worker=pl.lit(worker))
            for frame, worker in zip(frames, workers, strict=True)
        ]
        is_untyped = file_suffix(files[0]) in (".csv", ".tsv")
        rows = pl.concat(alike, how="vertical_relaxed")
        table = Columns.from_frame_mapping_or_parquet(rows, folder.name, is_untyped=is_untyped)
        task = find_column(table, "task") or _first_column_if_all_different(frames)
    except (InputError, pl.exceptions.PolarsError):  # tables that cannot be read, or whose columns are ambiguous
        return None
    own = [name for name in table.names if name != "worker"]
    if task is None or not table.may_hold_names(task):
        return None
    tasks, once = table[task].drop_nulls(), rows.filter(pl.col(task).is_not_null()).select(task, "worker").is_unique()
    if not once.all() or tasks.n_unique() == len(tasks):
        return None
    named = _columns_named_label(table, task)
    labels = named or columns_with_few_values(rows, task, [name for name in own if name != task])
    return _TablesOfWorkers(table, len(files), task, labels, bool(named)) if labels else None


def _first_column_if_all_different(frames: list[pl.DataFrame]) -> str | None:
    """Return the first column if its values are all different in every table, and known; else None."""
    first = frames[0].columns[0]
    firsts = [frame[frame.columns[0]] for frame in frames if frame.width]
    different = all(one.n_unique() == len(one) and not one.null_count() for one in firsts)
    return first if different and len({bare_name(one.name) for one in firsts}) == 1 else None


def _columns_named_label(table: Columns, task: str) -> list[str]:
    """Return the column with a usual name of labels, or all of them if several fit equally well."""
    try:
        label = find_column(table, "label", [task, "worker"])
    except InputError:
        return [name for name in table.names if name not in (task, "worker") and has_usual_name(name, "label")]
    return [] if label is None else [label]


def _items_or_none(table: Columns, task: str, label: str) -> pl.DataFrame | None:
    """Return `task` and the columns with one value per task, such as a text; None if there are none."""
    extra = [name for name in table.names if name not in (task, label, "worker")]
    frame = pl.DataFrame({"task": table[task], **{name: table[name] for name in extra if name != "task"}}).drop_nulls(
        "task"
    )
    if not extra:
        return None
    values = (
        frame.group_by("task").agg(pl.exclude("task").drop_nulls().n_unique()).drop("task").max().row(0, named=True)
    )
    constant = [name for name, n in values.items() if n == 1]
    return frame.select("task", *constant).unique("task", maintain_order=True) if constant else None


def _tables_in(folder: Path) -> list[Path]:
    """Return the table files in a folder, sorted by name."""
    return sorted(file for file in folder.iterdir() if file.is_file() and file_suffix(file) in READABLE_TABLE_SUFFIXES)
