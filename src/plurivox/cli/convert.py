"""`plurivox convert INPUT OUT`: write data in another file format."""

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
    Argument,
    Choice,
    Flag,
    Source,
    check_distinct_files,
)


def run_convert(
    screen: Screen, source: Source, output: Path, form: str, part: str | None, force: bool
) -> CommandResult:
    """Run `plurivox convert`: read the input and write it in the format of the file suffix or, for a folder, of --form."""
    from plurivox import io

    check_distinct_files(source, output)
    data = io.convert(
        source.path_or_dataset_to_read, output, form=form, part=part, replace=force, **source.read_options
    )
    document = {"command": screen.quoted_command_line, "input": source.name, "out": output, "parts": data.parts()}
    return CommandResult(document, summary=f"read {source.name}; wrote {output}")


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
        *READING_FLAGS,
        PART,
    ],
    computes=True,
    callback=run_convert,
    help="Convert data between file formats.",
)
