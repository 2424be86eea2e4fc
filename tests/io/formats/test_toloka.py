"""Assignments of Toloka, as TSV and as a table of toloka-kit."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from plurivox.core.errors import InputError
from plurivox.io.dataset_reader import as_dataset, read

HEADER = [
    *("INPUT:image", "INPUT:note", "OUTPUT:result", "OUTPUT:sure", "GOLDEN:result", "HINT:text"),
    *("ASSIGNMENT:assignment_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:started", "ACCEPT:verdict"),
]
ROWS = [
    "a.png|x|OK|5|||s1|w1|APPROVED|2023-05-12T06:00:00.000|+",
    "b.png|x|404|3|404|broken|s1|w1|APPROVED|2023-05-12T06:00:00.000|+",
    "",  # blank lines are between task suites
    "a.png|x|BAD|4|||s2|w2|REJECTED|2023-05-12T06:01:00.000|-",
    "b.png|x|OK|4|404|broken|s3|w3|SUBMITTED|2023-05-12T06:01:00.000|",
    "a.png|x|BAD|1|||s4|w4|SUBMITTED|2023-05-12T06:01:00.000|-",
    "a.png|x|||||s5|w5|EXPIRED|2023-05-12T06:01:00.000|",
]


def write(path: Path, header: list[str] = HEADER, rows: list[str] = ROWS) -> Path:
    path.write_text("\n".join("\t".join(row) for row in [header, *(one.split("|") for one in rows)]) + "\n")
    return path


def test_accepted_assignments_become_votes(tmp_path: Path) -> None:
    with pytest.warns(UserWarning) as told:
        data = read(write(tmp_path / "assignments.tsv"))
    votes = data.crowd()
    assert votes.tasks.tolist() == ["a.png", "b.png"] and votes.workers.tolist() == ["w1", "w3"]
    assert votes.labels.tolist() == ["404", "OK"] and votes.counts().tolist() == [[0, 1], [1, 1]]
    assert votes.when is not None and votes.when[0] == np.datetime64("2023-05-12T06:00:00").astype(int)
    assert data.gold is not None and data.gold.tasks.tolist() == ["b.png"] and data.gold.hard().tolist() == ["404"]
    assert data.items is not None and data.items.to_dicts()[1] == {
        "task": "b.png", "image": "b.png", "note": "x", "hint": "broken"
    }  # fmt: skip
    notes = [str(one.message) for one in told]
    assert notes[0].startswith(
        "2 answers in rejected assignments of the workers 'w2', 'w4' left out; to keep them, set"
    )
    assert "1 row of assignments that were not submitted left out" in notes
    assert any(note.startswith("1 control task, whose known labels (GOLDEN:result) are gold") for note in notes)
    assert notes[-1] == "votes are the answers to 'result'; other questions are 'sure': label='sure' (--label sure)"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_caller_names_task_and_output(tmp_path: Path) -> None:
    path = write(tmp_path / "assignments.tsv")
    votes = read(path, label="OUTPUT:sure", task="note").crowd()
    assert votes.tasks.tolist() == ["x"] and votes.labels.tolist() == ["3", "4", "5"]
    with pytest.raises(
        InputError, match="has no outputs named 'reason' that can be read as votes; it has 'result', 'sure'"
    ):
        read(path, label="reason")
    with pytest.raises(InputError, match="no column 'url'; it has 'INPUT:image', 'INPUT:note'"):
        read(path, task="url")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pairs_of_inputs_name_tasks_together() -> None:
    frame = pl.DataFrame(
        {
            "INPUT:left": ["a", "a", "b", "a"],
            "INPUT:right": ["b", "c", "c", "b"],
            "OUTPUT:result": ["left", "right", '["left", "right"]', "left"],
            "ASSIGNMENT:worker_id": ["w1", "w1", "w1", "w2"],
        }
    )
    votes = as_dataset(frame).crowd()
    assert votes.tasks.tolist() == ["a | b", "a | c", "b | c"]
    assert votes.counts().tolist() == [[2, 0], [0, 1], [0.5, 0.5]]


def test_two_outputs_of_labels_are_an_error_that_names_them(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", [name.replace(":sure", ":tone") for name in HEADER],
                 [row.replace("|5|", "|dry|").replace("|3|", "|calm|").replace("|4|", "|calm|") for row in ROWS])  # fmt: skip
    with pytest.raises(InputError, match=r"outputs 'result', 'tone'; select one: label='result' \(--label result\)"):
        read(path)
