"""`-` as input and output of commands, and tables shown on the screen without -o."""

import gzip
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

from interfaces.cli.cli_process import PYTHON, environment
from interfaces.cli.conftest import VOTES
from plurivox.cli.main import main

Call = Callable[..., Result]
HEAD = "task,label,confidence,estimates,p:cat,p:dog\n"
FRAME = pl.read_csv(VOTES.encode())


def parquet() -> bytes:
    buffer = io.BytesIO()
    FRAME.write_parquet(buffer)
    return buffer.getvalue()


def votes_npz(tmp_path: Path) -> bytes:
    import plurivox as pv

    pv.votes(FRAME).save(tmp_path / "votes.npz")
    return (tmp_path / "votes.npz").read_bytes()


def pipe(given: bytes | str, *words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], input=given)


@pytest.mark.parametrize(
    "given",
    [
        VOTES.encode(),
        b"\xef\xbb\xbf" + VOTES.replace(",", ";").replace("\n", "\r\n").encode(),
        VOTES.replace(",", "\t").encode(),
        gzip.compress(VOTES.encode()),
        parquet(),
        FRAME.write_json().encode(),
        json.dumps(FRAME.to_dicts(), indent=2).encode(),
        FRAME.write_ndjson().encode(),
        "npz",
    ],
    ids=["csv", "semicolons", "tsv", "gzip", "parquet", "json", "indented json", "jsonl", "npz"],
)
def test_votes_are_read_from_stdin_and_soft_labels_written_to_stdout(given: bytes | str, tmp_path: Path) -> None:
    made = pipe(votes_npz(tmp_path) if given == "npz" else given, "aggregate", "vote-shares", "-", "-o", "-")
    assert made.exit_code == 0, made.output
    assert made.stdout.startswith(HEAD) and made.stdout.count("\n") == 4
    assert made.stderr.splitlines()[-1] == "vote-shares: 3 tasks; estimates people; wrote standard output"


def test_json_lines_of_one_record_are_not_a_json_document() -> None:
    made = pipe('{"task": "a", "worker": "ann", "label": "x"}\n', "convert", "-", "-")
    assert made.stdout == "task,worker,label\na,ann,x\n"


def test_messages_and_json_name_stdin_and_not_a_file(call: Call) -> None:
    made = pipe("task,worker,label\na,ann,cat\n,ann,cat\n", "describe", "-", "--json")
    assert json.loads(made.stdout)["input"] == "-"
    bad = pipe("task,worker,task\na,ann,cat\n", "describe", "-")
    assert bad.exit_code == 2 and bad.stderr.startswith("error: duplicate column names in standard input: ")
    advice = pipe(VOTES, "recommend", "-", "--methods", "vote-shares").stdout.splitlines()[-1]
    assert advice.startswith("Next: plurivox aggregate ") and advice.endswith(" - -o truth.csv")


@pytest.mark.parametrize(
    ("given", "words", "said"),
    [
        ("", ("describe", "-"), "standard input is empty; pipe a table into it"),
        (VOTES, ("evaluate", "-", "-"), "- (standard input) is given twice"),
        (VOTES, ("aggregate", "wawa", "-", "--save", "-"), "--save cannot be written to standard output (-)"),
        (VOTES, ("aggregate", "wawa", "-", "-o", "-", "--workers-out", "-"), "two outputs are - (standard output)"),
        (VOTES, ("aggregate", "wawa", "-", "-o", "-", "--json"), "--json and --out - both write to standard output"),
        (
            VOTES,
            ("agreement", "-", "-o", "-"),
            "--out cannot be written to standard output (-); give the name of a folder",
        ),
        (gzip.compress(VOTES.encode())[:-9], ("describe", "-"), "standard input is damaged or incomplete"),
    ],
)
def test_errors_of_standard_streams_are_one_line(given: str | bytes, words: tuple[str, ...], said: str) -> None:
    made = pipe(given, *words)
    assert made.exit_code == 2 and made.stderr.startswith(f"error: {said}") and made.stderr.count("\n") == 1


