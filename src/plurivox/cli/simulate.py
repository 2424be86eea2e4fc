"""`plurivox simulate METHOD -o FOLDER`: a crowd with known truth."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._build import MethodGroup
from plurivox.cli._click.flags import FORCE, IN_AND_OUT, Flag, out_flag
from plurivox.cli._click.screen import Answer, Screen
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.simulate import Simulator


MATRICES = Flag(
    ["--matrix-file"],
    IN_AND_OUT,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="each worker's matrix: a table of worker,true,said,p, an array in .npy, or a Fit or Confusion in .npz; "
    "workers and labels are those of the file",
)


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """Where the crowd goes, and what may be given instead of drawn."""
    out = out_flag(
        "a new data-set folder: votes or answers, gold, and what each worker and task is like",
        required=True,
        metavar="FOLDER",
        folder=True,
    )
    return [*([MATRICES] if "matrices" in method.takes else []), out, FORCE]


def run(screen: Screen, method: "Simulator", out: Path, force: bool, matrix_file: Path | None = None) -> Answer:
    """Draw, write, tell."""
    from plurivox.workflows.simulated_crowd import simulate_crowd, write_crowd

    crowd = simulate_crowd(method, matrices=matrix_file)
    write_crowd(crowd, out, command=screen.command, replace=force)
    votes, answers = crowd.votes, crowd.answers
    told = {} if answers is None else {"answers": len(answers)}
    n = f"{len(votes):,} votes" if answers is None else f"{len(answers):,} answers"
    return Answer(
        {"command": screen.command, "out": out, "by": crowd.made_by, **votes.info(), **told},
        line=f"{crowd.made_by}: {n} of {votes.n_workers:,} workers on {votes.n_tasks:,} tasks -> {out}",
    )


simulate = MethodGroup(
    "simulate", run, params, help="Draw a crowd with known truth: plurivox simulate METHOD -o FOLDER."
)
