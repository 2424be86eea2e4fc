"""`plurivox elicit FORM INPUT -o OUT`: convert answers, as people entered them, into votes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.output import CommandResult, Screen, first_rows_text
from plurivox.cli._click.parameters import FORCE, INPUT, READING_FLAGS, Source, check_distinct_files, out_flag
from plurivox.cli._method_commands import MethodGroup
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.count_text import count_text
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.elicit import Elicited, Form


def params_of_elicit_beside_form_options(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the arguments and options of `plurivox elicit FORM`, without those of the form."""
    del method
    out = out_flag(
        "a new data-set folder, or a table of votes: .csv, .parquet or .jsonl  [default: show the first votes]",
        metavar="OUT",
        folder=True,
        stdout_suffix=".csv",
    )
    return [INPUT, out, FORCE, *READING_FLAGS]


def run_elicit(screen: Screen, method: "Form", source: Source, out: Path | None, force: bool) -> CommandResult:
    """Run `plurivox elicit`: read the answers, convert them into votes, write the votes, or show the first."""
    from plurivox.workflows.convert_answers_to_votes import elicit_votes, write_elicited

    check_distinct_files(source, out)
    data = source.read_dataset()
    found = elicit_votes(data, method)
    if out is not None:
        write_elicited(found, out, data, command=screen.quoted_command_line, replace=force)
    return make_elicit_command_result(screen, found, out)


def make_elicit_command_result(screen: Screen, elicited: "Elicited", written_path: Path | None) -> CommandResult:
    """Return the output of `plurivox elicit`: numbers of answers converted to votes, skipped, and odd by kind."""
    from plurivox.elicit import FLAGS

    votes, counts = elicited.votes, elicited.outcome_counts
    document = {
        "command": screen.quoted_command_line,
        "out": written_path,
        "by": elicited.made_by,
        **votes.summary_values(),
        "odd": elicited.flag_counts,
    }
    document |= {name.replace("-", "_"): n for name, n in counts.items()}
    rows = [(name, f"{n:,}", FLAGS[name][1]) for name, n in elicited.flag_counts.items()]
    read_text = f"{count_text(counts['read'], 'answer')} as {count_text(len(votes), 'vote')}"
    not_read = ", ".join(f"{n:,} {name}" for name, n in counts.items() if n and name != "read")
    line = f"{elicited.made_by}: {read_text}{f' ({not_read})' if not_read else ''}"
    texts = [aligned_table_text(rows)] if rows and not screen.quiet else []
    if written_path is None:
        texts.insert(0, first_rows_text(votes.columns(), "vote"))
    wrote = f"; wrote {written_path}" if written_path else ""
    return CommandResult(document, text="\n\n".join(texts), summary=line + wrote)


elicit = MethodGroup(
    "elicit",
    run_elicit,
    params_of_elicit_beside_form_options,
    help="Convert answers (as people entered them) into votes: plurivox elicit FORM INPUT -o OUT.",
)
