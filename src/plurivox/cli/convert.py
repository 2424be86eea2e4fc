"""`plurivox convert INPUT OUT`: write data in another file format, or (`--for`) soft labels that answer the other question."""

from pathlib import Path

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    FORCE,
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    SOURCE_NAME,
    Argument,
    Choice,
    Flag,
    Source,
    check_distinct_files,
)
from plurivox.core.errors import InputError


def run_convert(
    screen: Screen,
    source: Source,
    output: Path,
    form: str,
    part: str | None,
    force: bool,
    to: str | None,
    model: Path | None,
    votes: str | None,
) -> CommandResult:
    """Run `plurivox convert`: read the input and write it in the format of the file suffix or, for a folder, of --form.

    With --for the input is a saved fit or soft labels, which are converted to estimates of the truth or of what people say.
    """
    from plurivox import io

    check_distinct_files(source, output)
    if to is not None:
        return convert_estimates_and_write(screen, source, output, to, model, votes)
    if model is not None or votes is not None:
        raise InputError("--model and --votes convert soft labels: add --for people or --for truth")
    data = io.convert(
        source.path_or_dataset_to_read, output, form=form, part=part, replace=force, **source.read_options
    )
    document = {"command": screen.quoted_command_line, "input": source.name, "out": output, "parts": data.parts()}
    return CommandResult(document, summary=f"read {source.name}; wrote {output}")


def convert_estimates_and_write(
    screen: Screen, source: Source, output: Path, to: str, model: Path | None, votes: str | None
) -> CommandResult:
    """Convert a saved fit or soft labels to estimates of the truth or of what people say, and write them."""
    from plurivox import io
    from plurivox.workflows import convert_estimates

    for other in filter(None, (model, votes)):
        check_distinct_files(Source(str(other), {}), output)
    labels = convert_estimates(source.name, to, model=model, votes=votes)
    for note in labels.notes:
        screen.print_note(note)
    io.write_soft(labels, output)
    document = {"command": screen.quoted_command_line, "input": source.name, "out": output, "estimates": to}
    return CommandResult(
        {**document, "tasks": len(labels)}, summary=f"estimates of {to}: {len(labels):,} tasks; wrote {output}"
    )


ESTIMATES = "Estimates of the truth and of what people say"
FORM = Flag(
    ["--form"],
    IN_AND_OUT,
    type=Choice("format", ("plurivox", "peerannot")),
    default="plurivox",
    help="format of OUT if it is a folder  [default: plurivox]",
)
convert = Command(
    "convert",
    params=[
        INPUT,
        Argument(
            "output",
            IN_AND_OUT,
            "a file (.csv, .parquet, .jsonl, ...; the suffix sets the format) or a data-set folder",
            type=click.Path(path_type=Path),
            metavar="OUT",
        ),
        FORM,
        FORCE,
        Flag(
            ["--for", "to"],
            ESTIMATES,
            type=Choice("estimate", ("truth", "people")),
            help="INPUT is a saved fit or soft labels: write the probability that a label is right (truth), or the share of "
            "people who would give it (people)",
        ),
        Flag(
            ["--model"],
            ESTIMATES,
            type=click.Path(path_type=Path),
            metavar="FIT.npz",
            help="saved fit of the truth (aggregate --save) that says how people err  [default: INPUT]",
        ),
        Flag(
            ["--votes"],
            ESTIMATES,
            type=SOURCE_NAME,
            metavar="VOTES",
            help="votes of the model: all count alike, and it needs no confusion matrices  [default: the mean of its matrices]",
        ),
        *READING_FLAGS,
        PART,
    ],
    computes=True,
    callback=run_convert,
    help="Convert data between file formats, or soft labels between the truth and what people say (--for).",
)
