"""The optional columns of a table of votes: weight, answer (the number of a soft answer), when and seconds."""

from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.errors import InputError
from plurivox.io.tabular.column_conversion import (
    codes_names_and_notes_of_column,
    to_floats_or_error_if_missing,
    to_seconds,
)
from plurivox.io.tabular.column_roles import find_column
from plurivox.io.tabular.table_files import Columns
from plurivox.io.votes_table_layout import VotesLayout

OPTIONAL_COLUMNS = ("weight", "answer", "when", "seconds")


def read_optional_columns(
    columns_by_role: dict[str, Any], layout: VotesLayout, *, has_table: bool
) -> tuple[dict[str, Any], list[str]]:
    """Return ({role: array} of the optional columns that a table of votes has, notes).

    Raise InputError if a column that the caller named is missing. Times are found by other usual names, too (`timestamp`,
    `lead_time`, ...), if all their values are times.
    """
    names = _names_of_optional_columns(columns_by_role, layout, has_table=has_table)
    table, found, notes = layout.table, {}, []
    weight, answer, when, seconds = (names[role] if names[role] in table else None for role in OPTIONAL_COLUMNS)
    if weight is not None:
        found["weight"] = to_floats_or_error_if_missing(table[weight], f"column {weight!r}")
    if answer is not None:
        found["answer"] = codes_names_and_notes_of_column(table[answer], "answer")[0].astype(np.int64)
    elif (
        names["answer"] is None
        and "answer" not in (layout.task, layout.worker, layout.label)
        and has_answer_numbers(table)
    ):
        notes.append("column 'answer' is not read; if its numbers say which rows are one soft answer: answer='answer'")
    if when is not None:
        found["when"] = to_seconds(table[when], f"column {when!r}")
    if seconds is not None:
        found["seconds"] = to_seconds(table[seconds], f"column {seconds!r}").astype(np.float32)
    elif names["seconds"] == "seconds" and "rt_ms" in table:
        milliseconds = to_floats_or_error_if_missing(table["rt_ms"].fill_null(np.nan), "rt_ms")
        found["seconds"] = (milliseconds / 1000).astype(np.float32)
    for role in ("when", "seconds"):
        if (
            role not in found
            and names[role] == role
            and (times := _times_by_usual_name(table, role, layout)) is not None
        ):
            found[role] = times[1].astype(np.float32 if role == "seconds" else np.float64)
            notes.append(
                f"read {times[0]!r} as {role} (the time {'of' if role == 'when' else 'taken for'} each answer)"
            )
    return found, notes


def has_answer_numbers(table: Columns) -> bool:
    """Return whether a table has a column `answer` of whole numbers."""
    if "answer" not in table:
        return False
    column = table["answer"]
    return not column.dtype.is_nested() and column.cast(pl.Int64, strict=False).null_count() == 0


def _names_of_optional_columns(
    columns_by_role: dict[str, Any], layout: VotesLayout, *, has_table: bool
) -> dict[str, str | None]:
    """Return {role: column name}; raise InputError if a column named is missing.

    A column that is the task, worker or label is read only once. A column `answer` without weights is not an answer number,
    unless it is named.
    """
    table, own = layout.table, (layout.task, layout.worker, layout.label)
    found: dict[str, str | None] = {}
    for role, column in columns_by_role.items():
        if has_table and not isinstance(column, str | None):
            raise InputError(
                f"{role} must be the name of a column; got {type(column).__name__}: add it to the table as a column"
            )
        if isinstance(column, str) and column != role and column not in table:
            raise InputError(f"missing column {column!r} ({role}) in {table.where}; its columns are {table.names}")
        name = column if isinstance(column, str | None) else role
        if name is None and role == "answer" and "weight" in table:
            name = "answer"
        found[role] = None if has_table and name == role and name in own else name
    return found


def _times_by_usual_name(table: Columns, role: str, layout: VotesLayout) -> tuple[str, np.ndarray] | None:
    """Return (column, times in seconds) of a column with a usual name of this role; None if it has none, or not only times."""
    own = [layout.task, layout.worker or "", layout.label]
    with suppress(InputError):  # several such columns, or one that contains other values: neither is read
        column = find_column(table, role, own)
        return None if column is None else (column, to_seconds(table[column], f"column {column!r}"))
    return None
