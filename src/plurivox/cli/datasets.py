"""`plurivox datasets list | info NAME | install NAME --from PATH`: the installed data sets."""

from pathlib import Path
from typing import Any

import click

from plurivox.cli._click.command_base_classes import Command, CommandGroup
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import DATASET_NAME, FORCE, IN_AND_OUT, Argument, Flag
from plurivox.core.aligned_table_text import aligned_table_text

MAX_NAMES_SHOWN = 20  # such as labels; --json prints all


def run_list_datasets(screen: Screen) -> CommandResult:
    """List the names of the installed data sets, without reading them."""
    del screen
    from plurivox import io

    names = io.shelf.list_dataset_names()
    empty = "no data sets installed; set PLURIVOX_DATA to their folder, or run: plurivox datasets install toy"
    return CommandResult({"datasets": names}, text="\n".join(names) or empty)


def run_dataset_info(screen: Screen, name: str) -> CommandResult:
    """Show sizes, labels and origin of a data set."""
    del screen
    from plurivox import io

    info = io.shelf.info(name)
    return CommandResult(
        info,
        text=aligned_table_text(
            [(key, _format_dataset_property(value)) for key, value in info.items() if value is not None]
        ),
    )


def run_install_given_or_bundled_dataset(screen: Screen, name: str, source: Path | None, force: bool) -> CommandResult:
    """Install a data set from a folder or file into the folder PLURIVOX_DATA."""
    del screen
    from plurivox import io

    folder = io.shelf.install(name, source, replace=force)
    return CommandResult({"name": name, "folder": folder}, summary=f"installed {name} in {folder}")


def _format_dataset_property(value: Any) -> str:
    """Return a property of a data set as text; long lists are shortened."""
    if isinstance(value, list | tuple):
        more = f" and {len(value) - MAX_NAMES_SHOWN:,} more" if len(value) > MAX_NAMES_SHOWN else ""
        return ", ".join(map(str, value[:MAX_NAMES_SHOWN])) + more
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


NAME = Argument("name", IN_AND_OUT, "a name listed by plurivox datasets list", type=DATASET_NAME, metavar="NAME")
NEW = Argument(
    "name", IN_AND_OUT, "name of the new data set; toy comes with plurivox and needs no --from", metavar="NAME"
)
FROM = Flag(
    ["--from", "source"],
    IN_AND_OUT,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="folder or file of the data set to install",
)
datasets = CommandGroup(
    "datasets",
    commands=[
        Command("list", params=[], callback=run_list_datasets, help="List the installed data sets."),
        Command("info", params=[NAME], callback=run_dataset_info, help="Show sizes, labels and origin of a data set."),
        Command(
            "install",
            params=[NEW, FROM, FORCE],
            callback=run_install_given_or_bundled_dataset,
            help="Install a data set from a folder or file.",
        ),
    ],
    help="List, inspect and install data sets. The environment variable PLURIVOX_DATA sets their folder.",
)
