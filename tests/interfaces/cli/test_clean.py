"""`plurivox clean` run as a user would."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import Result

import plurivox as pv
from clean.faulty_answers import GOLD, faulty
from plurivox.io import Dataset
from plurivox.io.plurivox_folder_writer import write

Call = Callable[..., Result]


@pytest.fixture
def crowd_folder(tmp_path: Path) -> Path:
    """Return a data-set folder of faulty answers with gold labels, items and a further table."""
    folder = tmp_path / "crowd"
    items = pl.DataFrame({"task": GOLD.tasks.tolist(), "text": [f"look at {task}" for task in GOLD.tasks.tolist()]})
    tables = {"weather": lambda: pl.DataFrame({"day": ["monday"], "rain": [True]})}
    write(Dataset("crowd", answers=faulty(), gold=GOLD, items=items, tables=tables), folder)
    return folder


def test_rules_write_a_cleaned_data_set_with_all_other_tables_and_an_audit(
    call: Call, crowd_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "cleaned"
    said = call("clean", crowd_folder, "--rules", "stored-twice,collins2022,percent-out-of-range[at-most=1]", "-o", out)
    assert said.exit_code == 0, said.output
    assert [line.split() for line in said.stdout.splitlines()] == [
        ["rule", "people", "out", "tasks", "out", "answers", "out", "flagged"],
        ["stored-twice", "0", "0", "14", "0"],
        ["collins2022", "2", "0", "28", "1"],
        ["percent-out-of-range[at-most=1]", "0", "0", "0", "0"],
        f"kept 127 of 169 answers; wrote {out}".split(),
    ]
    data, before = pv.read(out), pv.read(crowd_folder)
    assert data.answers is not None and len(data.answers) == 127 and "beyond" not in data.answers.workers.tolist()
    assert data.gold is not None and len(data.gold) == 12 and data.items is not None and data.items.height == 12
    assert data.tables["weather"]().rows() == [("monday", True)]
    assert before.answers is not None and len(before.answers) == 169
    audit = pl.read_csv(out / "audit.csv")
    assert audit.height == 14 + 2 + 1 and audit["answers"].sum() == 42
    assert audit.row(14, named=True)["reason"].startswith("3 errors (3 out of range")
    assert "clean" in data.about["command"]


def test_a_single_rule_has_its_options_as_flags(call: Call, crowd_folder: Path, tmp_path: Path) -> None:
    said = call("clean", "too-fast", crowd_folder, "-o", tmp_path / "out", "--share", "none", "--json")
    facts = json.loads(said.stdout)
    assert facts["rules"] == {
        "rule": ["too-fast[share=None]"],
        "people out": [0],
        "tasks out": [0],
        "answers out": [11],
        "flagged": [0],
    }
    assert facts["before"]["answers"] - facts["after"]["answers"] == 11


def test_votes_can_be_cleaned_and_gold_can_be_a_file(call: Call, tmp_path: Path) -> None:
    votes, checks, out = tmp_path / "votes.csv", tmp_path / "checks.csv", tmp_path / "out"
    votes.write_text("task,worker,label,seconds\nq,ann,x,3\nq,bo,y,4\na,ann,x,0.2\na,bo,x,3\nb,ann,y,2\n")
    checks.write_text("task,label\nq,x\n")
    said = call("clean", votes, "--rules", "attention-checks,too-fast", "--gold", checks, "-o", out)
    assert said.exit_code == 0, said.output
    left = pv.read(out).votes
    assert left is not None and left.columns()["task"].tolist() == ["b", "q"] and left.workers.tolist() == ["ann"]
    assert left.tasks.tolist() == ["a", "b", "q"]  # task a lost its votes but is still listed


def test_the_worst_workers_are_dropped_after_the_rules(call: Call, crowd_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("clean", crowd_folder, "--rules", "stored-twice", "--drop-workers", "gold-accuracy", "--quantile", 0.1)
    said = call(*words, "-o", out)
    assert said.exit_code == 0, said.output
    audit = pl.read_csv(out / "audit.csv")
    assert audit["rule"].unique(maintain_order=True).to_list() == ["stored-twice", "drop-workers gold-accuracy"]
    assert audit["worker"].to_list()[-1] == "still"
    both = call("clean", "toy", "--drop-tasks", "disagreement", "--quantile", 0.3, "-o", tmp_path / "toy", "--json")
    assert json.loads(both.stdout)["rules"]["tasks out"] == [67]


def test_tasks_with_counts_only_are_counted_too(call: Call, tmp_path: Path) -> None:
    votes = pv.Votes.of(["a", "a"], ["ann", "bo"], ["x", "y"])
    counts = pv.Votes.from_counts(np.array([[9, 0], [3, 2], [8, 0]]), ["a", "b", "c"], ["x", "y"])
    write(Dataset("made", votes=votes, counts=counts), tmp_path / "made")
    out = tmp_path / "out"
    said = call("clean", tmp_path / "made", "--drop-tasks", "entropy", "--quantile", 0.34, "-o", out)
    assert said.exit_code == 0 and said.stdout.splitlines()[-1] == f"kept 17 of 22 answers; wrote {out}"
    assert pl.read_csv(out / "audit.csv").select("task", "answers").rows() == [("b", 5)]


def test_an_earlier_audit_is_kept(call: Call, crowd_folder: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert call("clean", crowd_folder, "--rules", "stored-twice", "-o", first).exit_code == 0
    assert call("clean", first, "--rules", "contradiction", "-o", second).exit_code == 0
    assert pl.read_csv(second / "audit.csv").height == 1
    assert pv.read(second).tables["audit_1"]().height == 14


def test_votes_of_a_data_set_with_answers_are_dropped_with_a_note(
    call: Call, crowd_folder: Path, tmp_path: Path
) -> None:
    (crowd_folder / "votes.csv").write_text("task,worker,label\nimg00,ann,bird\n")
    said = call("clean", crowd_folder, "--rules", "stored-twice", "-o", tmp_path / "a")
    assert "the answers are cleaned; left out: votes" in said.stderr and not pv.read(tmp_path / "a").has("votes")
    said = call("clean", "straight-lining", crowd_folder, "-o", tmp_path / "b", "--part", "votes")
    assert said.exit_code == 0 and pv.read(tmp_path / "b").parts()[0] == "votes"


MISTAKES = {
    "IN -o OUT": "nothing to remove; give --rules LIST, --drop-workers SCORE or --drop-tasks SCORE",
    "IN -o OUT --rules to-fast": "there is no clean method 'to-fast'; did you mean 'too-fast'",
    "IN -o OUT --rules too-fast[second=1]": "there is no option of too-fast called 'second'; did you mean 'seconds'",
    "to-fast IN -o OUT": "there is no rule 'to-fast'; did you mean 'too-fast'",
    "IN -o OUT --drop-workers trace": "--drop-workers needs --quantile",
    "IN -o OUT --rules too-fast --quantile .1": "--quantile needs a score to drop by",
    "IN -o OUT --drop-tasks trace --quantile .1": "trace is a score of workers; --drop-tasks needs a score of tasks",
    "IN -o OUT --drop-workers trase --quantile .1": "did you mean 'trace'",
    "IN -o OUT --drop-workers trace --quantile 2": "quantile must be between 0 and 1",
    "IN -o IN --rules too-fast --force": "would overwrite the input",
    "toy -o OUT --rules too-fast": "too-fast needs the duration of each answer: give a column 'seconds'",
    "toy -o OUT --rules percent-out-of-range": "these are votes: give the answers table",
    "toy -o OUT --rules repeats-once": "--repeats first",
    "toy -o OUT --rules straight-lining --part answers": "toy has no answers to clean; it has votes, gold",
    "COUNTS -o OUT --rules straight-lining": "has counts without worker names",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_an_error_is_one_line_and_nothing_is_written(call: Call, crowd_folder: Path, tmp_path: Path, line: str) -> None:
    (tmp_path / "counts.csv").write_text("task,x,y\na,5,1\n")
    places = {"IN": crowd_folder, "OUT": tmp_path / "out", "COUNTS": tmp_path / "counts.csv"}
    said = call("clean", *(places.get(word, word) for word in line.split()))
    assert said.exit_code == 2, said.output
    assert MISTAKES[line] in said.stderr and said.stderr.splitlines()[-1].startswith("error: ")
    assert not (tmp_path / "out").exists()


def test_the_help_shows_both_forms_and_all_rules(call: Call) -> None:
    words = call("clean", "--help").stdout
    assert "plurivox clean INPUT --rules LIST" in words and "plurivox clean RULE INPUT" in words
    assert "--drop-workers" in words and "stored-twice" in words


def test_the_shell_completes_rules_and_scores() -> None:
    from interfaces.cli.test_help import completed

    assert completed("clean", "x.csv", "--rules", incomplete="too-fast,col") == {
        "too-fast,collins2022",
        "too-fast,collins2022-released",
    }
    assert completed("clean", "x.csv", "--drop-workers", incomplete="tra") == {"trace", "trace-pooled"}
    assert "stored-twice" in completed("clean", incomplete="sto")
    assert completed("clean", incomplete="--drop-w") == {"--drop-workers"}


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
def test_cifar10s_is_cleaned(call: Call, data_set: Callable[[str], Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = call("clean", data_set("cifar10s"), "--rules", "stored-twice,collins2022,repeats-once", "-o", out)
    assert said.exit_code == 0, said.output
    left = pv.read(out)
    assert left.answers is not None and len(left.answers) == 6200 and len(left.answers.workers) == 248
    assert {"gold", "soft_labels"} <= set(left.parts()) and "published_labels" in left.tables
    audit = pl.read_csv(out / "audit.csv")
    assert audit["answers"].sum() == 523 and (audit["did"] == "flagged").sum() == 40
