"""The commands in hand-written documents run and give the numbers printed there."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "soft_answers.md"


def test_the_commands_of_soft_answers_print_its_tables_and_numbers(
    call: Callable[..., Result], data_set: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run all commands of the page: every row of a table, every line of output and every number of the text is theirs."""
    data_set("cifar10s")
    data_set("cifar10h")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8")
    blocks = re.findall(r"^```\n(plurivox.*?)```", text, re.DOTALL | re.MULTILINE)
    said = [call(*shlex.split(line)[1:]) for block in blocks for line in block.splitlines()]
    assert len(said) == 5 and all(one.exit_code == 0 for one in said), [one.output for one in said]
    output = "\n".join([*(one.stdout for one in said), Path("tables/tables.md").read_text("utf-8")])

    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) > 100 and not set(rows) - set(output.splitlines())
    printed = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert len(printed) == 3 and not {line for block in printed for line in block.splitlines()} - set(
        output.splitlines()
    )

    prose = re.sub(r"```.*?```|^\|.*?$|https?://\S+", "", text, flags=re.DOTALL | re.MULTILINE)
    values = [float(one.replace(",", "")) for one in re.findall(r"-?[\d,]*\.\d+", output) if one.strip(",-") != "."]
    for number in re.findall(r"-?\d*\.\d{2,}", prose):
        digits = len(number.split(".")[1])
        assert any(abs(value - float(number)) <= 0.5001 * 10**-digits for value in values), number
    assert not re.search(r"plurivox\.\w", prose)  # public names only


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
