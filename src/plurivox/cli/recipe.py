"""`plurivox recipe NAME [-o FOLDER]`: a whole walk, its tables on the screen and in files."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._build import Room
from plurivox.cli._click.flags import IN_AND_OUT, Flag, OutFolder
from plurivox.cli._click.screen import Answer, Screen
from plurivox.core.errors import InputError, some
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.core.tables import Tables
    from plurivox.recipes import Recipe

OURS = re.compile(r"tables\.(md|tex|npz)|table-\d+\.csv")  # what a recipe writes


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
    if out is not None:
        check_folder(out, force)
    with screen.progress(method.name()) as watch:
        made = method.run(watch=watch)
    if out is not None:
        write(made, out, replace=force)
    tables = {one.title: one.columns() for one in made.tables}
    facts = {"command": screen.command, "title": made.title, "by": made.made_by, "tables": tables, "out": out}
    return Answer(facts, text=made.text(), line=f"-> {out}" if out else "")


def check_folder(out: Path, force: bool) -> None:
    """Refuse, before the work begins, a folder that is not empty; with `force`, one that holds more than tables."""
    held = sorted(one.name for one in out.iterdir()) if out.is_dir() else []
    if held and not force:
        raise InputError(f"{out} is there and not empty; name another folder, or say --force")
    if strangers := [name for name in held if not OURS.fullmatch(name)]:
        raise InputError(
            f"{out} is not replaced: {some(strangers)} would be lost, which no recipe wrote; name another folder"
        )


def write(made: "Tables", out: Path, *, replace: bool = False) -> None:
    """Each table as CSV, all of them as Markdown, LaTeX and one .npz: a whole folder, or none."""
    from plurivox.core.atomic_write import whole_folder

    texts = {"tables.md": made.markdown(), "tables.tex": made.latex()}
    texts |= {f"table-{i}.csv": one.csv() for i, one in enumerate(made.tables, start=1)}
    with whole_folder(out, replace=replace) as part:
        for name, text in texts.items():
            (part / name).write_text(text, encoding="utf-8")
        made.save(part / "tables.npz")


recipe = Room("recipes", run, params, help="Walk a whole recipe: plurivox recipe NAME.")
