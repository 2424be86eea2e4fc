"""The commands in hand-written documents run and give the numbers printed there."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from plurivox.evaluate import Difference

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "soft_answers.md"
SLOW = ("recipe",)  # has a separate test


def test_the_commands_of_soft_answers_give_the_numbers_of_the_page(
    call: Callable[..., Result], data_set: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run all commands of the page, then its Python code on one method."""
    data_set("cifar10s")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    blocks = re.findall(r"```\n(plurivox.*?)```", text, re.DOTALL)
    lines = [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]
    said = [call(*line) for line in lines if line[0] not in SLOW]
    assert len(said) == 5 and all(one.exit_code == 0 for one in said), [one.output for one in said]
    assert "kept 6,200 of 6,723 answers" in said[0].stdout and "1,002" in said[1].stdout
    assert re.search(r"accuracy +0.9480", said[4].stdout) and re.search(r"nll +0.1781", said[4].stdout)

    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    scope: dict[str, object] = {}
    exec(block.replace("pv.aggregate.methods", "['vote-shares']"), scope)
    found = scope["found"]
    assert isinstance(found, Difference)
    (row,) = [line for line in text.splitlines() if line.startswith("| `vote-shares`")]
    told = zip(found.two, found.one, found.gain, found.low, found.high, strict=True)
    assert [cell.strip() for cell in row.split("|")[2:-1]] == [
        cell for a, b, g, low, high in told for cell in (f"{a:.4f}", f"{b:.4f}", f"{g:+.4f} [{low:+.4f}, {high:+.4f}]")
    ]


def test_the_commands_of_the_readme_run(
    call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the commands of the README in order, in an empty folder without installed data sets."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLURIVOX_DATA", raising=False)
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    lines = [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]
    done = {line[0]: call(*line) for line in lines}
    assert len(lines) == 9 and not [one.output for one in done.values() if one.exit_code]
    assert (tmp_path / "soft.csv").read_text().startswith("task,label,confidence,p:label-0,p:label-1,")


def test_links_between_pages_are_valid() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    links = [
        (page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    ]
    lost = [f"{page.name}: {link}" for page, link in links if "://" not in link and not (page.parent / link).exists()]
    assert len(links) > 40 and not lost
