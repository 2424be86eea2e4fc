"""Classification exports of Zooniverse."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from plurivox.core.errors import InputError
from plurivox.io import read

HEADER = [
    *("classification_id", "user_name", "user_id", "user_ip", "workflow_id", "workflow_name", "workflow_version"),
    *("created_at", "gold_standard", "expert", "metadata", "annotations", "subject_data", "subject_ids"),
]
SHAPE, EDGE = "What is the shape?", "Is it edge-on?"


def row(user: str, subject: int, *answers: tuple[str, str, Any], live: bool = True, **more: str) -> dict[str, str]:
    about = {"started_at": "2022-07-01T12:00:00Z", "finished_at": "2022-07-01T12:00:09Z", "live_project": live}
    return {
        "classification_id": "4012", "user_name": user, "workflow_id": "21", "workflow_name": "Shapes",
        "workflow_version": "12.53", "created_at": "2022-07-01 12:00:10 UTC", "metadata": json.dumps(about),
        "annotations": json.dumps([{"task": t, "task_label": text, "value": value} for t, text, value in answers]),
        "subject_data": json.dumps({subject: {"retired": None, "Filename": f"gal_{subject}.png"}}),
        "subject_ids": str(subject), **more,
    }  # fmt: skip


def export(path: Path, *rows: dict[str, str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_answers_to_the_first_question_become_votes(tmp_path: Path) -> None:
    path = export(
        tmp_path / "shapes-classifications.csv",
        row("amy", 7, ("T0", SHAPE, "Smooth")),
        row("not-logged-in-77aa", 7, ("T0", SHAPE, "Disk"), ("T1", EDGE, "Yes")),
        row("amy", 8, ("T0", SHAPE, "Disk")),
        row("bo", 8, ("T0", SHAPE, None)),
        row("bo", 9, ("T0", SHAPE, "Disk"), live=False, workflow_version="1.4"),
        row("lead", 8, ("T0", SHAPE, "Smooth"), gold_standard="true"),
    )
    with pytest.warns(UserWarning) as told:
        data = read(path)
    votes = data.crowd()
    assert votes.tasks.tolist() == ["7", "8"] and votes.workers.tolist() == ["amy", "not-logged-in-77aa"]
    assert votes.labels.tolist() == ["Disk", "Smooth"] and votes.counts().tolist() == [[1, 1], [1, 0]]
    assert votes.seconds is not None and votes.seconds[0] == 9 and votes.when is not None
    assert data.gold is not None and data.gold.tasks.tolist() == ["8"] and data.gold.hard().tolist() == ["Smooth"]
    assert data.items is not None and data.items.to_dicts()[0] == {"task": "7", "Filename": "gal_7.png"}
    assert [str(one.message) for one in told] == [
        "votes are the answers to 'T0' (What is the shape?)",
        "other questions are 'T1': label='T1' (--label T1)",
        "1 classification from before the project was live left out (live_project in metadata)",
        "1 classification without an answer to 'T0'",
        "1 gold-standard classification is gold",
        "1 vote by users who were not logged in: each internet address is a worker",
    ]
    with pytest.warns(UserWarning):
        assert read(path, label=EDGE, task="Filename").crowd().tasks.tolist() == ["gal_7.png", "gal_8.png"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_lists_surveys_menus_and_combinations(tmp_path: Path) -> None:
    menu = [{"select_label": "Country", "option": True, "value": "a1", "label": "Peru"}]
    combined = [
        {"task": "T4", "task_label": "Wet?", "value": "No"},
        {"task": "T5", "task_label": "Where?", "value": menu},
    ]
    path = export(
        tmp_path / "c.csv",
        row(
            "amy", 7, ("T0", SHAPE, ["Smooth", "Round"]), ("T2", "", [{"choice": "LION", "answers": {"HOWMANY": "1"}}])
        ),
        row("bo", 7, ("T0", SHAPE, ["Smooth"]), ("T3", "", combined), ("T6", "", [{"tool": 0, "x": 3, "y": 4}])),
    )
    with pytest.raises(InputError, match=r"questions 'T0', 'T2', 'T4', 'T5/Country'; select one: label='T0'"):
        read(path)
    assert read(path, label="T0").crowd().counts().tolist() == [[0.5, 1.5]]
    assert read(path, label="T2").crowd().labels.tolist() == ["LION"]
    assert read(path, label="T5/Country").crowd().labels.tolist() == ["Peru"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_questions_of_several_workflows_are_not_mixed(tmp_path: Path) -> None:
    path = export(
        tmp_path / "c.csv",
        row("amy", 7, ("T0", SHAPE, "Smooth")),
        row("bo", 7, ("T0", "Colour?", "Red"), workflow_id="22", workflow_name="Colours"),
    )
    with pytest.raises(InputError, match="questions 'Colours/T0', 'Shapes/T0'; select one"):
        read(path)
    assert read(path, label="Shapes/T0").crowd().labels.tolist() == ["Smooth"]
