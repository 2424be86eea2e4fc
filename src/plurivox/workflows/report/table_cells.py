"""Cells of the tables of a report as text: numbers with thousands separators, percentages, and what rows are sorted by."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real

from plurivox.workflows.report.page_content import Cell, Column, Table

NOTHING = "-"
LONG_TEXT = 26  # characters; a column of longer texts is wide, and its cells have several lines


@dataclass(frozen=True)
class ShownCell:
    """A cell as text; `sort_key` is the number behind it in the same unit, empty if the text says it exactly."""

    text: str
    numeric: bool = False
    sort_key: str = ""
    missing: bool = False


def shown_cell(value: Cell, column: Column) -> ShownCell:
    """Return a cell as text, by the kind of its column; None and NaN are missing values, and no flag.

    >>> shown_cell(1234.5, Column("seconds", "number")).text, shown_cell(0.756, Column("share", "percent")).text
    ('1,234.50', '76%')
    >>> shown_cell(12345, Column("votes", "number")).text, shown_cell(None, Column("votes", "number")).text
    ('12,345', '-')
    """
    of_numbers = column.kind in ("number", "percent")
    if value is None or (isinstance(value, Real) and math.isnan(value)):
        return ShownCell("" if column.kind == "flag" else NOTHING, of_numbers, missing=True)
    if isinstance(value, bool):
        return ShownCell("yes" if value else "no")
    if isinstance(value, Real) and of_numbers:
        if math.isinf(value):
            return ShownCell("∞" if value > 0 else "−∞", True, "Infinity" if value > 0 else "-Infinity")
        if column.kind == "percent":
            return _shown_number(percent_text(float(value), column.digits or 0), 100 * float(value))
        return _shown_number(_number_text(value, column), float(value))
    return ShownCell(str(value), missing=not str(value).strip())


def shown_rows(table: Table) -> list[list[ShownCell]]:
    """Return the cells of a table's rows as text."""
    return [[shown_cell(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]


def column_layouts(columns: Sequence[Column], rows: Sequence[Sequence[ShownCell]]) -> dict[str, str]:
    """Return the positions of columns, from 1, by how they are laid out: numbers, short texts, or long texts.

    >>> columns = Column("worker"), Column("votes", "number"), Column("why")
    >>> column_layouts(columns, [[ShownCell("ann"), ShownCell("12", True), ShownCell("agrees with nobody " * 3)]])
    {'num': '2', 'short': '1', 'long': '3'}
    """
    found: dict[str, list[str]] = {"num": [], "short": [], "long": []}
    for at, column in enumerate(columns):
        is_long = any(len(row[at].text) > LONG_TEXT for row in rows)
        layout = "long" if is_long else "num" if column.kind in ("number", "percent") else "short"
        found[layout].append(str(at + 1))
    return {layout: " ".join(positions) for layout, positions in found.items()}


def percent_text(share: float, digits: int = 0) -> str:
    """Return a share as a percentage, "-" for NaN; one that would be rounded to 0% or 100% is shown as below or above it.

    >>> percent_text(0.756), percent_text(0.0001), percent_text(0.9999, 1), percent_text(1.0), percent_text(float("nan"))
    ('76%', '<1%', '>99.9%', '100%', '-')
    """
    if math.isnan(share):
        return NOTHING
    text = f"{100 * share:z,.{digits}f}%"
    least = 10.0**-digits
    if share > 0 and text == f"{0:.{digits}f}%":
        return f"<{least:.{digits}f}%"
    if share < 1 and text == f"{100:.{digits}f}%":
        return f">{100 - least:.{digits}f}%"
    return text.replace("-", "−")


def _number_text(value: Real, column: Column) -> str:
    """Return a finite number with thousands separators and the decimals of its column; an integer has none."""
    if isinstance(value, Integral):
        return f"{int(value):,}".replace("-", "−")
    digits = 2 if column.digits is None else column.digits
    return f"{float(value):z,.{digits}f}".replace("-", "−")


def _shown_number(text: str, value: float) -> ShownCell:
    """Return the cell of a number; without a sort key, which takes space in the page, if the text says the number exactly."""
    if text[0] in "<>":
        return ShownCell(text, True, repr(value))  # all digits: it differs from the number in the text
    digits = text.replace(",", "").replace("−", "-").removesuffix("%")
    return ShownCell(text, True, "" if float(digits) == value else f"{value:.6g}")
