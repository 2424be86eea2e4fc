"""A folder with one table per worker is read: the worker is what differs in the file names, the label may have any name."""

from pathlib import Path

import pytest
import xlsxwriter

import plurivox as pv
from plurivox.core.errors import InputError, PlurivoxWarning

SPAM = {  # two of the texts are the same for both workers: they describe the task
    "mails_Ana.csv": "no,subject,spam\nm1,Offer,yes\nm2,Hello,no\nm3,Lunch,no\nm4,Prize,yes\n",
    "mails_Lê Minh.csv": "\ufeffNo;Subject;Spam\nm4;Prize;yes\nm1;Offer;no\nm2;Hello;no\nm3;Lunch;\n",
}


def folder(path: Path, tables: dict[str, str]) -> Path:
    """Write these files and a text file; return the folder."""
    for name, text in {**tables, "readme.txt": "hello"}.items():
        (path / name).write_text(text.replace("no,", "id,", 1).replace("No;", "ID;", 1), encoding="utf-8")
    return path


def test_the_label_may_have_any_name_and_workers_are_called_as_the_files(tmp_path: Path) -> None:
    with pytest.warns(PlurivoxWarning) as said:
        data = pv.read(folder(tmp_path, SPAM))
    assert data.votes.workers.tolist() == ["Ana", "Lê Minh"] and data.votes.labels.tolist() == ["no", "yes"]
    assert data.votes.counts().tolist() == [[1, 1], [2, 0], [1, 0], [0, 2]]
    assert data.items.columns == ["task", "subject"] and data.items.height == 4
    notes = " ".join(str(one.message) for one in said)
    assert "2 workers, called as the files, 'id' is the task, 'spam' the label, by its values" in notes
    assert "label=... (--label)" in notes and "1 row has no label" in notes


def test_two_columns_that_may_be_the_label_are_named_with_the_option(tmp_path: Path) -> None:
    tables = {
        f"{worker}.csv": f"id,spam,sure\nm1,yes,{n}\nm2,no,3\nm3,no,{n}\nm4,{said},3\n"
        for worker, said, n in (("ana", "yes", "1"), ("bob", "no", "2"))
    }
    with pytest.raises(InputError, match=r"'spam', 'sure' may each be the label; .* label='spam' \(--label spam\)"):
        pv.read(folder(tmp_path, tables))
    with pytest.warns(PlurivoxWarning, match="one table per worker"):
        assert pv.read(tmp_path, label="sure").votes.labels.tolist() == ["1", "2", "3"]


def test_workbooks_per_worker(tmp_path: Path) -> None:
    for worker, said in (("ana", "owl"), ("bob", "fox")):
        with xlsxwriter.Workbook(tmp_path / f"{worker} (birds).xlsx") as book:
            sheet = book.add_worksheet()
            for row, cells in enumerate([("image", "label"), ("a.png", said), ("b.png", "fox")]):
                sheet.write_row(row, 0, cells)
    with pytest.warns(PlurivoxWarning, match="one table per worker"):
        assert pv.read(tmp_path).votes.workers.tolist() == ["ana", "bob"]


@pytest.mark.parametrize(
    "tables",
    [
        {"north.csv": "id,kind\n1,x\n2,x\n", "south.csv": "id,kind\n3,x\n4,y\n"},  # no task in both
        {"a.csv": "id,text\n1,Some text\n2,Another\n", "b.csv": "id,text\n1,Some text\n2,Else\n"},  # no labels
        {"a.csv": "id,kind\n1,x\n2,y\n", "b.csv": "id,other\n1,x\n2,x\n"},  # other columns
        {"a.csv": "id,worker,kind\n1,w,x\n2,w,y\n", "b.csv": "id,worker,kind\n1,w,x\n2,w,x\n"},
    ],
)
def test_other_folders_of_tables_are_not_read(tmp_path: Path, tables: dict[str, str]) -> None:
    with pytest.raises(InputError, match="is not a data set"):
        pv.read(folder(tmp_path, tables))
