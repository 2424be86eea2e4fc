"""Read a sheet of an Excel workbook (.xlsx) as a table; needs the extra `excel`.

Cells keep their type: whole numbers, numbers, text, booleans, dates; a column that mixes them is text. Empty rows and
columns are dropped, and column names lose the spaces around them. Rows above the column names with nothing but a title or a
date in the first column are skipped. The same word with other capitals or blanks is read as one value.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few, require_package, warn_user
from plurivox.io.tabular.spellings import with_one_spelling_per_value

ENGINE_LOG = "fastexcel"  # its messages on the types of empty columns are of no use to the caller
MAX_ROWS_ABOVE_TABLE = 50  # empty rows and titles; the column names are searched in so many rows
UNNAMED_COLUMN = re.compile(r"__UNNAMED__(\d+)")  # what the engine calls a column without a name


def read_excel_sheet(path: str | Path, sheet: str | None = None) -> pl.DataFrame:
    """Return the table in a sheet of a workbook: the one named, else the first that has a row below its column names.

    A PlurivoxWarning names the sheets with further tables if none is named. Raise InputError if the workbook is damaged or
    has no such sheet, and MissingExtra if the package that reads it is missing.
    """
    require_package("fastexcel", "reading Excel workbooks", "pip install 'plurivox[excel]'")
    names, tables, titles = _sheet_names(path), {}, {}
    if sheet is not None and sheet not in names:
        raise InputError(f"{path} has no sheet {sheet!r}; its sheets are {first_few(names, 12)}")
    for name in names if sheet is None else [sheet]:
        frame, title = _read_sheet(path, name)
        if frame.height and frame.width:
            tables[name], titles[name] = frame, title
    if not tables:
        raise InputError(f"{path} has no table: a sheet needs column names in its first row, and rows below them")
    first, *others = tables
    if others:
        warn_user(f"read the sheet {first!r}; {Path(path).name} also has {first_few(others)}: sheet=... (--sheet)")
    if titles[first]:
        rows = count_text(len(titles[first]), "row")
        warn_user(
            f"sheet {first!r} of {Path(path).name}: {rows} above the column names skipped, such as {titles[first][0]!r}"
        )
    table, notes = with_one_spelling_per_value(tables[first])
    for note in notes:
        warn_user(f"{Path(path).name}: {note}")
    return table


def _sheet_names(path: str | Path) -> list[str]:
    """Return the names of the sheets of a workbook; raise InputError if it cannot be opened."""
    import fastexcel

    try:
        return fastexcel.read_excel(path).sheet_names
    except fastexcel.FastExcelError as cause:
        reason = str(cause).splitlines()[0]
        raise InputError(
            f"{path} cannot be read as an Excel workbook ({reason}); it may be damaged or protected by a password"
        ) from cause


def _read_sheet(path: str | Path, sheet: str) -> tuple[pl.DataFrame, list[str]]:
    """Return (table, titles above its column names) of one sheet; an empty sheet is a table without columns."""
    import fastexcel

    try:
        with _quiet_engine():
            row, titles = _row_of_column_names(path, sheet)
            frame = pl.read_excel(
                path,
                sheet_name=sheet,
                infer_schema_length=None,
                raise_if_empty=False,
                read_options={"header_row": row} if titles else None,
            )
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as cause:
        raise InputError(f"sheet {sheet!r} of {path} cannot be read: {str(cause).splitlines()[0]}") from cause
    names = [_column_name(name) for name in frame.columns]
    if len(set(names)) == len(names):
        frame.columns = names
    return frame, titles


def _row_of_column_names(path: str | Path, sheet: str) -> tuple[int, list[str]]:
    """Return (number of the row with the column names, titles above it) of a sheet.

    A title is the only value of its row, in the first column that is used, above a row with several values.
    """
    import fastexcel

    opened = fastexcel.read_excel(path)
    first = opened.load_sheet(sheet, header_row=None, skip_rows=0, n_rows=MAX_ROWS_ABOVE_TABLE, dtypes="string")
    rows = [[place for place, value in enumerate(row) if value not in (None, "")] for row in first.to_polars().rows()]
    leftmost = min((places[0] for places in rows if places), default=0)
    header = next((row for row, places in enumerate(rows) if places and places != [leftmost]), 0)
    values = first.to_polars().rows()
    return header, [str(values[row][leftmost]).strip() for row in range(header) if rows[row]]


def _column_name(name: str) -> str:
    """Return a column name without spaces around it; columns without a name are called as in CSV.

    >>> _column_name(" label "), _column_name("__UNNAMED__0"), _column_name("__UNNAMED__2")
    ('label', '', 'Unnamed: 2')
    """
    if (unnamed := UNNAMED_COLUMN.fullmatch(name)) is None:
        return name.strip()
    return "" if unnamed[1] == "0" else f"Unnamed: {unnamed[1]}"


@contextmanager
def _quiet_engine() -> Iterator[None]:
    """Silence the log messages of the package that reads workbooks."""
    log = logging.getLogger(ENGINE_LOG)
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
