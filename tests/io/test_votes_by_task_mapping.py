"""Votes as {task: {worker: label}} and rows of tuples, in memory and in JSON files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import plurivox as pv
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.dataset_reader import as_dataset
from plurivox.io.soft_label_inputs import as_soft_labels

BY_TASK = {"p1": {"ann": "cat", "bo": "dog"}, "p2": {"ann": "cat", "cy": "cat"}, "p3": {"bo": "dog"}}
TUPLES = [(f"p{i}", who, "cat" if i % 2 else "dog") for i in range(6) for who in ("ann", "bo")]


def test_mappings_of_tasks_are_votes_and_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "votes.json").write_text(json.dumps(BY_TASK))
    for made in (pv.votes, as_dataset, pv.read):
        with pytest.warns(
            PlurivoxWarning, match=r"3 tasks such as 'p1', 3 workers such as 'ann'; if the first are the workers"
        ):
            made(BY_TASK)
    with pytest.warns(PlurivoxWarning, match="task: {worker: label}"):
        votes = pv.read(tmp_path / "votes.json").votes
    assert (len(votes), votes.tasks.tolist(), votes.workers.tolist()) == (5, ["p1", "p2", "p3"], ["ann", "bo", "cy"])


def test_numbers_per_task_are_probabilities_or_an_error(tmp_path: Path) -> None:
    (tmp_path / "soft.json").write_text(json.dumps({"p1": {"cat": 0.25, "dog": 0.75}}))
    assert pv.read(tmp_path / "soft.json").soft_labels.prob.tolist() == [[0.25, 0.75]]
    with pytest.raises(InputError, match=r"no task sum to 1; if they are votes .*: pv.votes\(data\)"):
        as_dataset({"p1": {"ann": 4, "bo": 5}})
    with pytest.warns(PlurivoxWarning, match="2 workers"):
        assert pv.votes({"p1": {"ann": 4, "bo": 5}}).labels.tolist() == [4, 5]


@pytest.mark.parametrize("orient", ["columns", "index", "records", "list"])
def test_json_of_pandas_is_a_table_in_every_orientation(tmp_path: Path, orient: Any) -> None:
    frame = pd.DataFrame(TUPLES, columns=["image", "worker", "label"])
    (tmp_path / "votes.json").write_text(
        frame.to_json(orient=orient) if orient != "list" else json.dumps(frame.to_dict("list"))
    )
    with pytest.warns(PlurivoxWarning, match="'image' as the task"):
        votes = pv.read(tmp_path / "votes.json").votes
    assert (len(votes), len(votes.tasks), votes.workers.tolist()) == (12, 6, ["ann", "bo"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (TUPLES, r"a list of tuples .* pd.DataFrame\(rows, columns=.* pv.votes\(task=..., worker=..., label=...\)"),
        (np.array(TUPLES), "no value in common: they are not the labels of three workers"),
        ({"p1": ["cat", "dog"], "p2": ["cat"]}, "different lengths: 'p2' has 1 and 'p1' 2 values"),
        ({"p1": {"ann": ["cat"]}}, "has list as labels"),
    ],
)
def test_other_shapes_are_errors_that_say_what_to_give(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        pv.read(given)


def test_votes_by_task_are_no_gold_labels() -> None:
    with pytest.raises(InputError, match="aggregate them first"):
        as_soft_labels(BY_TASK)


def test_read_takes_data_in_memory() -> None:
    frame = pd.DataFrame(TUPLES, columns=["task", "worker", "label"])
    assert len(pv.read(frame).votes) == len(pv.read(frame.rename(columns={"label": "x"}), label="x").votes) == 12
