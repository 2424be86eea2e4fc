"""Excel workbooks are read: long and wide tables, ids, dates, empty rows, several sheets; other spreadsheets say what to do."""

import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from plurivox.core.errors import InputError, MissingExtra, PlurivoxWarning
from plurivox.io.dataset_reader import read
from plurivox.io.soft_label_files import read_soft
from plurivox.io.tabular.table_files import read_table, write_table

VOTES = [
    ["task", "worker", " label ", "asked", None],
    [1, "007", "cat", date(2021, 3, 4), None],
    [2, "007", "dog", date(2021, 3, 5), None],
    [None, None, None, None, None],
    [2, 8, "cat", date(2021, 3, 5), None],
]


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    """Write a workbook as Excel does: numbers are decimals, and formatted empty cells lie below the table."""
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as book:
        bold = book.add_format({"bold": True})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                sheet.write_row(i, 0, row)
            sheet.write_blank(40, 0, None, bold)
    return path


def test_a_long_table_keeps_ids_and_drops_empty_rows(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    votes = read(workbook(tmp_path / "votes.xlsx", Votes=VOTES)).votes
    assert votes is not None and votes.tasks.tolist() == [1, 2] and votes.workers.tolist() == ["007", "8"]
    assert votes.labels.tolist() == ["cat", "dog"] and votes.n_answers == 3
    assert read_table(tmp_path / "votes.xlsx")["asked"].to_list()[0] == date(2021, 3, 4)
    assert capfd.readouterr() == ("", "")


def test_a_wide_table_and_a_table_of_gold_labels(tmp_path: Path) -> None:
    rows = [["task", "ann", "bo"], ["a.png", 1, 2], ["b.png", None, 2]]
    votes = read(workbook(tmp_path / "votes.xlsx", Votes=rows), wide=True).votes
    assert votes is not None and votes.labels.tolist() == [1, 2] and votes.counts().tolist() == [[1, 1], [0, 1]]
    gold = read_soft(workbook(tmp_path / "gold.xlsx", Gold=[["task", "label"], ["a.png", "x"]]))
    assert gold.hard().tolist() == ["x"]


def test_words_typed_with_other_capitals_or_blanks_are_one_label(tmp_path: Path) -> None:
    rows = [
        ["task", "ann", "bo"],
        ["a", "yes", "Yes "],
        ["b", "no", "yes"],
        ["c", "NO", "no"],
        ["d", "A", "a"],
        ["e", "A", "a"],
    ]
    with pytest.warns(PlurivoxWarning, match="is read as one: 'NO' as 'no', 'Yes ' as 'yes'$"):
        votes = read(workbook(tmp_path / "votes.xlsx", Votes=rows), wide=True).votes
    assert votes is not None and votes.labels.tolist() == ["A", "a", "no", "yes"]


def test_the_first_sheet_with_a_table_is_read_or_the_one_named(tmp_path: Path) -> None:
    other = [["task", "worker", "label"], [9, "ann", "cow"]]
    path = workbook(tmp_path / "w.xlsx", Cover=[["Study of 2021"]], Votes=VOTES, Pilot=other)
    with pytest.warns(PlurivoxWarning, match=r"read the sheet 'Votes'; w.xlsx also has 'Pilot': sheet=... \(--sheet\)"):
        read(path)
    votes = read(path, sheet="Pilot").votes
    assert votes is not None and votes.tasks.tolist() == [9]
    with pytest.raises(InputError, match="no sheet 'Plot'; its sheets are 'Cover', 'Votes', 'Pilot'"):
        read(path, sheet="Plot")


def test_titles_above_the_column_names_are_skipped(tmp_path: Path) -> None:
    titles = [["Slides, second reading (do not sort)"], [date(2023, 5, 2)], []]
    rows = [["Slide No.", "Reader", None, " Diagnosis "], ["01", "AK", None, "mild"], ["01", "LP", None, "severe"]]
    path = workbook(tmp_path / "slides.xlsx", Ratings=titles + rows)
    with pytest.warns(
        PlurivoxWarning, match="sheet 'Ratings' of slides.xlsx: 2 rows above the column names skipped, such as 'S"
    ):
        assert read_table(path).columns == ["Slide No.", "Reader", "Diagnosis"]
    wide = [["Stance"], ["Item", "Eva", "Jan"], ["c1", "pro", "con"], ["c2", None, "con"], ["c3", "pro", "pro"]]
    with pytest.warns(PlurivoxWarning) as said:
        assert read(workbook(tmp_path / "wide.xlsx", Sheet1=wide)).votes.n_answers == 5
    assert "'Item' is the task, the columns 'Eva', 'Jan' are workers" in str(said[1].message)
    named_by_index = [[None, "label"], ["a.png", "owl"]]  # as pandas writes an index without a name
    assert read_table(workbook(tmp_path / "index.xlsx", Sheet1=named_by_index)).columns == ["", "label"]


def test_a_folder_may_contain_a_workbook(tmp_path: Path) -> None:
    workbook(tmp_path / "votes.xlsx", Votes=VOTES)
    assert read(tmp_path).votes is not None


def test_what_cannot_be_read_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v.xlsx").write_bytes(b"PK\x03\x04 not a workbook")
    with pytest.raises(InputError, match="cannot be read as an Excel workbook"):
        read(tmp_path / "v.xlsx")
    with pytest.raises(InputError, match="has no table"):
        read(workbook(tmp_path / "empty.xlsx", Sheet1=[]))
    for name in ("v.xls", "v.ods"):
        (tmp_path / name).write_bytes(b"\xd0\xcf")
        with pytest.raises(InputError, match=r"save the spreadsheet as \.xlsx or \.csv"):
            read(tmp_path / name)
    with pytest.raises(InputError, match="has no sheets"):
        read(tmp_path, sheet="a")
    with pytest.raises(InputError, match=r"unsupported file type \.xlsx"):
        write_table({"task": [1]}, tmp_path / "out.xlsx")
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(
        MissingExtra, match=r"reading Excel workbooks needs fastexcel; run: pip install 'plurivox\[excel\]'"
    ):
        read(tmp_path / "empty.xlsx")
