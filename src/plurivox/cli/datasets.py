"""`plurivox datasets list | info NAME | install NAME --from PATH`: the shelf of data sets."""

from pathlib import Path
from typing import Any

import click

from plurivox.cli._click.command import Command, Index
from plurivox.cli._click.flags import DATASET_NAME, FORCE, IN_AND_OUT, Flag, Operand
from plurivox.cli._click.screen import Answer, Screen, table

MOST = 20  # names in a line, such as labels; --json gives all


def run_list(screen: Screen) -> Answer:
    """Names only: opening every set would take long."""
    del screen
    from plurivox import io

    names = io.shelf.list_names()
    empty = "no data sets yet; PLURIVOX_DATA names their folder, and plurivox datasets install toy brings one"
    return Answer({"datasets": names}, text="\n".join(names) or empty)


def run_info(screen: Screen, name: str) -> Answer:
    """What is inside one set."""
    del screen
    from plurivox import io

    facts = io.shelf.info(name)
    return Answer(facts, text=table([(key, _said(value)) for key, value in facts.items() if value is not None]))


def run_install(screen: Screen, name: str, source: Path | None, force: bool) -> Answer:
    """Put a set on the shelf."""
    del screen
    from plurivox import io

    where = io.shelf.install(name, source, replace=force)
    return Answer({"name": name, "folder": where}, line=f"{name} -> {where}")


def _said(value: Any) -> str:
    if isinstance(value, list | tuple):
        more = f" and {len(value) - MOST:,} more" if len(value) > MOST else ""
        return ", ".join(map(str, value[:MOST])) + more
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


NAME = Operand("name", IN_AND_OUT, "a name that plurivox datasets list shows", type=DATASET_NAME, metavar="NAME")
NEW = Operand("name", IN_AND_OUT, "the name it gets; toy ships with plurivox", metavar="NAME")
FROM = Flag(
    ["--from", "source"],
    IN_AND_OUT,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="the folder or file to install from",
)
datasets = Index(
    "datasets",
    commands=[
        Command("list", params=[], callback=run_list, help="List the data sets on the shelf."),
        Command("info", params=[NAME], callback=run_info, help="Show what is in a data set."),
        Command("install", params=[NEW, FROM, FORCE], callback=run_install, help="Put a data set on the shelf."),
    ],
    help="List, inspect and install data sets. PLURIVOX_DATA names the folder they lie in.",
)
