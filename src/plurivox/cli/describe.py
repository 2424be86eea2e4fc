"""`plurivox describe INPUT`: what a crowd looks like, or what people entered."""

from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import GOLD, INPUT, READING, READING_FLAGS, Flag, OneOf, Source
from plurivox.cli._click.screen import Answer, Screen, table

if TYPE_CHECKING:
    from plurivox.workflows.describe_dataset import EnteredDescription

PART = Flag(
    ["--part"],
    READING,
    type=OneOf("part", ("votes", "counts", "answers")),
    help="which to look at where a data set has several  [default: votes or counts, else answers]",
)


def run(screen: Screen, source: Source, gold: Path | None, part: str | None) -> Answer:
    """Read the votes, or what people entered, and the gold where there is some, and show the figures."""
    del screen
    from plurivox.workflows.describe_dataset import EnteredDescription
    from plurivox.workflows.describe_dataset import describe as described

    data = source.read()
    about = described(data, gold, part=part)
    text = table(about.rows()) + (odd_text(about) if isinstance(about, EnteredDescription) else "")
    return Answer({"input": source.where, "name": data.name, **about.info()}, text=text)


def odd_text(about: "EnteredDescription") -> str:
    """What is odd, a line each, as `plurivox elicit` will read it."""
    if about.read_by is None:
        return ""
    rows = about.odd_rows()
    return f"\n\nodd entries, and how {about.read_by} reads them\n{table(rows)}" if rows else "\nodd entries: none"


describe = Command(
    "describe",
    params=[INPUT, GOLD, *READING_FLAGS, PART],
    works=True,
    callback=run,
    help="Show what a crowd looks like: votes per task, agreement, accuracy where gold is there; or what people entered.",
)