def test_a_second_input_can_be_stdin(votes_file: Path) -> None:
    made = pipe("task,label\na,dog\nb,dog\n", "aggregate", "dawid-skene", votes_file, "--gold", "-", "-o", "-", "-q")
    assert made.stderr == "" and [line.split(",")[1] for line in made.stdout.splitlines()[1:3]] == ["dog", "dog"]


@pytest.mark.long
def test_a_pipe_closed_by_its_reader_is_quiet() -> None:
    many = b"task,worker,label\n" + b"".join(b"t%d,w,x\n" % i for i in range(50_000))
    with subprocess.Popen(
        [*PYTHON, "convert", "-", "-"],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        assert run.stdin is not None and run.stdout is not None and run.stderr is not None
        run.stdin.write(many)
        run.stdin.close()
        assert run.stdout.readline() == b"task,worker,label\n"
        run.stdout.close()
        assert run.stderr.read() == b""


@pytest.mark.long
def test_a_terminal_is_not_waited_for() -> None:
    terminal, its_end = pty.openpty()
    run = subprocess.run([*PYTHON, "describe", "-"], env=environment(), stdin=its_end, capture_output=True, text=True)
    os.close(its_end)
    os.close(terminal)
    assert run.returncode == 2 and run.stderr.startswith("error: - reads standard input, which is a terminal")


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell with process substitution")
def test_the_output_of_a_command_can_be_an_input(votes_file: Path) -> None:
    line = f"{' '.join(PYTHON)} describe <(cat {votes_file}) --json"
    run = subprocess.run(["bash", "-c", line], env=environment(), capture_output=True, text=True, check=True)
    assert json.loads(run.stdout)["n_votes"] == 6


ANSWERS = "task,worker,top,top_percent\n" + "".join(
    f"t{i},w{j},{'xy'[(i + j) % 2]},60\n" for i in range(6) for j in range(2)
)


@pytest.mark.parametrize(
    ("given", "words", "head", "closing"),
    [
        (ANSWERS, ("elicit", "top-two", "-"), "task  worker  label", "... and 14 more votes; -o FILE writes all"),
        (
            "",
            ("simulate", "hammer-spammer", "--n-tasks", "1", "--feedback", "1"),
            "task",
            ": 1 vote of 30 workers on 1 task;",
        ),
        (VOTES, ("convert", "-"), "task  worker  label\na     ann     cat\n", "- contains votes; shown: votes"),
        (VOTES, ("clean", "-", "--rules", "straight-lining"), "rule", "kept 6 of 6 answers; nothing was written"),
    ],
)
def test_without_out_the_first_rows_are_shown(given: str, words: tuple[str, ...], head: str, closing: str) -> None:
    made = pipe(given, *words)
    assert made.exit_code == 0 and made.stdout.startswith(head) and closing in made.stdout, made.output


def test_cleaned_and_simulated_votes_go_through_pipes() -> None:
    votes = pipe("", "simulate", "hammer-spammer", "--n-tasks", "20", "-o", "-")
    kept = pipe(votes.stdout, "clean", "straight-lining", "-", "-o", "-")
    assert kept.stdout.startswith("task,worker,label\n") and kept.stderr.splitlines()[-1].endswith(
        "wrote standard output"
    )
    assert pipe(kept.stdout, "agreement", "-", "--json").exit_code == 0


def test_a_plan_of_batches_is_shown(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("task,stratum\n" + "".join(f"t{i},easy\n" for i in range(30)))
    words = ("assign", "tasks-per-stratum", tmp_path / "items.csv", "--counts", "easy=15", "--twice", "0")
    made = pipe("", *words)
    assert made.stdout.startswith("batch        position  task") and "more rows; -o FILE writes all" in made.stdout
    assert np.unique(pl.read_csv(pipe("", *words, "-o", "-").stdout.encode())["batch"]).size == 2
