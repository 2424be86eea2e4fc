"""A command reads every file once, and imports only public names of other packages."""

import ast
import inspect
import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from click.testing import Result

import plurivox.cli

opened: Counter[str] = Counter()
ROOT = Path(plurivox.cli.__file__).parent
EXPORT = [
    {"id": n, "data": {}, "annotations": [{"completed_by": w, "result": [said]} for w in (1, 2)]}
    for n in range(3)
    for said in ({"from_name": "c", "type": "choices", "value": {"choices": ["cat" if n else "dog"]}},)
]
ANSWERS = "task,worker,top,top_percent,second\na,ann,cat,70,dog\na,bo,cat,,\nb,ann,dog,60,cat\nb,bo,dog,60,cat\n"


def _count(event: str, args: tuple[object, ...]) -> None:
    if event == "open" and isinstance(args[0], str) and args[1] in ("r", "rb"):
        opened[args[0]] += 1


sys.addaudithook(_count)  # an audit hook cannot be removed; it adds very little time to later tests


@pytest.fixture
def folder(votes_file: Path) -> Path:
    """Create votes, gold labels, answers, a Label Studio export and a data set in the working directory."""
    home = votes_file.parent
    (home / "gold.csv").write_text("task,label\na,cat\nb,dog\nc,dog\n")
    (home / "soft.csv").write_text("task,p:cat,p:dog\na,0.6,0.4\nb,0.3,0.7\nc,0.1,0.9\n")
    (home / "answers.csv").write_text(ANSWERS)
    (home / "items.csv").write_text("task\na\nb\n")
    (home / "export.json").write_text(json.dumps(EXPORT))
    (home / "plain.json").write_text(json.dumps([{"task": "a", "worker": "w", "label": "x"}]))
    (home / "both").mkdir()
    for name in ("votes.csv", "gold.csv"):
        shutil.copy(home / name, home / "both")
    (home / "both" / "counts.csv").write_text("task,cat,dog\na,3,1\nb,0,4\nc,2,2\nd,1,1\n")
    return home


COMMANDS = {
    "aggregate dawid-skene votes.csv -o out.csv": "votes.csv",
    "aggregate vote-shares export.json -o out.csv": "export.json",
    "aggregate vote-shares plain.json -o out.csv": "plain.json",
    "aggregate dawid-skene both --part votes --gold -o out.csv": "both/votes.csv both/gold.csv",
    "aggregate vote-shares both -o out.csv": "both/votes.csv both/counts.csv",
    "compare votes.csv both --gold gold.csv --methods vote-shares,wawa": "votes.csv gold.csv both/votes.csv both/counts.csv",
    "describe both": "both/votes.csv both/counts.csv both/gold.csv",
    "describe answers.csv": "answers.csv",
    "identify rank votes.csv --scores trace,agreement-with-rest": "votes.csv",
    "identify gold-accuracy votes.csv --gold gold.csv": "votes.csv gold.csv",
    "clean both --drop-tasks entropy --quantile 0.4 -o out": "both/votes.csv both/counts.csv both/gold.csv",
    "elicit top-two answers.csv -o out": "answers.csv",
    "evaluate soft.csv gold.csv --against votes.csv": "soft.csv gold.csv votes.csv",
    "evaluate export.json export.json": "export.json",
    "evaluate soft.csv both --against both --part votes": "soft.csv both/votes.csv both/gold.csv",
    "assign next-best votes.csv": "votes.csv",
    "assign quota items.csv": "items.csv",
    "convert votes.csv out.parquet": "votes.csv",
    "convert export.json out": "export.json",
}


@pytest.mark.parametrize("line", COMMANDS)
def test_every_file_is_read_once(
    call: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(folder)
    opened.clear()
    said = call(*line.split())
    seen = {str(Path(name).resolve().relative_to(folder)): n for name, n in opened.items() if _is_in(name, folder)}
    assert said.exit_code == 0, said.output
    assert {name: n for name, n in seen.items() if name in COMMANDS[line].split()} == dict.fromkeys(
        COMMANDS[line].split(), 1
    )


def test_plain_votes_are_not_read_by_other_formats(call: Callable[..., Result], folder: Path) -> None:
    passed: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_flags & inspect.CO_NEWLOCALS and frame.f_code.co_name != "<module>":
            passed.add(frame.f_code.co_filename.rpartition("/plurivox/")[2])

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        said = call("aggregate", "vote-shares", folder / "votes.csv", "-o", folder / "out.csv")
    finally:
        sys.setprofile(before)
    assert said.exit_code == 0 and "io/votes_from_tables.py" in passed
    strangers = (
        "io/formats/",
        "io/answers_from_tables",
        "io/plurivox_folder",
        "io/dataset_catalog",
        "io/features",
        "workflows/score",
    )
    assert not [name for name in passed if name.startswith(strangers)]
    assert len([name for name in passed if name.startswith("io/")]) <= 16


def _is_in(name: str, folder: Path) -> bool:
    return Path(name).resolve().is_relative_to(folder)


def test_the_command_line_imports_only_public_names() -> None:
    private = [
        f"{file.name}: {name}"
        for file in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in _imported(node)
        if not name.startswith("plurivox.cli") and any(part.startswith("_") for part in name.split("."))
    ]
    assert not [one for one in private if "__future__" not in one]


def _imported(node: ast.AST) -> list[str]:
    """Return the names that an import statement imports, with their modules."""
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{one.name}" for one in node.names]
    return [one.name for one in node.names] if isinstance(node, ast.Import) else []
