"""Table, Tables: what a recipe tells, for the eye, for a spreadsheet and for a paper."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.atomic_write import atomic_folder
from plurivox.core.base import DataType
from plurivox.core.errors import InputError, first_few
from plurivox.core.types import TEXT, readonly_copy

MOST = 60  # rows of a table on a terminal: the longest that a paper asks for, that of CIFAR-10S, is shown whole
WRITTEN = re.compile(r"tables\.(md|tex|npz)|table-\d+\.csv")  # what `Tables.write` writes
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)


@dataclass(frozen=True, eq=False, repr=False)
class Table(DataType):
    """Named columns of one length, with a title and notes.

    >>> table = Table("Figures", {"method": ["vote-shares", "glad"], "accuracy": [0.76, np.nan]}, digits=3)
    >>> print(table.text())
    Figures
    method       accuracy
    vote-shares     0.760
    glad                -
    """

    title: str
    cells: Mapping[str, Any]  # name -> (n_rows,) array; lists are taken too, and kept as arrays
    notes: tuple[str, ...] = ()
    digits: int = 4  # of numbers that are not whole

    def __post_init__(self) -> None:
        columns = {str(name): readonly_copy(_column(column)) for name, column in self.cells.items()}
        if len({len(column) for column in columns.values()}) > 1:
            sizes = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
            raise InputError(f"the columns of the table {self.title!r} differ in length: {sizes}")
        object.__setattr__(self, "cells", columns)

    @classmethod
    def of_rows(cls, title: str, rows: Sequence[Mapping[str, Any]], notes: tuple[str, ...] = ()) -> Self:
        """A table of rows that all name the same columns; without a row it has no column.

        >>> Table.of_rows("Two", [{"n": 1, "word": "one"}, {"n": 2, "word": "two"}]).columns()["n"].tolist()
        [1, 2]
        """
        return cls(title, {name: [row[name] for row in rows] for name in rows[0]} if rows else {}, notes)

    def columns(self) -> dict[str, NDArray[Any]]:
        return dict(self.cells)

    def info(self) -> dict[str, object]:
        return {"title": self.title, "columns": len(self.cells), "rows": len(self)}

    def __len__(self) -> int:
        return len(next(iter(self.cells.values()), ()))

    # ---- written out

    def text(self) -> str:
        """Aligned columns for a terminal."""
        heads, rows = self._words()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        left = [not _is_number(column) for column in self.cells.values()]
        lines = [
            "  ".join(
                cell.ljust(width) if flush else cell.rjust(width)
                for cell, width, flush in zip(row, widths, left, strict=True)
            ).rstrip()
            for row in (heads, *rows)
        ]
        return "\n".join([self.title, *lines, *self.notes])

    def markdown(self) -> str:
        """A table as Markdown knows it."""
        heads, rows = self._words()
        rule = ["---:" if _is_number(column) else "---" for column in self.cells.values()]
        lines = [heads, rule, *([cell.replace("|", r"\|") for cell in row] for row in rows)]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return "\n\n".join([f"## {self.title}", body, *self.notes]) + "\n"

    def latex(self) -> str:
        """A table with booktabs rules."""
        heads, rows = self._words()
        places = "".join("r" if _is_number(column) else "l" for column in self.cells.values())
        lines = [" & ".join(cell.translate(LATEX) for cell in row) + r" \\" for row in (heads, *rows)]
        top = [
            rf"\begin{{table}}\caption{{{self.title.translate(LATEX)}}}",
            rf"\begin{{tabular}}{{{places}}}",
            r"\toprule",
        ]
        end = [r"\bottomrule", r"\end{tabular}", *(note.translate(LATEX) for note in self.notes), r"\end{table}"]
        return "\n".join([*top, lines[0], r"\midrule", *lines[1:], *end]) + "\n"

    def csv(self) -> str:
        """Comma separated, numbers in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.cells)
        writer.writerows(zip(*(column.tolist() for column in self.cells.values()), strict=True))
        return text.getvalue()

    def _words(self) -> tuple[list[str], list[list[str]]]:
        shown = [[_word(cell, self.digits) for cell in column.tolist()] for column in self.cells.values()]
        return list(self.cells), [list(row) for row in zip(*shown, strict=True)]


