"""`plurivox convert IN OUT`: the same data in another form of file."""

from pathlib import Path

import click

from plurivox.cli._command import Command
from plurivox.cli._files import FORCE, IN_AND_OUT, INPUT, READING_FLAGS, Source
from plurivox.cli._flags import Operand
from plurivox.cli._show import Answer, Screen


def run(screen: Screen, source: Source, output: Path, force: bool) -> Answer:
    """Hand both ends to io, which knows the forms."""
    from plurivox import io

    io.convert(source.where, output, replace=force, **source.how)
    return Answer({"command": screen.command, "input": source.where, "out": output}, line=f"{source.where} -> {output}")


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
        FORCE,
        *READING_FLAGS,
    ],
    works=True,
    callback=run,
    help="Carry data from one form of file to another.",
)
