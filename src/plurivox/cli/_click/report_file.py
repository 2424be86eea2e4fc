"""The file that a comparison or a judgement is written to: its text in the format of the ending, or the saved type."""

from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.core.errors import InputError
from plurivox.io.tabular.file_names import suffix_of

if TYPE_CHECKING:
    from plurivox.core.base import DataType

TEXTS = {".csv": "csv", ".md": "markdown", ".json": "json", ".tex": "latex"}  # ending -> the method that makes the text


def check_report(out: Path | None, what: str, endings: tuple[str, ...]) -> None:
    """Refuse, before the work begins, a file that `what` is not written as."""
    if out is not None and suffix_of(out) not in endings:
        raise InputError(f"{out} has an ending nobody knows; {what} is written as {', '.join(endings)}")


def write_report(made: "DataType", out: Path) -> None:
    """Write the text of the file's ending, whole or not at all; `.npz` keeps everything."""
    from plurivox.core.atomic_write import atomic_file

    if suffix_of(out) == ".npz":
        made.save(out)
        return
    text: str = getattr(made, TEXTS[suffix_of(out)])()
    with atomic_file(out) as part:
        part.write_text(text, encoding="utf-8")
