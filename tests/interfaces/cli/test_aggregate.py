"""`plurivox aggregate`: from a file of votes to a file of soft labels."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result

import plurivox as pv
from plurivox.core.results import Fit

Call = Callable[..., Result]


def test_soft_labels_are_written_and_one_line_is_printed(call: Call, votes_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "soft.csv"
    said = call("aggregate", "vote-shares", votes_file, "-o", out)
    assert said.exit_code == 0, said.output
    assert said.stdout == f"vote-shares: 3 tasks; estimates people; wrote {out}\n"
    head, first = out.read_text().splitlines()[:2]
    assert head == "task,label,confidence,estimates,p:cat,p:dog"
    assert first.startswith("a,cat,0.66")


def test_options_reach_the_method_and_ties_are_reported(call: Call, votes_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "soft.csv"
    said = call("aggregate", "majority-vote", votes_file, "-o", out, "--ties", "share")
    assert said.stdout == f"majority-vote[ties=share]: 3 tasks (ties: 1); estimates truth; wrote {out}\n"
    assert "b,cat,0.5,truth,0.5,0.5" in out.read_text()


def test_json_is_one_document_and_nothing_else(call: Call, votes_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "soft.csv"
    said = json.loads(call("aggregate", "majority-vote", votes_file, "-o", out, "--json", "--seed", 3).stdout)
    wanted = {"by": "majority-vote[seed=3]", "tasks": 3, "workers": 3, "labels": 2, "ties": 1, "out": str(out)}
    assert wanted.items() <= said.items()
    assert said["command"] == f"plurivox aggregate majority-vote {votes_file} -o {out} --json --seed 3"
    assert said["notes"] == []


def test_quiet_prints_nothing(call: Call, votes_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "soft.csv"
    said = call("aggregate", "vote-shares", votes_file, "-o", out, "--quiet", "--missing", "dog")
    assert (said.exit_code, said.output) == (0, "") and out.exists()


def test_dropped_rows_are_noted_on_stderr_and_in_json(call: Call, votes_file: Path, tmp_path: Path) -> None:
    words = ("aggregate", "vote-shares", votes_file, "-o", tmp_path / "soft.csv", "--missing", "dog")
    said = call(*words)
    assert said.stderr.startswith("note: 3 rows have the label 'dog'") and "note: " not in said.stdout
    assert "(tasks without votes: 1)" in said.stdout
    assert json.loads(call(*words, "--json").stdout)["notes"][0].startswith("3 rows have the label 'dog'")


def test_reading_options_set_columns_and_labels(call: Call, tmp_path: Path) -> None:
    table, out = tmp_path / "odd.tsv", tmp_path / "soft.csv"
    table.write_text("q\twho\tsays\na\tann\tyes\na\tann\tno\n")
    words = ("--task", "q", "--worker", "who", "--label", "says", "--labels", "yes,no,perhaps", "--repeats", "last")
    assert call("aggregate", "vote-shares", table, "-o", out, *words).exit_code == 0
    assert out.read_text().splitlines() == [
        "task,label,confidence,estimates,p:yes,p:no,p:perhaps",
        "a,no,1.0,people,0.0,1.0,0.0",
    ]


def test_an_order_that_the_method_does_not_use_is_noted(call: Call, votes_file: Path, tmp_path: Path) -> None:
    plain, ordered = tmp_path / "plain.csv", tmp_path / "ordered.csv"
    assert "order" not in call("aggregate", "average", str(votes_file), "-o", str(plain)).stderr
    found = call("aggregate", "average", str(votes_file), "--ordered", "-o", str(ordered))
    assert found.stderr.count("note: average does not use the order of the labels") == 1
    assert plain.read_text() == ordered.read_text()


def test_wide_reads_a_wide_table(call: Call, tmp_path: Path) -> None:
    table, out = tmp_path / "wide.csv", tmp_path / "soft.csv"
    table.write_text("task,ann,bo\na,x,y\nb,x,x\n")
    assert call("aggregate", "vote-shares", table, "-o", out, "--wide").exit_code == 0
    assert "a,x,0.5,people,0.5,0.5" in out.read_text()


@pytest.mark.parametrize("words", [["--worker", "ann,bo"], ["--worker", "ann", "--worker", "bo"]])
def test_worker_names_the_worker_columns_of_a_wide_table(call: Call, tmp_path: Path, words: list[str]) -> None:
    table, out = tmp_path / "wide.csv", tmp_path / "soft.csv"
    table.write_text("task,ann,bo,comment\na,x,y,dark\nb,x,x,far away\nc,y,y,fine\n")
    assert call("aggregate", "vote-shares", table, "-o", out, *words).exit_code == 0
    assert out.read_text().splitlines()[0] == "task,label,confidence,estimates,p:x,p:y"
    refused = call("aggregate", "vote-shares", table, "-o", out, "--wide")
    assert refused.exit_code == 2 and "column 'comment' of wide.csv cannot be a worker" in refused.stderr
    assert "--worker ann,bo" in refused.stderr


def test_worker_estimates_and_the_fit_can_be_written(call: Call, votes_file: Path, tmp_path: Path) -> None:
    workers, fit = tmp_path / "workers.csv", tmp_path / "fit.npz"
    words = ("-o", tmp_path / "soft.csv", "--workers-out", workers, "--save", fit)
    said = call("aggregate", "vote-shares", votes_file, *words)
    assert said.exit_code == 0 and "contains only their names" in said.stderr
    assert workers.read_text().split() == ["worker", "ann", "bo", "cy"]
    assert Fit.load(fit).made_by == "vote-shares"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--gold"], "has no gold labels; give them: gold="),
        (["--start", "no.npz"], "there is no file no.npz"),
        (["--repeats", "error", "--task", "worker", "--worker", "label", "--label", "task"], ""),
        (["--task", "query"], "query"),
    ],
)
def test_inconsistent_data_are_an_error(
    call: Call, votes_file: Path, tmp_path: Path, words: list[str], why: str
) -> None:
    said = call("aggregate", "vote-shares", votes_file, "-o", tmp_path / "soft.csv", *words)
    assert said.exit_code == 2 and why in said.stderr
    assert said.stderr.splitlines()[-1].startswith("error: ") and not (tmp_path / "soft.csv").exists()


def test_an_unknown_input_suggests_the_most_similar_data_set(call: Call, tmp_path: Path) -> None:
    said = call("aggregate", "vote-shares", "toi", "-o", tmp_path / "soft.csv")
    assert said.exit_code == 2 and "did you mean 'toy'?" in said.stderr


def test_an_unsupported_file_type_is_an_error(call: Call, votes_file: Path, tmp_path: Path) -> None:
    said = call("aggregate", "vote-shares", votes_file, "-o", tmp_path / "soft.docx")
    assert said.exit_code == 2 and "unsupported file type of" in said.stderr


def test_a_full_disk_prints_a_one_line_error(call: Call, votes_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from plurivox.io import soft_label_files

    def full(soft: object, path: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(soft_label_files, "write_soft", full)
    said = call("aggregate", "vote-shares", votes_file, "-o", votes_file.with_name("soft.csv"))
    assert said.exit_code == 2 and said.stderr.endswith("soft.csv: no space left on device\n")


@pytest.mark.parametrize(("words", "method"), [((), "log-pool"), (("--for", "people"), "calibrated-shares")])
def test_without_a_method_the_default_is_used_and_named(
    call: Call, votes_file: Path, tmp_path: Path, words: tuple[str, ...], method: str
) -> None:
    out = tmp_path / "soft.csv"
    for order in (("aggregate", votes_file, "-o", out, *words), ("aggregate", *words, votes_file, "-o", out)):
        said = call(*order)
        assert f"no method was given: used {method}" in said.stderr and said.stdout.startswith(f"{method}: ")
    assert pv.read_soft(out).estimates == (words[1] if words else "truth")


def test_without_out_the_first_tasks_are_shown(call: Call) -> None:
    said = call("aggregate", "vote-shares", "toy")
    assert said.stdout.startswith("task      label") and "... and 290 more tasks; -o FILE writes all" in said.stdout


def test_a_method_for_the_other_question_is_refused(call: Call, votes_file: Path) -> None:
    said = call("aggregate", "glad", votes_file, "--for", "people")
    assert said.exit_code != 0 and "the default for people is calibrated-shares" in said.stderr


def test_known_labels_come_from_a_file_or_from_the_data_set(call: Call, votes_file: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("task,label\na,dog\nb,dog\n")
    made = call("aggregate", "dawid-skene", "--gold", gold, votes_file, "-o", tmp_path / "soft.csv")
    assert made.exit_code == 0 and pl.read_csv(tmp_path / "soft.csv")["label"].to_list()[:2] == ["dog", "dog"]
    own = [call("aggregate", "dawid-skene", "toy", *flag).stdout for flag in (["--gold"], ["--gold", "own"], [])]
    assert own[0] == own[1] != own[2]
    taken = call("aggregate", "dawid-skene", "--gold", "toy", "-o", tmp_path / "soft.csv")
    assert taken.exit_code == 2 and "toy was taken as the value of --gold; give INPUT before --gold" in taken.stderr
