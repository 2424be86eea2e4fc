"""Read a sheet of an Excel workbook (.xlsx) as a table; needs the extra `excel`.

Cells keep their type: whole numbers, numbers, text, booleans, dates; a column that mixes them is text. Empty rows and
columns are dropped, and column names lose the spaces around them.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from plurivox.core.errors import InputError, PlurivoxWarning, first_few, require_package

ENGINE_LOG = "fastexcel"  # its messages on the types of empty columns are of no use to the caller


def read_excel_sheet(path: str | Path, sheet: str | None = None) -> pl.DataFrame:
    """Return the table in a sheet of a workbook: the one named, else the first that has a row below its column names.

    A PlurivoxWarning names the sheets with further tables if none is named. Raise InputError if the workbook is damaged or
    has no such sheet, and MissingExtra if the package that reads it is missing.
    """
    require_package("fastexcel", "reading Excel workbooks", "pip install 'plurivox[excel]'")
    names, tables = _sheet_names(path), {}
    if sheet is not None and sheet not in names:
        raise InputError(f"{path} has no sheet {sheet!r}; its sheets are {first_few(names, 12)}")
    for name in names if sheet is None else [sheet]:
        if (frame := _read_sheet(path, name)).height and frame.width:
            tables[name] = frame
    if not tables:
        raise InputError(f"{path} has no table: a sheet needs column names in its first row, and rows below them")
    first, *others = tables
    if others:
        warnings.warn(
            f"read the sheet {first!r}; {Path(path).name} also has {first_few(others)}: sheet=... (--sheet)",
            PlurivoxWarning,
            stacklevel=2,
        )
    return tables[first]


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


def _read_sheet(path: str | Path, sheet: str) -> pl.DataFrame:
    """Return the table in one sheet; an empty sheet is a table without columns."""
    import fastexcel

    try:
        with _quiet_engine():
            frame = pl.read_excel(path, sheet_name=sheet, infer_schema_length=None, raise_if_empty=False)
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as cause:
        raise InputError(f"sheet {sheet!r} of {path} cannot be read: {str(cause).splitlines()[0]}") from cause
    names = [name.strip() for name in frame.columns]
    if len(set(names)) == len(names):
        frame.columns = names
    return frame


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
