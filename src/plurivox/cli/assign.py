"""`plurivox assign METHOD`: propose which worker labels which task next, or plan batches of tasks."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.output import CommandResult, Screen, first_rows_text
from plurivox.cli._click.parameters import (
    IN_AND_OUT,
    INPUT,
    READING_FLAGS,
    Argument,
    Flag,
    LabelList,
    Source,
    check_distinct_files,
    check_table_file_type,
    out_flag,
)
from plurivox.cli._method_commands import MethodGroup
from plurivox.core.count_text import count_text
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.assign import Assigner, Proposer


def params_of_assign_beside_method_options(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the arguments and options of `plurivox assign METHOD`: for proposals or for a plan of batches."""
    from plurivox.assign import Proposer

    return _params_shared_by_proposers() if issubclass(method, Proposer) else _params_shared_by_batch_planners()


def _params_shared_by_proposers() -> Sequence[click.Parameter]:
    """Return the arguments and options of methods that propose (worker, task) pairs from votes."""
    out = out_flag("write all proposals: .csv, .parquet, .jsonl or .npz")
    by = Flag(
        ["--by"],
        IN_AND_OUT,
        default="ibcc",
        metavar="METHOD",
        help="aggregation method that is fitted to the votes  [default: ibcc]",
    )
    workers = Flag(
        ["--workers"],
        IN_AND_OUT,
        type=LabelList(),
        metavar="LIST",
        help="available workers, comma-separated  [default: all]",
    )
    return [INPUT, out, by, workers, *READING_FLAGS]


def _params_shared_by_batch_planners() -> Sequence[click.Parameter]:
    """Return the arguments and options of methods that plan batches of tasks."""
    items = Argument(
        "items",
        IN_AND_OUT,
        "a table with the column task (and stratum or batch, if the method needs it), a JSON file of batches, "
        "or a data-set folder with items",
        type=click.Path(path_type=Path),
        metavar="ITEMS",
    )
    out = out_flag("write a table batch,task for studio new --batches: .csv, .parquet or .jsonl")
    workers = Flag(
        ["--workers"],
        IN_AND_OUT,
        type=click.IntRange(1),
        metavar="N",
        help="number of workers to plan for  [default: as many as needed]",
    )
    per_task = Flag(
        ["--per-task"],
        IN_AND_OUT,
        type=click.IntRange(1),
        default=1,
        metavar="N",
        help="number of batches that contain a task; multiplied by --per-task of the studio  [default: 1]",
    )
    return [items, out, workers, per_task]


def run_assign(
    screen: Screen, method: "Assigner", out: Path | None, workers: Any, **other_params: Any
) -> CommandResult:
    """Run `plurivox assign`: propose (worker, task) pairs from votes, or plan batches of tasks, as the method does."""
    from plurivox.assign import Proposer

    if isinstance(method, Proposer):
        return _propose_show_and_write_pairs(screen, method, other_params["source"], out, other_params["by"], workers)
    return _plan_and_write_batches(screen, method, other_params["items"], out, workers, other_params["per_task"])


def _propose_show_and_write_pairs(
    screen: Screen, method: "Proposer", source: Source, out: Path | None, by: str, workers: list[str] | None
) -> CommandResult:
    """Read votes, propose which worker labels which task next, show the best proposals and write all."""
    from plurivox import io
    from plurivox.workflows.assign_tasks import propose

    if out is not None:
        check_table_file_type(out, ".npz")
        check_distinct_files(source, out)
    data = source.read_dataset()
    with screen.show_progress_bar_while_block_runs(method.name()) as progress:
        made = propose(data, method, by=by, workers=workers, progress=progress)
    if out is not None:
        io.save_npz_or_write_table(made, out)
    outcome = "no more votes needed" if made.enough else count_text(len(made), "proposal")
    n_dismissed = 0 if made.let_go is None else len(made.let_go)
    line = f"{outcome}: {made.why}; {count_text(n_dismissed, 'worker')} dismissed" + (f"; wrote {out}" if out else "")
    document = {
        "command": screen.quoted_command_line,
        "by": made.made_by,
        "enough": made.enough,
        "why": made.why,
        "out": out,
    }
    document |= {"let_go": [] if made.let_go is None else made.let_go, "proposals": made.columns()}
    return CommandResult(document, text=first_rows_text(made.columns(), "proposal") if len(made) else "", summary=line)


def _plan_and_write_batches(
    screen: Screen, method: "Assigner", items: Path, out: Path | None, workers: int | None, per_task: int
) -> CommandResult:
    """Plan the batches of workers who arrive one after the other, and write the tasks of each batch."""
    from plurivox import io
    from plurivox.workflows.assign_tasks import plan_batches

    if out is not None:
        check_table_file_type(out)
        check_distinct_files(Source(str(items), {}), out)
    made = plan_batches(items, method, workers=workers, per_task=per_task)
    if out is not None:
        io.write_table(made.columns, out)
    sizes, n = made.sizes, len(made.sizes)
    low, high = min(sizes, default=0), max(sizes, default=0)
    each = count_text(low, "task") if low == high else f"{low} to {high} tasks"
    line = f"{count_text(n, 'batch', 'batches')} of {each}; "
    line += f"{made.given:,} of {count_text(made.wanted, 'requested assignment')} planned"
    data = {
        "command": screen.quoted_command_line,
        "by": method.spec,
        "batches": n,
        "given": made.given,
        "wanted": made.wanted,
    }
    text = "" if out else first_rows_text(made.columns, "row")
    return CommandResult(data | {"out": out}, text=text, summary=line + (f"; wrote {out}" if out else ""))


assign = MethodGroup(
    "assign",
    run_assign,
    params_of_assign_beside_method_options,
    help="Choose which worker labels which task next, or plan batches: plurivox assign METHOD.",
)
