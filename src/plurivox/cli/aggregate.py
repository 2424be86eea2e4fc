"""`plurivox aggregate METHOD INPUT -o OUT`: aggregate votes into soft labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.output import CommandResult, Screen, format_name_and_value
from plurivox.cli._click.parameters import (
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Flag,
    OutFile,
    Source,
    check_distinct_files,
    check_table_file_type,
    out_flag,
)
from plurivox.cli._method_commands import MethodGroup
from plurivox.core.errors import InputError
from plurivox.core.method import Method
from plurivox.io.tabular.table_file_names import file_suffix

if TYPE_CHECKING:
    from plurivox.aggregate import Aggregator
    from plurivox.core.results import Fit


def params_of_aggregate_beside_method_options(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the arguments and options of `plurivox aggregate METHOD`, without those of the method."""
    out = out_flag("write the soft labels: .csv, .parquet, .jsonl, .npy or .npz", required=True)
    workers = Flag(
        ["--workers-out"],
        IN_AND_OUT,
        type=OutFile(),
        metavar="FILE",
        help="write the estimates of each worker (accuracy, ability, ...) as a table",
    )
    save = Flag(
        ["--save"],
        IN_AND_OUT,
        type=OutFile(),
        metavar="FILE.npz",
        help="save the whole fit, for --start and for plurivox identify --fit",
    )
    gold = Flag(
        ["--gold"],
        IN_AND_OUT,
        is_flag=True,
        hidden="gold" not in method.takes,
        help="use the gold labels of the data set as known labels",
    )
    start = Flag(
        ["--start"],
        IN_AND_OUT,
        hidden="start" not in method.takes,
        type=click.Path(path_type=Path),
        metavar="FILE.npz",
        help="continue from an earlier fit, written by --save",
    )
    return [INPUT, out, workers, save, gold, start, *READING_FLAGS, PART]


def run_aggregate(
    screen: Screen,
    method: "Aggregator",
    source: Source,
    out: Path,
    workers_out: Path | None,
    save: Path | None,
    gold: bool,
    start: Path | None,
    part: str | None,
) -> CommandResult:
    """Run `plurivox aggregate`: read the votes, fit the method, write the soft labels."""
    from plurivox.io.soft_label_files import write_soft
    from plurivox.workflows.fit_votes import fit as fit_votes

    check_distinct_files(source, out, workers_out, save)
    check_table_file_type(out, ".npy", ".npz")
    if workers_out:
        check_table_file_type(workers_out)
    if save and file_suffix(save) != ".npz":
        raise InputError(f"unsupported file type of {save}; a fit is saved as .npz")
    data = source.read_dataset()
    with screen.show_progress_bar_while_block_runs(method.name()) as progress:
        fit = fit_votes(data, method, gold=gold, start=start, part=part, progress=progress)
    write_soft(fit.soft, out)
    if workers_out:
        write_worker_table(screen, fit, workers_out)
    if save:
        fit.save(save)
    files = {"out": out, "workers_out": workers_out, "saved": save}
    return CommandResult(
        {"input": source.name, "command": screen.quoted_command_line, **files, **fit.summary_values()},
        summary=f"{fit.made_by}: {len(fit.soft):,} tasks{fit_statistics_in_brackets_text(fit)}; wrote {out}",
    )


def write_worker_table(screen: Screen, fit: "Fit", out: Path) -> None:
    """Write a table of the estimates about each worker; print a note if the method estimates nothing about workers."""
    from plurivox.io.tabular.table_files import write_table

    columns = fit.worker_ability_columns()
    if len(columns) == 1:
        screen.print_note(f"{fit.made_by} estimates nothing about workers; {out} contains only their names")
    write_table(columns, out)


def fit_statistics_in_brackets_text(fit: "Fit") -> str:
    """Return figures of a fit as text in brackets, such as tasks without votes, iterations and ties; "" if none."""
    figures: dict[str, Any] = {
        "tasks without votes": fit.soft.summary_values().get("tasks without votes"),
        **{
            name: value
            for name, value in fit.summary_values().items()
            if name not in ("by", "tasks", "workers", "labels")
        },
    }
    texts = [format_name_and_value(name, value) for name, value in figures.items() if value is not None]
    return f" ({', '.join(texts)})" if texts else ""


aggregate = MethodGroup(
    "aggregate",
    run_aggregate,
    params_of_aggregate_beside_method_options,
    help="Aggregate votes into soft labels: plurivox aggregate METHOD INPUT -o OUT.",
)
