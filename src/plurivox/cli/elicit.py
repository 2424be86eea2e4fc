"""`plurivox elicit FORM INPUT -o OUT`: what people entered in, votes out."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._build import MethodGroup
from plurivox.cli._click.flags import FORCE, INPUT, READING_FLAGS, Source, keep_apart, out_flag
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.elicit import Elicited, Form


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """Where the answers are, and where the votes go."""
    del method
    out = out_flag(
        "a new data-set folder, or a table of votes: .csv, .parquet or .jsonl",
        required=True,
        metavar="OUT",
        folder=True,
    )
    return [INPUT, out, FORCE, *READING_FLAGS]


def run(screen: Screen, method: "Form", source: Source, out: Path, force: bool) -> Answer:
    """Read, elicit, write, tell."""
    from plurivox.workflows.elicit import elicit_votes, write_elicited

    keep_apart(source, out)
    data = source.read()
    found = elicit_votes(data, method)
    write_elicited(found, out, data, command=screen.command, replace=force)
    return told(screen, found, out)


def told(screen: Screen, found: "Elicited", out: Path) -> Answer:
    """How many answers were read, and what was odd about them."""
    from plurivox.elicit import FLAGS

    votes, fates = found.votes, {name.replace("-", "_"): n for name, n in found.outcome_counts.items()}
    facts = {
        "command": screen.command,
        "out": out,
        "by": found.made_by,
        **votes.info(),
        **fates,
        "odd": found.flag_counts,
    }
    rows = [(name, f"{n:,}", FLAGS[name][1]) for name, n in found.flag_counts.items()]
    apart = ", ".join(f"{n:,} {name}" for name, n in found.outcome_counts.items() if n and name != "read")
    line = f"{found.made_by}: {found.outcome_counts['read']:,} answers as {len(votes):,} votes{f' ({apart})' if apart else ''}"
    return Answer(facts, text=table(rows) if rows and not screen.quiet else "", line=f"{line} -> {out}")


elicit = MethodGroup(
    "elicit", run, params, help="Turn what people entered into votes: plurivox elicit FORM INPUT -o OUT."
)
