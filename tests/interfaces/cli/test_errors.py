"""A user error prints one line on stderr and exits with code 2, without a traceback."""

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import Result

from plurivox.cli._click.output import CommandResult
from plurivox.cli._click.parameters import INPUT, READING_FLAGS
from plurivox.cli._method_commands import MethodCommand
from plurivox.core.errors import OptionError
from plurivox.core.method import Method, option

Call = Callable[..., Result]

MISTAKES = {
    "agregate": "there is no command 'agregate'; did you mean 'aggregate'",
    "aggregate majorty-vote": "there is no method 'majorty-vote'; did you mean 'majority-vote'?",
    "aggregate majority-vote VOTES -o OUT --tie first": "there is no option '--tie'; did you mean '--ties'",
    "aggregate majority-vote VOTES -o OUT --ties most": "--ties must be one of first, random, share; got 'most'",
    "aggregate majority-vote VOTES -o OUT --seed -1": "--seed must be at least 0; got -1",
    "aggregate majority-vote VOTES -o OUT --seed few": "--seed must be a whole number; got 'few'",
    "aggregate majority-vote VOTES -o OUT --threads 0": "invalid value for '--threads'",
    "aggregate majority-vote VOTES -o OUT --labels ,": "is not a comma-separated list of labels",
    "aggregate VOTES -o OUT": "unsupported file type of",
    "aggregate majority-vote": "missing argument 'INPUT'",
    "aggregate majority-vote VOTES -o NOWHERE/out.csv": "does not exist; create it first",
    "aggregate majority-vote VOTES -o FOLDER": "is a folder; give the path of a file",
    "aggregate majority-vote VOTES -o VOTES": "is given twice",
    "aggregate majority-vote VOTES -o OUT.csv --workers-out OUT.csv": "is given twice",
    "aggregate majority-vote VOTES -o OUT.csv --save OUT": "a fit is saved as .npz",
    "aggregate wawa BOTH -o OUT.csv": "needs worker names; the counts of both (2 tasks) do not name workers. "
    "Use its votes (1 tasks): part='votes' (--part votes)",
    "convert VOTES VOTES": "is given twice",
    "convert VOTES OUT.csv --form peerannot": "the format peerannot is a folder, but out.csv is a file name",
    "convert VOTES FOLDER --force": "would overwrite the input",
    "convert toy MINE --force": "is not overwritten: it also contains 'diary.txt'",
    "simulate hammer-spammer -o MINE --force": "is not overwritten: it also contains 'diary.txt'",
    "simulate hammer-spammer -o . --force": ". is the current folder or one above it",
    "methods agregate": "there is no step 'agregate'; did you mean 'aggregate'?",
    "completion bsh": "there is no shell 'bsh'; did you mean 'bash'",
    "methods --jsn": "there is no option '--jsn'; did you mean '--json'? (see plurivox methods --help)",
    "simulate hammer-spammer -o OUT --ratio 2": "--ratio must be 0 to 1; got 2.0",
    "simulate hammer-spammer -o OUT --feedback 9 --n-workers 3": "feedback of 9 needs as many workers",
    "datasets install toi": "there is no bundled data set 'toi'; did you mean 'toy'",
    "datasets lst": "there is no command 'lst'; did you mean 'list'",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_user_error_is_one_line(call: Call, votes_file: Path, tmp_path: Path, line: str) -> None:
    places = {
        "VOTES": str(votes_file),
        "OUT": str(tmp_path / "out"),
        "OUT.csv": str(tmp_path / "out.csv"),
        "NOWHERE": str(tmp_path / "nowhere"),
        "FOLDER": str(tmp_path),
        "MINE": str(tmp_path / "mine"),
        "BOTH": str(tmp_path / "both"),
    }
    for name in ("mine", "both"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear")
    (tmp_path / "both" / "votes.csv").write_text("task,worker,label\na,ann,x\na,bo,y\n")
    (tmp_path / "both" / "counts.csv").write_text("task,x,y\na,5,1\nb,2,4\n")
    words = [places.get(head, head) + slash + tail for head, slash, tail in (w.partition("/") for w in line.split())]
    said = call(*words)
    assert said.exit_code == 2, said.output
    assert said.stdout == ""
    assert said.stderr.startswith("error: ") and said.stderr.count("\n") == 1
    assert MISTAKES[line] in said.stderr


def test_two_options_of_the_same_name_are_an_error() -> None:
    @dataclass(frozen=True)
    class Greedy(Method):
        """A method with an option whose name is already a flag of the command."""

        labels: int = option(1, "how many")

    with pytest.raises(OptionError, match="greedy has two options called --labels"):
        MethodCommand("greedy", Greedy, [INPUT, *READING_FLAGS], lambda: CommandResult({}))


def test_a_group_without_command_shows_its_help(call: Call) -> None:
    said = call("aggregate")
    assert said.exit_code == 2 and "majority-vote" in said.stderr and said.stdout == ""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("3 requested and 0 written"), "3 requested and 0 written"),
        (PermissionError(13, "Permission denied", "x.npz"), "x.npz: permission denied"),
        (IsADirectoryError(21, "Is a directory"), "is a directory"),
        (zipfile.BadZipFile("File is not a zip file"), "the data cannot be read or written: file is not a zip file"),
        (pl.exceptions.ComputeError("Bad column\n\nmore"), "the data cannot be read or written: bad column"),
        (MemoryError(), "out of memory"),
        (MemoryError("Unable to allocate 9 TiB"), "out of memory: unable to allocate 9 TiB"),
        (RuntimeError("DefaultCPUAllocator: can't"), "out of memory: defaultCPUAllocator: can't"),
        (
            ModuleNotFoundError("No module named 'polars'", name="polars"),
            "reading and writing tables needs polars and narwhals; run: pip install polars narwhals, or use .npz files",
        ),
        (EOFError("no more"), "unexpected end of a file: it is truncated (no more)"),
    ],
)
def test_an_operating_system_error_is_one_line(
    call: Call, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    import plurivox.cli.methods as module

    def fail(**given: object) -> CommandResult:
        raise error

    monkeypatch.setattr(module.methods, "callback", fail)
    told = call("methods")
    assert (told.exit_code, told.stdout, told.stderr) == (2, "", f"error: {said}\n")


def test_a_full_disk_is_one_line(call: Call, votes_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **more: object) -> None:
        raise OSError("6 requested and 0 written")

    monkeypatch.setattr(np, "save", full)
    told = call("aggregate", "vote-shares", votes_file, "-o", votes_file.with_name("o.npy"))
    assert told.exit_code == 2 and told.stderr.endswith("o.npy could not be written: 6 requested and 0 written\n")
    assert list(votes_file.parent.iterdir()) == [votes_file]


def test_a_bug_keeps_its_traceback(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    import plurivox.cli.methods as module

    monkeypatch.setattr(module.methods, "callback", lambda **given: 1 // 0)
    assert isinstance(call("methods").exception, ZeroDivisionError)
