"""Gold and soft labels are read from what users hold: a table, a mapping, a Series, a file, a data set."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import plurivox as pv
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.soft_label_inputs import as_soft_labels

GOLD = pv.SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"])
TABLE = {"task": ["a", "b", "c"], "label": ["no", "yes", "yes"]}
VOTES = pv.votes(task=list("aabbcc"), worker=[1, 2] * 3, label=["no", "no", "yes", "no", "yes", "yes"])


@pytest.fixture
def gold_file(tmp_path: Path) -> Path:
    pl.DataFrame(TABLE).write_csv(tmp_path / "truth.csv")
    return tmp_path / "truth.csv"


KINDS: dict[str, Callable[[Path], Any]] = {
    "soft labels": lambda _: GOLD,
    "mapping": lambda _: {"a": "no", "b": "yes", "c": "yes"},
    "distributions": lambda _: {"a": {"no": 1.0}, "b": {"no": 0, "yes": 1.0}, "c": {"yes": 1.0}},
    "series": lambda _: pd.Series(["no", "yes", "yes"], index=["a", "b", "c"]),
    "pandas": lambda _: pd.DataFrame(TABLE),
    "index": lambda _: pd.DataFrame(TABLE).set_index("task"),
    "polars": lambda _: pl.DataFrame(TABLE),
    "columns": lambda _: TABLE,
    "records": lambda _: pd.DataFrame(TABLE).to_dict("records"),
    "data set": lambda _: pv.Dataset("made", gold=GOLD),
    "path": lambda path: path,
    "text": str,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_gold_gives_the_same_labels(kind: str, gold_file: Path) -> None:
    gold = KINDS[kind](gold_file)
    made = as_soft_labels(gold)
    assert made.tasks.tolist() == ["a", "b", "c"] and made.hard().tolist() == ["no", "yes", "yes"]
    np.testing.assert_array_equal(
        pv.fit(VOTES, "dawid-skene", gold=gold).soft.prob, pv.fit(VOTES, "dawid-skene", gold=GOLD).soft.prob
    )
    soft = pv.fit(VOTES, "vote-shares").soft
    assert pv.evaluate.accuracy(soft, gold) == pv.evaluate.accuracy(soft, GOLD)
    assert pv.compare(VOTES, "vote-shares", gold=gold).accuracy == pv.compare(VOTES, "vote-shares", gold=GOLD).accuracy
    assert pv.describe(VOTES, gold).summary_values() == pv.describe(VOTES, GOLD).summary_values()


def test_the_columns_of_gold_have_their_usual_names() -> None:
    for table in ({"image": ["a", "b"], "truth": ["no", "yes"]}, {"item_id": ["a", "b"], "class": ["no", "yes"]}):
        with pytest.warns(PlurivoxWarning, match="as the task, .* as the label"):
            assert as_soft_labels(table).hard().tolist() == ["no", "yes"]
    with pytest.warns(PlurivoxWarning, match="'y' as the label"):
        assert as_soft_labels({"task": ["a", "b"], "y": [0, 1]}).hard().tolist() == [0, 1]
    assert as_soft_labels({"task": ["a", "b"], "x": [0, 1], "y": [1, 0]}).labels.tolist() == ["x", "y"]


def test_a_table_of_votes_with_gold_gives_the_gold() -> None:
    votes = {"task": ["a", "a", "b"], "worker": [1, 2, 1], "label": ["no", "yes", "yes"], "gold": ["no", "no", "yes"]}
    with pytest.warns(PlurivoxWarning, match="'gold' as the gold label"):
        assert as_soft_labels(votes).hard().tolist() == ["no", "yes"]


def test_numbers_in_votes_meet_their_texts_in_csv(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("task,label\n1,0\n2,1\n")
    votes = pv.votes(task=[1, 1, 2, 2], worker=[1, 2, 1, 2], label=[0, 0, 1, 1])
    assert pv.compare(votes, "majority-vote", gold=tmp_path / "gold.csv").accuracy.tolist() == [1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["no", "yes"], "list has no task names; give {task: label}"),
        (np.array([0, 1]), "ndarray has no task names"),
        (VOTES, r"votes are not yet labels: aggregate them"),
        (pd.Series(["no", "yes"], index=["a", "a"]), "names a task twice"),
        (pv.Dataset("bare", votes=VOTES), "bare has no gold labels"),
        ("nosuch.csv", "there is no file"),
    ],
)
def test_what_is_no_label_of_tasks_is_an_error(given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        as_soft_labels(given)
