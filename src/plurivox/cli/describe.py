"""`plurivox describe INPUT`: show sizes, agreement and accuracy of votes, or statistics of answers."""

from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import GOLD, INPUT, READING, READING_FLAGS, Choice, Flag, Source
from plurivox.core.aligned_table_text import aligned_table_text

if TYPE_CHECKING:
    from plurivox.workflows.describe_dataset import EnteredDescription

PART = Flag(
    ["--part"],
    READING,
    type=Choice("part", ("votes", "counts", "answers")),
    help="describe votes, counts or answers, if a data set has several  [default: votes or counts, else answers]",
)


def run_describe(screen: Screen, source: Source, gold: Path | None, part: str | None) -> CommandResult:
    """Run `plurivox describe`: read votes or answers, and gold labels if there are any, and show their statistics."""
    del screen
    from plurivox.workflows.describe_dataset import EnteredDescription
    from plurivox.workflows.describe_dataset import describe as describe_data

    data = source.read_dataset()
    description = describe_data(data, gold, part=part)
    odd_entries = odd_entries_text(description) if isinstance(description, EnteredDescription) else ""
    document = {"input": source.name, "name": data.name, **description.summary_values()}
    return CommandResult(document, text=aligned_table_text(description.rows()) + odd_entries)


def odd_entries_text(description: "EnteredDescription") -> str:
    """Return one line per kind of odd entry: its count, and how `plurivox elicit` converts it."""
    if description.read_by is None:
        return ""
    rows = description.odd_entry_kinds_and_counts()
    title = f"odd entries, and how {description.read_by} converts them"
    return f"\n\n{title}\n{aligned_table_text(rows)}" if rows else "\nodd entries: none"


describe = Command(
    "describe",
    params=[INPUT, GOLD, *READING_FLAGS, PART],
    computes=True,
    callback=run_describe,
    help="Show votes per task, agreement and (with gold labels) accuracy; or statistics of answers, as people entered them.",
)
