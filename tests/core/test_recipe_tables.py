"""Tables as text, Markdown, LaTeX, CSV and files."""

import csv
from pathlib import Path

import numpy as np
import pytest

from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError
from plurivox.core.recipe_tables import Table, Tables

TABLE = Table(
    "Figures & shares", {"method": ["a|b", "c_d"], "n": [1200, 7], "p": [0.5, None]}, ("100% ours",), digits=2
)


def test_text_is_aligned_and_unknown_numbers_are_a_dash() -> None:
    assert TABLE.text().splitlines()[1:] == [
        "method      n     p",
        "a|b     1,200  0.50",
        "c_d         7     -",
        "100% ours",
    ]


def test_markdown_escapes_what_would_end_a_cell() -> None:
    assert "| a\\|b | 1,200 | 0.50 |" in TABLE.markdown() and "|---|---:|---:|" in TABLE.markdown().replace(" ", "")


def test_latex_escapes_special_characters() -> None:
    made = TABLE.latex()
    assert r"Figures \& shares" in made and r"c\_d & 7 & - \\" in made and r"100\% ours" in made


def test_csv_keeps_numbers_in_full() -> None:
    rows = list(csv.reader(Table("", {"p": [1 / 3]}).csv().splitlines()))
    assert float(rows[1][0]) == 1 / 3


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="differ in length: a 1, b 2"):
        Table("bad", {"a": [1], "b": np.arange(2)})


def test_tables_are_found_by_the_start_of_their_title() -> None:
    made = Tables("all", (TABLE,), "by hand")
    assert made["Figures"] is TABLE
    with pytest.raises(KeyError, match="there are"):
        made["Shares"]


def test_a_long_table_is_truncated_on_a_terminal_and_keeps_its_notes() -> None:
    text = Tables("All", (Table("Long", {"n": np.arange(100)}, ("a note",)),), "test").text().split("\n")
    assert text[2:5] == ["Long", " n", " 0"]
    assert text[-2:] == ["... 70 more rows; write the tables to files to see all", "a note"]


def test_tables_are_written_in_every_format(tmp_path: Path) -> None:
    made = Tables("both", (Table("one", {"a": [1]}), Table("two", {"b": [2]})), "by hand")
    made.write_tables_to_folder(tmp_path / "out")
    names = {"table-1.csv", "table-2.csv", "tables.md", "tables.tex", "tables.npz"}
    assert {one.name for one in (tmp_path / "out").iterdir()} == names
    assert isinstance(DataType.load(tmp_path / "out" / "tables.npz"), Tables)
    with pytest.raises(InputError, match="not empty; name another folder"):
        made.write_tables_to_folder(tmp_path / "out")
    made.write_tables_to_folder(tmp_path / "out", replace=True)
    (tmp_path / "out" / "mine.txt").touch()
    with pytest.raises(InputError, match=r"'mine\.txt' would be lost"):
        made.write_tables_to_folder(tmp_path / "out", replace=True)
