"""Gold labels as people have them: two columns of any name, a JSON object, a column of the votes, a list without task names."""

import json
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.soft_label_inputs import as_soft_labels

MATRIX = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0], [2, 2, 0]])
GOLD = [0, 1, 0, 2]


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        (
            "gold.csv",
            "TweetID,AgreedStance\n1,pro\n2,con\n3,con\n",
            "'TweetID' as the task, 'AgreedStance' as the label",
        ),
        ("gold.tsv", "patient\tbiopsy\n1\tpro\n2\tcon\n3\tcon\n", "'patient' as the task, 'biopsy' as the label"),
        (
            "gold.csv",
            "case,rater_1,rater_2,expert\n1,con,pro,pro\n2,con,pro,con\n3,pro,con,con\n",
            "'expert' as the gold label",
        ),
        (
            "gold.csv",
            "case,rater,label,final\n1,a,con,pro\n2,a,con,con\n2,b,pro,con\n3,b,pro,con\n",
            "'final' as the gold label",
        ),
    ],
)
def test_tables_with_other_names(tmp_path: Path, name: str, text: str, note: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.warns(PlurivoxWarning) as told:
        gold = as_soft_labels(tmp_path / name)
    assert any(note in str(one.message) for one in told)
    assert dict(zip(gold.tasks.tolist(), gold.hard().tolist(), strict=True)) == {"1": "pro", "2": "con", "3": "con"}


def test_a_json_object_of_labels(tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_text(json.dumps({"001": "pro", "002": "con"}))
    assert as_soft_labels(tmp_path / "gold.json").tasks.tolist() == ["001", "002"]


def test_a_list_without_task_names_is_that_of_numbered_tasks(tmp_path: Path) -> None:
    np.save(tmp_path / "gold.npy", np.array(GOLD))
    for gold in (GOLD, np.array(GOLD), np.array([0, 1, np.nan, 2]), tmp_path / "gold.npy"):
        known = as_soft_labels(gold, pv.votes(MATRIX))
        assert set(known.hard().tolist()) == {0, 1, 2}
    assert pv.describe(MATRIX, gold=GOLD).n_gold == pv.compare(MATRIX, "majority-vote", gold=GOLD).tasks[0] == 4
    assert pv.fit(MATRIX, "dawid-skene", gold=GOLD).soft.hard().tolist() == GOLD


def test_a_list_that_fits_no_tasks_is_an_error_that_says_what_to_give() -> None:
    with pytest.raises(InputError, match=r"2 gold labels .* 4 tasks; give {task: label}, such as dict\(zip"):
        pv.describe(MATRIX, gold=[0, 1])
    named = pv.votes(task=["a", "b"], worker=[1, 1], label=["x", "y"])
    with pytest.raises(InputError, match="not numbered from 0 but called 'a'"):
        pv.fit(named, "dawid-skene", gold=["x", "y"])


def test_votes_without_gold_are_told(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("case,rater,label\n1,a,con\n2,a,con\n2,b,pro\n")
    with (
        pytest.warns(PlurivoxWarning, match="'rater' as the worker"),
        pytest.raises(InputError, match="none of its columns is called gold, truth, consensus"),
    ):
        as_soft_labels(tmp_path / "votes.csv")


def test_some_tasks_have_gold_in_a_list_of_records() -> None:
    rows = [
        {"id": f"i{i}", "user": who, "label": "xy"[i % 2], "gold": "x" if i < 3 else None}
        for i in range(6)
        for who in "ab"
    ]
    with pytest.warns(PlurivoxWarning):
        assert len(pv.read(rows).gold) == 3
