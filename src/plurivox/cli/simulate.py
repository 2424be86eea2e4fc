"""`plurivox simulate METHOD -o FOLDER`: a crowd with known truth."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._build import Room
from plurivox.cli._files import FORCE, IN_AND_OUT, OutFolder
from plurivox.cli._flags import Flag
from plurivox.cli._show import Answer, Screen
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.simulate import Simulator


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """Where the crowd goes."""
    del method
    out = Flag(
        ["-o", "--out"],
        IN_AND_OUT,
        type=OutFolder(),
        required=True,
        metavar="FOLDER",
        help="a new data-set folder: votes, gold and how each worker answers  [required]",
    )
    return [out, FORCE]


def run(screen: Screen, method: "Simulator", out: Path, force: bool) -> Answer:
    """Draw, write, tell."""
    from plurivox.recipes._doing import write_crowd

    crowd = method.draw()
    write_crowd(crowd, out, command=screen.command, replace=force)
    votes = crowd.votes
    return Answer(
        {"command": screen.command, "out": out, "by": crowd.made_by, **votes.facts()},
        line=f"{crowd.made_by}: {len(votes):,} votes of {votes.n_workers:,} workers on {votes.n_tasks:,} tasks -> {out}",
    )


simulate = Room("simulate", run, params, help="Draw a crowd with known truth: plurivox simulate METHOD -o FOLDER.")
