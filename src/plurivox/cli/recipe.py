"""`plurivox recipe NAME [-o FOLDER]`: a whole walk, its tables on the screen and in files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._build import MethodGroup
from plurivox.cli._click.flags import IN_AND_OUT, Flag, OutFolder
from plurivox.cli._click.screen import Answer, Screen
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.recipes import Recipe


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """Where the tables go."""
    del method
    out = Flag(
        ["-o", "--out"],
        IN_AND_OUT,
        type=OutFolder(),
        metavar="FOLDER",
        help="a new folder: one .csv a table, all of them as .md, .tex and .npz",
    )
    force = Flag(["--force"], IN_AND_OUT, is_flag=True, help="replace the tables of an earlier run")
    return [out, force]


def run(screen: Screen, method: "Recipe", out: Path | None, force: bool) -> Answer:
    """Walk, show, write."""
    from plurivox.core.tables import check_output_folder

    if out is not None:
        check_output_folder(out, replace=force)
    with screen.progress(method.name()) as progress:
        made = method.run(progress=progress)
    if out is not None:
        made.write(out, replace=force)
    tables = {one.title: one.columns() for one in made.tables}
    facts = {"command": screen.command, "title": made.title, "by": made.made_by, "tables": tables, "out": out}
    return Answer(facts, text=made.text(), line=f"-> {out}" if out else "")


recipe = MethodGroup("recipes", run, params, help="Walk a whole recipe: plurivox recipe NAME.")
