"""`plurivox elicit FORM INPUT -o OUT`: convert answers, as people entered them, into votes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.output import CommandResult, Screen, align_columns
from plurivox.cli._click.parameters import FORCE, INPUT, READING_FLAGS, Source, check_distinct_files, out_flag
from plurivox.cli._method_commands import MethodGroup
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.elicit import Elicited, Form


def elicit_params(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the arguments and options of `plurivox elicit FORM`, without those of the form."""
    del method
    out = out_flag(
        "a new data-set folder, or a table of votes: .csv, .parquet or .jsonl",
        required=True,
        metavar="OUT",
        folder=True,
    )
    return [INPUT, out, FORCE, *READING_FLAGS]


def run_elicit(screen: Screen, method: "Form", source: Source, out: Path, force: bool) -> CommandResult:
    """Run `plurivox elicit`: read the answers, convert them into votes, write the votes."""
    from plurivox.workflows.elicit_answers import elicit_votes, write_elicited

    check_distinct_files(source, out)
    data = source.read_dataset()
    found = elicit_votes(data, method)
    write_elicited(found, out, data, command=screen.command_line, replace=force)
    return elicit_result(screen, found, out)


def elicit_result(screen: Screen, elicited: "Elicited", out: Path) -> CommandResult:
    """Return the output of `plurivox elicit`: numbers of answers converted to votes, skipped, and odd by kind."""
    from plurivox.elicit import FLAGS

    votes, counts = elicited.votes, elicited.outcome_counts
    document = {
        "command": screen.command_line,
        "out": out,
        "by": elicited.made_by,
        **votes.info(),
        "odd": elicited.flag_counts,
    }
    document |= {name.replace("-", "_"): n for name, n in counts.items()}
    rows = [(name, f"{n:,}", FLAGS[name][1]) for name, n in elicited.flag_counts.items()]
    not_read = ", ".join(f"{n:,} {name}" for name, n in counts.items() if n and name != "read")
    line = (
        f"{elicited.made_by}: {counts['read']:,} answers as {len(votes):,} votes{f' ({not_read})' if not_read else ''}"
    )
    return CommandResult(
        document, text=align_columns(rows) if rows and not screen.quiet else "", summary=f"{line}; wrote {out}"
    )


elicit = MethodGroup(
    "elicit",
    run_elicit,
    elicit_params,
    help="Convert answers (as people entered them) into votes: plurivox elicit FORM INPUT -o OUT.",
)
