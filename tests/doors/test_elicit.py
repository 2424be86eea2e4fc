"""`plurivox elicit` through its public face."""

import json
from collections.abc import Callable
from pathlib import Path

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


def test_answers_in_votes_out_and_what_was_odd(call: Call, answers_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "votes.csv"
    said = call("elicit", "top-two", answers_file, "-o", out)
    assert said.exit_code == 0, said.output
    assert said.stdout.splitlines()[-1] == f"top-two: 3 answers as 8 votes (1 abstained) -> {out}"
    assert "repaired     1  a percent read after a guess, such as 8p for 80" in said.stdout
    assert "note: 1 percent typed beside no label is left out" in said.stderr
    votes = pv.read(out).crowd()
    assert votes.counts().round(3).tolist() == [[0, 0, 1, 0], [0.167, 1.5, 0.267, 0.067]]
    assert votes.answer is not None


def test_a_folder_holds_votes_flags_and_what_was_kept_apart(call: Call, answers_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "elicited"
    said = call("elicit", "top-two", answers_file, "-o", out, "--gamma", "0.3", "--json")
    facts = json.loads(said.stdout)
    assert facts["read"] == 3 and facts["abstained"] == 1 and facts["odd"] == {"repaired": 1, "named-twice": 1}
    assert facts["by"] == "top-two[gamma=0.3]"
    data = pv.read(out)
    assert data.crowd().n_answers == 3
    assert pl.read_parquet(out / "apart.parquet").rows() == [("a", "bo", 3, "abstained")]
    assert pl.read_parquet(out / "flags.parquet")["flag"].to_list() == ["repaired", "named-twice"]
    assert call("aggregate", "dawid-skene", out, "-o", tmp_path / "soft.csv").exit_code == 0
    assert call("elicit", "one-label", answers_file, "-o", out).exit_code == 2
    assert call("elicit", "one-label", answers_file, "-o", out, "--force").exit_code == 0


def test_gold_goes_along(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "crowd"
    source.mkdir()
    (source / "answers.csv").write_text(TABLE)
    (source / "gold.csv").write_text("task,label\na,dog\nb,cat\n")
    out = tmp_path / "elicited"
    assert call("elicit", "select-top-two", source, "-o", out).exit_code == 0
    assert pv.read(out).gold.hard().tolist() == ["dog", "cat"]


def test_a_set_without_answers_is_refused(call: Call, votes_file: Path, tmp_path: Path) -> None:
    said = call("elicit", "top-two", votes_file, "-o", tmp_path / "out")
    assert said.exit_code == 2 and "holds no answers" in said.stderr


def test_quiet_says_nothing(call: Call, answers_file: Path, tmp_path: Path) -> None:
    assert call("elicit", "top-two", answers_file, "-o", tmp_path / "votes.csv", "--quiet").stdout == ""
