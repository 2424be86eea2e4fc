"""`plurivox recommend` run as a user would."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Call = Callable[..., Result]


def test_says_what_to_use_and_how_to_go_on(call: Call, tmp_path: Path) -> None:
    done = call("recommend", "toy", "--methods", "vote-shares,wawa", "-o", tmp_path / "r.md")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("use ") and "Next: plurivox aggregate " in done.stdout
    assert "| wawa |" in (tmp_path / "r.md").read_text()


def test_json_has_every_candidate(call: Call) -> None:
    done = call("recommend", "toy", "--for", "people", "--methods", "vote-shares", "--json")
    found = json.loads(done.stdout)
    assert found["for"] == "people" and "vote-shares" in found["candidates"]["method"]
    assert len(found["expected"]["manhattan"]) == 3


def test_an_unknown_question_lists_the_known_ones(call: Call) -> None:
    done = call("recommend", "toy", "--for", "trut")
    assert done.exit_code == 2 and "truth" in done.output
