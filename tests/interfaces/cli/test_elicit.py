"""`plurivox elicit` run as a user would."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import Result

import plurivox as pv

Call = Callable[..., Result]
TABLE = """task,worker,top,top_percent,second,second_percent,never,abstain
b,ann,cat,70,dog,20,ship,no
b,bo,cat,8p,cat,20,,no
a,ann,dog,100,,30,bird|cat|ship,no
a,bo,,,,,,yes
"""


@pytest.fixture
def answers_file(tmp_path: Path) -> Path:
    file = tmp_path / "answers.csv"
    file.write_text(TABLE)
    return file


def test_votes_are_written_and_odd_answers_are_listed(call: Call, answers_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "votes.csv"
    said = call("elicit", "top-two", answers_file, "-o", out)
    assert said.exit_code == 0, said.output
    assert said.stdout.splitlines()[-1] == f"top-two: 3 answers as 8 votes (1 abstained); wrote {out}"
    assert (
        "repaired               1  a percent with a typing error that was corrected, such as 8p for 80" in said.stdout
    )
    assert "percent-without-label  1  a percent entered without a label" in said.stdout
    votes = pv.read(out).crowd()
    assert votes.counts().round(3).tolist() == [[0, 0, 1, 0], [0.167, 1.5, 0.267, 0.067]]
    assert votes.answer is not None


def test_a_folder_has_votes_flags_and_unconverted_answers(call: Call, answers_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "elicited"
    said = call("elicit", "top-two", answers_file, "-o", out, "--gamma", "0.3", "--json")
    facts = json.loads(said.stdout)
    assert (
        facts["read"] == 3
        and facts["abstained"] == 1
        and set(facts["odd"]) == {"repaired", "named-twice", "percent-without-label"}
    )
    assert facts["by"] == "top-two[gamma=0.3]"
    data = pv.read(out)
    assert data.crowd().n_answers == 3
    assert pl.read_parquet(out / "apart.parquet").rows() == [("a", "bo", 3, "abstained")]
    assert pl.read_parquet(out / "flags.parquet")["flag"].to_list() == [
        "repaired",
        "named-twice",
        "percent-without-label",
    ]
    assert call("aggregate", "dawid-skene", out, "-o", tmp_path / "soft.csv").exit_code == 0
    assert call("elicit", "one-label", answers_file, "-o", out).exit_code == 2
    assert call("elicit", "one-label", answers_file, "-o", out, "--force").exit_code == 0


def test_gold_labels_are_copied(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "crowd"
    source.mkdir()
    (source / "answers.csv").write_text(TABLE)
    (source / "gold.csv").write_text("task,label\na,dog\nb,cat\n")
    out = tmp_path / "elicited"
    assert call("elicit", "select-top-two", source, "-o", out).exit_code == 0
    assert pv.read(out).gold.hard().tolist() == ["dog", "cat"]


def test_a_data_set_without_answers_is_an_error(call: Call, votes_file: Path, tmp_path: Path) -> None:
    said = call("elicit", "top-two", votes_file, "-o", tmp_path / "out")
    assert said.exit_code == 2 and "contains votes, which need no elicitation" in said.stderr


@pytest.mark.parametrize(
    ("form", "table", "counts"),
    [
        ("select-top-two", "task,worker,top,second\na,w,x,y\n", [[0.5, 0.5]]),
        ("ranking", "task,worker,top,second,named3\na,w,x,y,z\n", [[4 / 7, 2 / 7, 1 / 7]]),
        ("not-these", "task,worker,never\na,w,x | y\nb,w,z\n", [[0, 0, 1], [0.5, 0.5, 0]]),
        ("also-possible", "task,worker,top,possible\na,w,x,y|z\n", [[0.9, 0.05, 0.05]]),
        ("one-label", "task,worker,label,abstain\na,w,x,no\nb,w,y,x\n", [[1, 0], [0, 0]]),
        ("top-two", "task,worker,said,percent\na,w,x,60\na,v,y,50\n", [[1.1, 0.9]]),
    ],
)
def test_a_table_needs_only_the_columns_of_its_form(
    form: str, table: str, counts: list[list[float]], call: Call, tmp_path: Path
) -> None:
    (file := tmp_path / "entered.csv").write_text(table)
    more = ("--label", "said") if "said" in table else ()
    said = call("elicit", form, file, "-o", tmp_path / "out", *more)
    assert said.exit_code == 0, said.output
    np.testing.assert_allclose(pv.read(tmp_path / "out").crowd().counts(), counts)


def test_labels_are_needed_if_no_answer_names_one(call: Call, tmp_path: Path) -> None:
    (file := tmp_path / "entered.csv").write_text("task,worker,top,top_percent,abstain\na,w,,,yes\n")
    said = call("elicit", "top-two", file, "-o", tmp_path / "out")
    assert said.exit_code == 2 and "--labels" in said.stderr
    assert call("elicit", "top-two", file, "-o", tmp_path / "out", "--labels", "x,y").exit_code == 0


def test_repeats_of_answers_is_an_error_that_names_the_rule_to_use(
    call: Call, answers_file: Path, tmp_path: Path
) -> None:
    said = call("elicit", "top-two", answers_file, "-o", tmp_path / "out", "--repeats", "first")
    assert said.exit_code == 2 and "repeats-once" in said.stderr


def test_quiet_prints_nothing(call: Call, answers_file: Path, tmp_path: Path) -> None:
    assert call("elicit", "top-two", answers_file, "-o", tmp_path / "votes.csv", "--quiet").stdout == ""
