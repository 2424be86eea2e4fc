"""`plurivox compare` through its public face."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]


def test_methods_side_by_side(call: Call, tmp_path: Path) -> None:
    done = call("compare", "toy", "--methods", "vote-shares,majority-vote[ties=share]", "-o", str(tmp_path / "c.md"))
    assert (
        done.exit_code == 0 and "majority-vote[ties=share]" in done.stdout and "reference: vote-shares" in done.stdout
    )
    assert "| `vote-shares` |" in (tmp_path / "c.md").read_text()


def test_machines_get_every_row(call: Call) -> None:
    found = json.loads(call("compare", "toy", "--methods", "wawa,vote-shares", "--json").stdout)
    assert found["rows"]["method"] == ["wawa", "vote-shares"] and len(found["means"]["accuracy"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["toy", "--methods", "wawwa"], "no aggregate method 'wawwa'; did you mean 'wawa'"),
        (["toy", "--methods", "wawa", "--reference", "iwmv"], "no method in this comparison called 'iwmv'"),
        (["toy", "-o", "c.xlsx"], "c.xlsx has an ending nobody knows"),
        ([], "DATASET"),
    ],
)
def test_mistakes(call: Call, words: list[str], said: str) -> None:
    done = call("compare", *words)
    assert done.exit_code == 2 and said in done.stderr
