"""Titles, dates and empty rows above the column names of a CSV that a spreadsheet program wrote are skipped."""

from pathlib import Path

import pytest

from plurivox.core.errors import PlurivoxWarning
from plurivox.io.tabular.table_files import read_table

TABLE = "image;rater;label\n001;ann;owl\n002;;fox\n"


@pytest.mark.parametrize(
    "above", ["Study 3;;\n", '"Birds; 2023";;\nMay, June;;\n;;\n', ";;\n;;\n", "Study 3;;\r\n;;\r\n"]
)
def test_rows_above_the_column_names_are_skipped_with_a_note(tmp_path: Path, above: str) -> None:
    (tmp_path / "birds.csv").write_text(above + TABLE, newline="")
    n = above.count("\n")
    with pytest.warns(PlurivoxWarning, match=f"{n} row{'s' * (n > 1)} above the column names skipped"):
        assert read_table(tmp_path / "birds.csv").rows() == [("001", "ann", "owl"), ("002", None, "fox")]


@pytest.mark.parametrize("text", [TABLE, "image;;\n001;;\n", "image;label;\na;owl;\n", ";rater;label\n0;ann;owl\n"])
def test_other_first_rows_are_column_names(tmp_path: Path, text: str) -> None:
    (tmp_path / "birds.csv").write_text(text)
    assert read_table(tmp_path / "birds.csv").columns[0] == text.split(";")[0]
