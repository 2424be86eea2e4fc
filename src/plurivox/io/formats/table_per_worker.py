"""Read a folder with one table per worker: ann.csv, bo.csv, ..., with the same columns, a row per task, no worker column."""

from pathlib import Path

import polars as pl

from plurivox.core.errors import InputError
from plurivox.io.formats import doccano
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.tabular.column_roles import bare_name, find_column
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES, file_suffix, table_name_of_file
from plurivox.io.tabular.table_files import Columns, read_table
from plurivox.io.votes_from_tables import votes
from plurivox.io.votes_table_layout import find_vote_columns

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


def recognises(folder: Path) -> bool:
    """Return whether a folder has one table per worker: the same columns, each task once in a table, and in several tables."""
    files = _tables_in(folder) if folder.is_dir() and not doccano.recognises(folder) else []
    if len(files) < 2 or any(bare_name(table_name_of_file(file)) in OTHER_TABLES for file in files):
        return False
    try:
        tables = [Columns.from_frame_mapping_or_parquet(read_table(file), file.name) for file in files]
        if any(table.names != tables[0].names for table in tables):
            return False
        task, label = find_column(tables[0], "task"), find_column(tables[0], "label")
        if (
            task is None
            or label is None
            or not tables[0].may_hold_names(task)
            or find_column(tables[0], "worker", [task, label]) is not None
        ):
            return False
    except InputError:  # tables that cannot be read, or whose columns are ambiguous, are not such a folder
        return False
    tasks = [table[task].drop_nulls().cast(pl.String) for table in tables]
    once = all(column.n_unique() == len(column) for column in tasks)
    return once and pl.concat(tasks).n_unique() < sum(map(len, tasks))


def read_folder(folder: Path, names: FieldNames) -> ForeignContents:
    """Return the votes in a folder with one table per worker, who is called as the file."""
    files = _tables_in(folder)
    frames = [read_table(file).with_columns(worker=pl.lit(table_name_of_file(file))) for file in files]
    table = Columns.from_frame_mapping_or_parquet(
        pl.concat(frames, how="vertical_relaxed"), folder.name, is_untyped=file_suffix(files[0]) in (".csv", ".tsv")
    )
    roles = find_vote_columns(table, names.task or "task", "worker", names.label or "label")
    made = votes(table, task=roles.task, worker="worker", label=roles.label, labels=names.labels, where=folder.name)
    note = (
        f"{folder.name} is read as one table per worker: {len(files)} workers, called as the files, {roles.task!r} is the "
        f"task, {roles.label!r} the label"
    )
    return ForeignContents(folder.resolve().name, made, notes=(note,))


def _tables_in(folder: Path) -> list[Path]:
    """Return the table files in a folder, sorted by name."""
    return sorted(file for file in folder.iterdir() if file.is_file() and file_suffix(file) in TABLE_SUFFIXES)
