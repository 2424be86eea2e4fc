"""`plurivox recipe NAME [INPUT] [-o FOLDER]`: run a whole experiment; print its tables and write them to files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    GOLD,
    IN_AND_OUT,
    READING_FLAGS,
    SOURCE_NAME,
    Argument,
    Flag,
    OutFolder,
    Source,
)
from plurivox.cli._method_commands import MethodGroup
from plurivox.core.errors import OptionError
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.io import Dataset
    from plurivox.recipes import Recipe


def params_of_recipe_beside_recipe_options(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the arguments and options of `plurivox recipe NAME`, without those of the recipe.

    A recipe with the option `data` takes a data set as INPUT, one with the option `datasets` several, each with the options on
    how to read it.
    """
    out = Flag(
        ["-o", "--out"],
        IN_AND_OUT,
        type=OutFolder(),
        metavar="FOLDER",
        help="folder to write the tables to: one .csv per table, and all tables as .md, .tex and .npz",
    )
    force = Flag(["--force"], IN_AND_OUT, is_flag=True, help="replace the tables of an earlier run in this folder")
    own = {option.name for option in method.options()}
    reading = [flag for flag in READING_FLAGS if flag.name not in own]
    if "data" in own:
        return [_input_argument("input", "a data set", default=_default_of(method, "data")), out, GOLD, force, *reading]
    if "datasets" in own:
        default = _default_of(method, "datasets")
        return [_input_argument("inputs", "data sets", default=default, nargs=-1), out, GOLD, force, *reading]
    return [out, force]


def _input_argument(name: str, what: str, *, default: str, nargs: int = 1) -> Argument:
    """Return the argument INPUT of a recipe, which may be left out."""
    help = f"{what}: a file, a folder, the name of a data set, or - for standard input"
    metavar = "INPUT..." if nargs < 0 else "INPUT"
    default_text = f"  [default: {default}]" if default else ""
    return Argument(
        name, IN_AND_OUT, help + default_text, type=SOURCE_NAME, metavar=metavar, required=False, nargs=nargs
    )


def _default_of(method: type[Method], option_name: str) -> str:
    """Return the default of an option of a recipe as text."""
    return next(str(option.default) for option in method.options() if option.name == option_name)


def run_recipe(
    screen: Screen,
    method: "Recipe",
    out: Path | None,
    force: bool,
    source: Source | None = None,
    sources: tuple[Source, ...] = (),
    gold: Path | None = None,
) -> CommandResult:
    """Run `plurivox recipe`: run an experiment, show its tables and write them to the folder `out`."""
    from plurivox.core.recipe_tables import check_folder_empty_or_only_tables

    read_options: Mapping[str, Any] = {}
    if source is not None:
        given = [source.path_or_dataset_to_read] if source.name else []
        method, read_options = _with_data(method, "data", given), source.read_options
    elif sources:
        given = [one.path_or_dataset_to_read for one in sources]
        method, read_options = _with_data(method, "datasets", given), sources[0].read_options
    if out is not None:
        check_folder_empty_or_only_tables(out, replace=force)
    with screen.show_progress_bar_while_block_runs(method.name()) as progress:
        made = method.run(read=_reader_with_gold(read_options, gold), progress=progress)
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


def _reader_with_gold(read_options: Mapping[str, Any], gold: Path | None) -> "Callable[[str], Dataset]":
    """Return the function that reads a data set of a recipe with the given options, its gold labels from a file if given."""
    from plurivox import io

    def read_dataset_with_gold(name: str) -> "Dataset":
        """Return the data set with this name or path, its gold labels replaced by those of the file, if one is given."""
        data = io.read(name, **read_options)
        if gold is None:
            return data
        from plurivox.io.soft_label_inputs import as_soft_labels  # needs polars, which packed inputs do not

        return data.without("gold", gold=as_soft_labels(gold, data))

    return read_dataset_with_gold


def _with_data(recipe: "Recipe", option_name: str, inputs: list[str]) -> "Recipe":
    """Return the recipe with the data sets given as INPUT; raise OptionError if they are also given as an option."""
    if not inputs:
        return recipe
    if getattr(recipe, option_name) != _default_of(type(recipe), option_name):
        raise OptionError(f"the data are given twice: as INPUT and as --{option_name}; give INPUT only")
    return replace(recipe, **{option_name: ",".join(inputs)})


recipe = MethodGroup(
    "recipes",
    run_recipe,
    params_of_recipe_beside_recipe_options,
    help="Run an experiment, such as the tables of a paper, on its own data or yours: plurivox recipe NAME [INPUT].",
)
