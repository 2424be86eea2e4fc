"""Table, Tables: result tables of recipes, formatted as text, Markdown, LaTeX and CSV."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import TEXT, as_readonly_array
from plurivox.core.atomic_write import atomic_folder
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few

MAX_TERMINAL_ROWS = 60  # of a table on a terminal; enough for the longest table of a paper (CIFAR-10S)
# names of files that `Tables.write_tables_to_folder` creates
TABLE_FILES = re.compile(r"tables\.(md|tex|npz)|table-\d+\.csv")
LATEX_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)


@dataclass(frozen=True, eq=False, repr=False)
class Table(DataType):
    """Result table: columns of equal length by name, with a title and notes.

    >>> table = Table("Figures", {"method": ["vote-shares", "glad"], "accuracy": [0.76, np.nan]}, digits=3)
    >>> print(table.text())
    Figures
    method       accuracy
    vote-shares     0.760
    glad                -
    """

    title: str
    cells: Mapping[str, Any]  # column name -> (n_rows,) array; lists are converted
    notes: tuple[str, ...] = ()
    digits: int = 4  # after the decimal point of floats

    def __post_init__(self) -> None:
        columns = {
            str(name): as_readonly_array(_column_to_number_or_text_array(column)) for name, column in self.cells.items()
        }
        if len({len(column) for column in columns.values()}) > 1:
            sizes = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
            raise InputError(f"the columns of the table {self.title!r} differ in length: {sizes}")
        object.__setattr__(self, "cells", columns)

    @classmethod
    def of_rows(cls, title: str, rows: Sequence[Mapping[str, Any]], notes: tuple[str, ...] = ()) -> Self:
        """Create a table from rows (dicts with the same keys); without rows it has no columns.

        >>> Table.of_rows("Two", [{"n": 1, "word": "one"}, {"n": 2, "word": "two"}]).columns()["n"].tolist()
        [1, 2]
        """
        return cls(title, {name: [row[name] for row in rows] for name in rows[0]} if rows else {}, notes)

    def columns(self) -> dict[str, NDArray[Any]]:
        return dict(self.cells)

    def summary_values(self) -> dict[str, object]:
        return {"title": self.title, "columns": len(self.cells), "rows": len(self)}

    def __len__(self) -> int:
        return len(next(iter(self.cells.values()), ()))

    # ---- output formats

    def text(self) -> str:
        """Return the table as text with aligned columns, for a terminal."""
        heads, rows = self._column_names_and_cell_texts()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        left = [not _is_numeric_column(column) for column in self.cells.values()]
        lines = [
            "  ".join(
                cell.ljust(width) if flush else cell.rjust(width)
                for cell, width, flush in zip(row, widths, left, strict=True)
            ).rstrip()
            for row in (heads, *rows)
        ]
        return "\n".join([self.title, *lines, *self.notes])

    def markdown(self) -> str:
        """Return the table as Markdown, with its title as a heading."""
        heads, rows = self._column_names_and_cell_texts()
        rule = ["---:" if _is_numeric_column(column) else "---" for column in self.cells.values()]
        lines = [heads, rule, *([cell.replace("|", r"\|") for cell in row] for row in rows)]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return "\n\n".join([f"## {self.title}", body, *self.notes]) + "\n"

    def latex(self) -> str:
        """Return the table as LaTeX, with booktabs rules."""
        heads, rows = self._column_names_and_cell_texts()
        places = "".join("r" if _is_numeric_column(column) else "l" for column in self.cells.values())
        lines = [" & ".join(cell.translate(LATEX_ESCAPES) for cell in row) + r" \\" for row in (heads, *rows)]
        top = [
            rf"\begin{{table}}\caption{{{self.title.translate(LATEX_ESCAPES)}}}",
            rf"\begin{{tabular}}{{{places}}}",
            r"\toprule",
        ]
        end = [
            r"\bottomrule",
            r"\end{tabular}",
            *(note.translate(LATEX_ESCAPES) for note in self.notes),
            r"\end{table}",
        ]
        return "\n".join([*top, lines[0], r"\midrule", *lines[1:], *end]) + "\n"

    def csv(self) -> str:
        """Return the table as CSV, numbers with all digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.cells)
        writer.writerows(zip(*(column.tolist() for column in self.cells.values()), strict=True))
        return text.getvalue()

    def _column_names_and_cell_texts(self) -> tuple[list[str], list[list[str]]]:
        """Return (column names, rows), each row a list of the formatted texts of its cells."""
        shown = [[_format_table_cell(cell, self.digits) for cell in column.tolist()] for column in self.cells.values()]
        return list(self.cells), [list(row) for row in zip(*shown, strict=True)]


