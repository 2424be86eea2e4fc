"""`plurivox simulate METHOD [-o FOLDER]`: simulate a crowd with known true labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.output import CommandResult, Screen, first_rows_text
from plurivox.cli._click.parameters import FORCE, IN_AND_OUT, Flag, out_flag
from plurivox.cli._method_commands import MethodGroup
from plurivox.core.count_text import count_text
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.simulate import Simulator


MATRICES = Flag(
    ["--matrix-file"],
    IN_AND_OUT,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="confusion matrix of each worker: a table worker,true,said,p, an array (.npy), or a Fit or Confusion (.npz); "
    "workers and labels are taken from the file",
)


def params_of_simulate_beside_method_options(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the options of `plurivox simulate METHOD`, without those of the method."""
    out = out_flag(
        "a new data-set folder: votes or answers, gold labels, and the true parameters of workers and tasks; or a table (.csv, "
        ".parquet, .jsonl) of the votes or answers  [default: show the first]",
        metavar="OUT",
        folder=True,
        stdout_suffix=".csv",
    )
    return [*([MATRICES] if "matrices" in method.takes else []), out, FORCE]


def run_simulate(
    screen: Screen, method: "Simulator", out: Path | None, force: bool, matrix_file: Path | None = None
) -> CommandResult:
    """Run `plurivox simulate`: draw votes of a simulated crowd, and write them, with the true labels, or show the first."""
    from plurivox.workflows.simulate_and_write_crowd import simulate_crowd, write_crowd

    crowd = simulate_crowd(method, matrices=matrix_file)
    if out is not None:
        write_crowd(crowd, out, command=screen.quoted_command_line, replace=force)
    votes, answers = crowd.votes, crowd.answers
    n_answers = {} if answers is None else {"answers": len(answers)}
    shown, name = (votes, "vote") if answers is None else (answers, "answer")
    return CommandResult(
        {"command": screen.quoted_command_line, "out": out, "by": crowd.made_by, **votes.summary_values(), **n_answers},
        text=first_rows_text(shown.columns(), name) if out is None else "",
        summary=f"{crowd.made_by}: {count_text(len(shown), name)} of {count_text(votes.n_workers, 'worker')} on "
        f"{count_text(votes.n_tasks, 'task')}"
        + (f"; wrote {out}" if out else "; -o FOLDER writes them with the true labels"),
    )


simulate = MethodGroup(
    "simulate",
    run_simulate,
    params_of_simulate_beside_method_options,
    help="Simulate a crowd with known true labels: plurivox simulate METHOD -o FOLDER.",
)
