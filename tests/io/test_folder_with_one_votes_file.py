"""A folder with one file of votes is read: beside side files, or with a table of gold labels of a usual name."""

import json
from pathlib import Path

import pytest

from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.dataset_reader import read

pytestmark = pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
VOTES = "question,worker,answer\n0,3,1\n0,4,1\n1,3,2\n1,4,1\n"


@pytest.mark.parametrize(
    ("votes", "gold"),
    [("answer", "truth"), ("labels", "gold"), ("crowd_labels", "ground_truth"), ("crowd_labels", "gt")],
)
def test_votes_and_gold_labels_in_two_tables(tmp_path: Path, votes: str, gold: str) -> None:
    (tmp_path / f"{votes}.csv").write_text(VOTES)
    (tmp_path / f"{gold}.csv").write_text("question,truth\n0,1\n1,2\n")
    data = read(tmp_path)
    assert data.votes is not None and len(data.votes.task) == 4
    assert data.gold is not None and data.gold.on(data.votes.tasks).hard().tolist() == data.votes.labels.tolist()


def test_one_table_beside_side_files(tmp_path: Path) -> None:
    (tmp_path / "annotations.csv").write_text(VOTES)
    for name in ("README.md", "convert.py", "config.json"):
        (tmp_path / name).write_text("{}")
    with pytest.warns(PlurivoxWarning, match=r"read annotations\.csv"):
        assert read(tmp_path).votes is not None


def test_labels_of_an_old_doccano_export_have_the_names_of_its_label_config(tmp_path: Path) -> None:
    records = [{"id": n, "text": f"t{n}", "annotations": [{"label": 7 + n, "user": 5}]} for n in (0, 1)]
    (tmp_path / "file.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "label_config.json").write_text(json.dumps([{"id": 7, "text": "fine"}, {"id": 8, "text": "bad"}]))
    votes = read(tmp_path).votes
    assert votes is not None and votes.labels.tolist() == ["bad", "fine"] and votes.workers.tolist() == [5]


def test_two_tables_that_may_both_be_votes_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "first.csv").write_text(VOTES)
    (tmp_path / "second.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="is not a data set"):
        read(tmp_path)