@dataclass(frozen=True, eq=False, repr=False)
class Tables(DataType):
    """Result of a recipe: several tables with a title, notes and the spec of the recipe."""

    title: str
    tables: tuple[Table, ...]
    made_by: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, title: str) -> Table:
        """Return the first table whose title starts with `title`. Raise KeyError if there is none."""
        for one in self.tables:
            if one.title.startswith(title):
                return one
        raise KeyError(f"{title!r}; there are {[one.title for one in self.tables]}")

    def text(self) -> str:
        """Return all tables as text for a terminal; long tables are truncated."""
        return "\n\n".join(
            [
                self.title,
                *(_drop_last_rows_of_long_table_text(one.text(), len(one)) for one in self.tables),
                *self.notes,
            ]
        )

    def markdown(self) -> str:
        """Return all tables as one Markdown page."""
        return "\n".join(
            [f"# {self.title}\n", *(one.markdown() for one in self.tables), *self.notes, f"`{self.made_by}`\n"]
        )

    def latex(self) -> str:
        """Return all result tables as LaTeX source."""
        return "\n".join(one.latex() for one in self.tables)

    def write_tables_to_folder(self, folder: str | Path, *, replace: bool = False) -> None:
        """Write the result tables to a folder, atomically: each as CSV, all together as Markdown, LaTeX and one .npz."""
        check_folder_empty_or_only_tables(Path(folder), replace=replace)
        texts = {"tables.md": self.markdown(), "tables.tex": self.latex()}
        texts |= {f"table-{i}.csv": one.csv() for i, one in enumerate(self.tables, start=1)}
        with atomic_folder(folder, replace=replace) as part:
            for name, text in texts.items():
                (part / name).write_text(text, encoding="utf-8")
            self.save(part / "tables.npz")

    def summary_values(self) -> dict[str, object]:
        return {"title": self.title, "tables": len(self.tables), "by": self.made_by}

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return an overview as a table: the title and number of rows of each result table."""
        return {
            "table": np.array([one.title for one in self.tables], TEXT),
            "rows": np.array([len(one) for one in self.tables]),
        }


def check_folder_empty_or_only_tables(folder: Path, *, replace: bool) -> None:
    """Raise InputError if the folder is not empty; with `replace`, only if it contains other files than those of tables."""
    files = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    if files and not replace:
        raise InputError(f"{folder} is not empty; name another folder, or replace its tables: replace=True (--force)")
    if others := [name for name in files if not TABLE_FILES.fullmatch(name)]:
        raise InputError(
            f"{folder} is not replaced: {first_few(others)} would be lost, which no recipe wrote; name another folder"
        )


def _drop_last_rows_of_long_table_text(table_text: str, n_table_rows: int) -> str:
    """Return the text of a table without its last rows if it has more than 60; title, head and notes stay."""
    if n_table_rows <= MAX_TERMINAL_ROWS:
        return table_text
    lines = table_text.split("\n")
    more = f"... {n_table_rows - MAX_TERMINAL_ROWS // 2:,} more rows; write the tables to files to see all"
    return "\n".join([*lines[: MAX_TERMINAL_ROWS // 2 + 2], more, *lines[n_table_rows + 2 :]])


def _column_to_number_or_text_array(column: Any) -> NDArray[Any]:
    """Return a table column as an array: None among numbers becomes nan, other mixed values become text."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column
    values = list(column)
    if all(isinstance(one, bool | np.bool_) for one in values) or not values:
        return np.array(values, bool if values else np.float64)
    if all(one is None or isinstance(one, int | float | np.number) for one in values):
        return np.array([np.nan if one is None else one for one in values])
    return np.array(["" if one is None else str(one) for one in values], TEXT)


def _is_numeric_column(column: NDArray[Any]) -> bool:
    """Return whether a table column contains ints or floats (such columns are right-aligned)."""
    return column.dtype != TEXT and column.dtype.kind in "iuf"


def _format_table_cell(cell: object, digits: int) -> str:
    """Return the text of a table cell: floats with `digits` digits, nan as -, truth values as yes or no."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}" if np.isfinite(cell) else "-"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
