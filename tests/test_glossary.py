"""The check of the vocabulary that `make lint` runs."""

from pathlib import Path

import pytest
from docs.glossary import faults_in, main


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("# three votes a task", ["'votes a task'; use per (votes per task)"]),
        ("class NounTable: ...", ["'Noun'; use data type"]),
        ('raise ValueError("x is no number")', ["'is no'; use is not a", "'no number'; use NaN, not a number"]),
        ("# agreement beyond chance; there is no file; votes per task", []),
        ("for node in ast.walk(tree): ...", []),
    ],
)
def test_words_to_replace_are_found_unless_they_mean_something_else(
    tmp_path: Path, line: str, found: list[str]
) -> None:
    file = tmp_path / "it.py"
    file.write_text(line + "\n")
    assert [fault.partition(": ")[2] for fault in faults_in(file)] == found
    assert main([str(tmp_path)]) == (1 if found else 0)


def test_code_blocks_of_documents_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("Rooms\n\n```\nrooms\n```\n")
    assert [fault.partition(": ")[0] for fault in faults_in(file)] == [f"{file.resolve().as_posix()}:1"]
