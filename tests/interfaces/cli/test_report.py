"""`plurivox report` run as a user would."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import plurivox as pv
from report_inputs import doubtful_dataset

Call = Callable[..., Result]
FEW = ("--methods", "vote-shares")


def test_it_writes_the_page_and_prints_the_questions_with_their_answers(call: Call, tmp_path: Path) -> None:
    done = call("report", "toy", *FEW, "-o", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert "Which tasks are hard?\nLook first at task-" in done.stdout and f"wrote {tmp_path / 'r.html'}" in done.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "plurivox report toy" in page


def test_json_has_the_summary(call: Call, tmp_path: Path) -> None:
    done = call("report", "toy", *FEW, "--for", "people", "-o", tmp_path / "r.html", "--json")
    found = json.loads(done.stdout)
    assert found["for"] == "people" and "Whom can one trust?" in found["summary"]


def test_commands_on_the_page_read_the_file_in_the_same_way(call: Call, tmp_path: Path) -> None:
    votes = tmp_path / "my votes.csv"
    votes.write_text(
        "image,who,answer\n" + "".join(f"i{i},w{w},{'yes' if i % 2 else 'no'}\n" for i in range(8) for w in range(3))
    )
    done = call(
        "report", votes, *FEW, "--task", "image", "--worker", "who", "--label", "answer", "-o", tmp_path / "r.html"
    )
    assert done.exit_code == 0, done.output
    assert "my votes.csv&#39; --task image --worker who --label answer" in (tmp_path / "r.html").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "r.pdf"), ".html"),
        (("-o", "r.html", "--run", "nowhere"), "nowhere"),
        (("-o", "r.html", "--methods", "dawid-sken"), "dawid-skene"),
        (("-o", "r.html", "--for", "fun"), "truth"),
        ((), "--out"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_computed(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("report", "toy", *words)
    assert done.exit_code == 2 and said in done.output and not list(tmp_path.iterdir())


def test_pdf_needs_a_browser_and_says_so_at_once(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLURIVOX_CHROMIUM", "no-such-browser")
    done = call("report", "toy", "-o", tmp_path / "r.html", "--pdf")
    assert done.exit_code == 2 and "no-such-browser" in done.output and not (tmp_path / "r.html").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")  # of the repeats
def test_the_commands_of_the_next_steps_run_on_votes_with_repeats_and_workers_to_drop(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = doubtful_dataset()
    pv.write(data, "votes")
    (section,) = [one for one in pv.report("votes", methods="vote-shares").page.sections if one.id == "next-steps"]
    lines = [step.command for block in section.blocks for step in block.steps if step.command]
    assert len(lines) >= 5
    (tmp_path / "gold.csv").write_text("task,label\ntask-00,yes\n")
    done = {line: call(*shlex.split(line)[1:]) for line in lines}
    assert not {line: one.output for line, one in done.items() if one.exit_code}
