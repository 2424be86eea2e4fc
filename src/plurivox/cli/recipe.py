"""`plurivox recipe NAME [-o FOLDER]`: run a whole experiment; print its tables and write them to files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import IN_AND_OUT, Flag, OutFolder
from plurivox.cli._method_commands import MethodGroup
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.recipes import Recipe


def params_of_recipe_beside_recipe_options(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the options of `plurivox recipe NAME`, without those of the recipe."""
    del method
    out = Flag(
        ["-o", "--out"],
        IN_AND_OUT,
        type=OutFolder(),
        metavar="FOLDER",
        help="folder to write the tables to: one .csv per table, and all tables as .md, .tex and .npz",
    )
    force = Flag(["--force"], IN_AND_OUT, is_flag=True, help="replace the tables of an earlier run in this folder")
    return [out, force]


def run_recipe(screen: Screen, method: "Recipe", out: Path | None, force: bool) -> CommandResult:
    """Run `plurivox recipe`: run an experiment, show its tables and write them to the folder `out`."""
    from plurivox.core.recipe_tables import check_folder_empty_or_only_tables

    if out is not None:
        check_folder_empty_or_only_tables(out, replace=force)
    with screen.show_progress_bar_while_block_runs(method.name()) as progress:
        made = method.run(progress=progress)
    if out is not None:
        made.write_tables_to_folder(out, replace=force)
    tables = {table.title: table.columns() for table in made.tables}
    document = {
        "command": screen.quoted_command_line,
        "title": made.title,
        "by": made.made_by,
        "tables": tables,
        "table_notes": {table.title: table.notes for table in made.tables if table.notes},
        "out": out,
    }
    return CommandResult(document, text=made.text(), summary=f"wrote {out}" if out else "")


recipe = MethodGroup(
    "recipes",
    run_recipe,
    params_of_recipe_beside_recipe_options,
    help="Run an experiment, such as the tables of a paper: plurivox recipe NAME.",
)
