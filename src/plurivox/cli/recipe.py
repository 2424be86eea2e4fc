"""`plurivox recipe NAME [-o FOLDER]`: a whole walk, its tables on the screen and in files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._build import Room
from plurivox.cli._files import FORCE, IN_AND_OUT, OutFolder
from plurivox.cli._flags import Flag
from plurivox.cli._show import Answer, Screen
from plurivox.core.errors import InputError
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.core.tables import Tables
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
    return [out, FORCE]


def run(screen: Screen, method: "Recipe", out: Path | None, force: bool) -> Answer:
    """Walk, show, write."""
    if out is not None and out.is_dir() and any(out.iterdir()) and not force:
        raise InputError(f"{out} is there and not empty; name another folder, or say --force")
    with screen.progress(method.name()) as watch:
        made = method.run(watch=watch)
    if out is not None:
        write(made, out)
    tables = {one.title: one.columns() for one in made.tables}
    facts = {"command": screen.command, "title": made.title, "by": made.made_by, "tables": tables, "out": out}
    return Answer(facts, text=made.text(), line=f"-> {out}" if out else "")


def write(made: "Tables", out: Path) -> None:
    """Each table as CSV, all of them as Markdown, LaTeX and one .npz; a file of the same name is replaced whole."""
    from plurivox.core.files import whole_file

    out.mkdir(exist_ok=True)
    texts = {"tables.md": made.markdown(), "tables.tex": made.latex()}
    texts |= {f"table-{i}.csv": one.csv() for i, one in enumerate(made.tables, start=1)}
    for name, text in texts.items():
        with whole_file(out / name) as part:
            part.write_text(text, encoding="utf-8")
    made.save(out / "tables.npz")


recipe = Room("recipes", run, params, help="Walk a whole recipe: plurivox recipe NAME.")
