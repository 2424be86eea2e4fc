"""`plurivox convert IN OUT`: the same data in another form of file."""

from pathlib import Path

import click

from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import (
    FORCE,
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Flag,
    OneOf,
    Operand,
    Source,
    keep_apart,
)
from plurivox.cli._click.screen import Answer, Screen


def run(screen: Screen, source: Source, output: Path, form: str, part: str | None, force: bool) -> Answer:
    """Hand both ends to io, which knows the forms."""
    from plurivox import io

    keep_apart(source, output)
    data = io.convert(source.place, output, form=form, part=part, replace=force, **source.how)
    facts = {"command": screen.command, "input": source.where, "out": output, "parts": data.parts()}
    return Answer(facts, line=f"{source.where} -> {output}")


FORM = Flag(
    ["--form"],
    IN_AND_OUT,
    type=OneOf("form", ("plurivox", "peerannot")),
    default="plurivox",
    help="the form of a folder  [default: plurivox]",
)
convert = Command(
    "convert",
    params=[
        INPUT,
        Operand(
            "output",
            IN_AND_OUT,
            "a file (.csv, .parquet, .jsonl, ...) or a data-set folder; its ending says the form",
            type=click.Path(path_type=Path),
            metavar="OUT",
        ),
        FORM,
        FORCE,
        *READING_FLAGS,
        PART,
    ],
    works=True,
    callback=run,
    help="Carry data from one form of file to another.",
)
