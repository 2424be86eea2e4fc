"""Files of batches: tables and the JSON forms that studies publish."""

import json
from pathlib import Path
from typing import Any

import pytest

from plurivox.core.errors import InputError
from plurivox.io.tabular.batch_files import read_task_names_by_batch

BATCHES = {"b0": ["1128", "8386"], "b1": ["8386", "6962"]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.json", '{"b0": ["1128", "8386"], "b1": ["8386", "6962"]}'),
        ("b.JSON", '{"b0": [1128, 8386], "b1": [8386, 6962]}'),
        ("b.json", json.dumps([{"batch": b, "task": int(t)} for b, tasks in BATCHES.items() for t in tasks])),
        ("b.jsonl", "".join(f'{{"batch": "{b}", "task": "{t}"}}\n' for b, tasks in BATCHES.items() for t in tasks)),
        ("b.csv", "batch,task\nb0,1128\nb0,8386\nb1,8386\nb1,6962\n"),
        # a plan of `plurivox assign`, with a task that is shown twice
        ("b.csv", "batch,position,task,repeat\nb0,1,1128,0\nb0,2,8386,0\nb0,3,1128,1\nb1,1,8386,0\nb1,2,6962,0\n"),
    ],
)
def test_tables_and_json_give_the_same_batches(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_task_names_by_batch(tmp_path / name) == BATCHES


@pytest.mark.parametrize(("name", "text"), [("b.json", '[["x", 1], ["y"]]'), ("b.jsonl", '["x", 1]\n\n["y"]\n')])
def test_batches_of_a_list_of_lists_are_numbered(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_task_names_by_batch(tmp_path / name) == {"1": ["x", "1"], "2": ["y"]}


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"b0": ["a"], "b1": []}, "batches 'b1' in .* are empty"),
        ({"b0": ["a", 3, "3"]}, "batch 'b0' in .* contains tasks twice: '3'"),
        ({"b0": ["a", None]}, "batch 'b0' in .* contains null, which is not a task name"),
        ({"b0": [{"task": "a"}]}, "contains {\"task\": \"a\"}, which is not a task name"),
        ({"b0": "a"}, 'contains no batches of tasks; a JSON file of batches is an object {"b0": '),
        (["a", "b"], "contains no batches of tasks; a JSON file of batches is an object"),
        ([["a"], {"batch": "b"}], "contains no batches of tasks; a JSON file of batches is an object"),
        ([{"batch": "b0", "tasks": ["a"]}], "lacks 'task', it has 'batch', 'tasks'; a JSON file of batches is an object"),
        ([{"batch": "b0", "task": None}], "a row without a batch or without a task name"),
        ({}, "contains no batches"),
    ],
)  # fmt: skip
def test_the_error_names_what_is_wrong(tmp_path: Path, contents: Any, message: str) -> None:
    (tmp_path / "b.json").write_text(json.dumps(contents))
    with pytest.raises(InputError, match=message):
        read_task_names_by_batch(tmp_path / "b.json")


def test_a_batch_name_given_twice_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"b0": ["a"], "b0": ["b"]}')
    with pytest.raises(InputError, match="contains batches twice: 'b0'"):
        read_task_names_by_batch(tmp_path / "b.json")


def test_a_json_file_may_contain_json_lines(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"batch": "b0", "task": "a"}\n{"batch": "b0", "task": "b"}\n')
    assert read_task_names_by_batch(tmp_path / "b.json") == {"b0": ["a", "b"]}
    (tmp_path / "b.json").write_text('{"b0": ["a"]} {"b1": ["b"]}')
    with pytest.raises(InputError, match="more than one JSON value, and not one object per line"):
        read_task_names_by_batch(tmp_path / "b.json")
