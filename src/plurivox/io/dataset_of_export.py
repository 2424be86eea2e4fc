"""Make a Dataset of what another program wrote: find the reader of a table or of records, and apply the reading options."""

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from plurivox.core.errors import InputError
from plurivox.core.votes import Votes
from plurivox.io import votes_from_tables
from plurivox.io.dataset import Dataset
from plurivox.io.formats import (
    FieldNames,
    ForeignContents,
    find_reader_module_of_records,
    read_table_of_export_or_none,
)
from plurivox.io.tabular.table_files import Columns

OPTIONS_OF_EXPORTS = {"task", "worker", "label", "missing", "repeats", "labels", "ordered"}  # that the readers know


def dataset_of_export_or_none(table: Columns, path: Path | None, options: dict[str, Any]) -> Dataset | None:
    """Return the data set in a table that another program wrote; None if it is plain or the caller says how to read it."""
    if caller_says_wide_or_long(options):
        return None
    contents = read_table_of_export_or_none(table, field_names(options))
    return None if contents is None else dataset_of_foreign_contents(contents, path, options)


def votes_of_export_or_none(data: Any, where: str, **how: Any) -> Votes | None:
    """Return the votes in a frame, or list of records, that another program wrote; None for any other table.

    `how` are the options of `votes`. None is returned as well if they describe a plain table: by all three columns, or by an
    option that exports do not have.
    """
    defaults = {"task": "task", "worker": "worker", "label": "label", "repeats": "keep"} | {
        name: name for name in ("weight", "when", "seconds")
    }
    given = {
        name: one
        for name, one in how.items()
        if one is not None and not (name in defaults and _is_text(one, defaults[name]))
    }
    named = [role for role in ("task", "worker", "label") if role in given or how[role] is None]
    if not set(given) <= OPTIONS_OF_EXPORTS or len(named) == 3 or not all(_is_text(given.get(role)) for role in named):
        return None
    if isinstance(data, list) and (reader := find_reader_module_of_records(data)) is not None:
        contents = reader.read_records(data, Path(where), field_names(given))
        return dataset_of_foreign_contents(contents, None, given).votes
    try:
        table = Columns.from_frame_mapping_or_parquet(data, where)
    except InputError:
        return None  # the error is raised where the table is read
    if {"task", "worker", "label"} <= set(table.names):
        return None
    found = dataset_of_export_or_none(table, None, given)
    return None if found is None else found.votes


def _is_text(value: Any, text: str | None = None) -> bool:
    """Return whether a value is text, this text if it is given."""
    return isinstance(value, str) and text in (None, value)


def dataset_of_foreign_contents(found: ForeignContents, path: Path | None, options: dict[str, Any]) -> Dataset:
    """Return the data set read by another format's reader, after applying the options `missing`, `repeats` and `ordered`."""
    votes_from_tables.warn_notes(found.notes)
    votes = found.votes
    if votes is not None:
        rules: dict[str, Any] = {key: options[key] for key in ("missing", "repeats", "ordered") if key in options}
        rules |= {"tasks": votes.tasks, "workers": votes.workers} | (
            {} if "missing" in options else {"labels": votes.labels}
        )
        rules.setdefault("repeats", found.repeats)
        rules.setdefault("ordered", False if votes.scale is None else votes.scale.tolist())
        rules |= {"worker": "worker" if votes.n_workers else None, "answer": None if votes.answer is None else "answer"}
        where = found.name if path is None else path.name
        votes = votes_from_tables.votes(votes.columns(), where=where, **rules)
    parts: dict[str, Any] = {
        "gold": found.gold,
        "images": found.images,
        "items": _items_with_splits(found),
        "workers": found.workers,
    }
    tables = {name: partial(_the_table, table) for name, table in (found.tables or {}).items()}
    return Dataset(found.name, path=path, tables=tables, votes=votes, **parts)


def caller_says_wide_or_long(options: dict[str, Any]) -> bool:
    """Return whether the options say how the rows of a plain table are read, so that it is not an export of another program."""
    return options.get("wide") is not None or votes_from_tables.is_wide(None, options.get("worker"))


def field_names(options: dict[str, Any]) -> FieldNames:
    """Return the reading options that name fields of a file; a list of worker columns names none."""
    named = {role: options[role] for role in ("task", "worker", "label") if isinstance(options.get(role), str)}
    return FieldNames(**named, labels=tuple(options["labels"]) if "labels" in options else None)


def _the_table(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table that is read already, where a function that reads it is needed."""
    return table


def _items_with_splits(contents: ForeignContents) -> pl.DataFrame | None:
    """Return the items table of a data set of another program, with a column `split` if the splits are known."""
    if contents.splits is None:
        return contents.items
    splits = pl.DataFrame({"task": list(contents.splits), "split": list(contents.splits.values())})
    return (
        splits if contents.items is None else contents.items.join(splits, on="task", how="left", maintain_order="left")
    )