@dataclass(frozen=True, eq=False, repr=False)
class Tables(DataType):
    """What a recipe found: tables under one title, and how they were made."""

    title: str
    tables: tuple[Table, ...]
    made_by: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, title: str) -> Table:
        """The table whose title begins so."""
        for one in self.tables:
            if one.title.startswith(title):
                return one
        raise KeyError(f"{title!r}; there are {[one.title for one in self.tables]}")

    def text(self) -> str:
        """All tables for a terminal; of long ones the first rows."""
        return "\n\n".join([self.title, *(_shortened(one.text(), len(one)) for one in self.tables), *self.notes])

    def markdown(self) -> str:
        """All tables as one page."""
        return "\n".join(
            [f"# {self.title}\n", *(one.markdown() for one in self.tables), *self.notes, f"`{self.made_by}`\n"]
        )

    def latex(self) -> str:
        """All tables for a paper."""
        return "\n".join(one.latex() for one in self.tables)

    def write(self, folder: str | Path, *, replace: bool = False) -> None:
        """Write each table as CSV, all of them as Markdown, LaTeX and one .npz: a whole folder, or none."""
        check_folder(Path(folder), replace=replace)
        texts = {"tables.md": self.markdown(), "tables.tex": self.latex()}
        texts |= {f"table-{i}.csv": one.csv() for i, one in enumerate(self.tables, start=1)}
        with atomic_folder(folder, replace=replace) as part:
            for name, text in texts.items():
                (part / name).write_text(text, encoding="utf-8")
            self.save(part / "tables.npz")

    def info(self) -> dict[str, object]:
        return {"title": self.title, "tables": len(self.tables), "by": self.made_by}

    def columns(self) -> dict[str, NDArray[Any]]:
        """table and rows: what is inside; the tables themselves are in `tables`."""
        return {
            "table": np.array([one.title for one in self.tables], TEXT),
            "rows": np.array([len(one) for one in self.tables]),
        }


def check_folder(folder: Path, *, replace: bool) -> None:
    """Refuse a folder that is not empty; with `replace`, one that holds more than tables that `Tables.write` wrote."""
    held = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    if held and not replace:
        raise InputError(f"{folder} is there and not empty; name another folder, or say --force")
    if strangers := [name for name in held if not WRITTEN.fullmatch(name)]:
        raise InputError(
            f"{folder} is not replaced: {first_few(strangers)} would be lost, which no recipe wrote; name another folder"
        )


def _shortened(text: str, n_rows: int) -> str:
    """The text of a table without its last rows, where there are many; title, head and notes stay."""
    if n_rows <= MOST:
        return text
    lines = text.split("\n")
    more = f"... {n_rows - MOST // 2:,} more rows; files hold all of them"
    return "\n".join([*lines[: MOST // 2 + 2], more, *lines[n_rows + 2 :]])


def _column(column: Any) -> NDArray[Any]:
    """A column as an array; words as text, and numbers mixed with None as numbers with nan."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column
    values = list(column)
    if all(isinstance(one, bool | np.bool_) for one in values) or not values:
        return np.array(values, bool if values else np.float64)
    if all(one is None or isinstance(one, int | float | np.number) for one in values):
        return np.array([np.nan if one is None else one for one in values])
    return np.array(["" if one is None else str(one) for one in values], TEXT)


def _is_number(column: NDArray[Any]) -> bool:
    return column.dtype != TEXT and column.dtype.kind in "iuf"


def _word(cell: object, digits: int) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}" if np.isfinite(cell) else "-"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
