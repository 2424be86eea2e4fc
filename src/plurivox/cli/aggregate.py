"""`plurivox aggregate [METHOD] INPUT [-o OUT]`: aggregate votes into soft labels."""

import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.output import CommandResult, Screen, first_rows_text, format_name_and_value
from plurivox.cli._click.parameters import (
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Choice,
    Flag,
    InputName,
    OutFile,
    Source,
    check_distinct_files,
    check_table_file_type,
    complete_file_or_dataset,
    out_flag,
)
from plurivox.cli._method_commands import MethodGroup, method_catalogue
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import Method
from plurivox.io.dataset_catalog import find_dataset_folder_or_none
from plurivox.io.tabular.table_file_names import file_suffix

if TYPE_CHECKING:
    from plurivox.aggregate import Aggregator
    from plurivox.core.results import Fit
    from plurivox.core.soft_labels import Estimand

OWN_GOLD = "own"  # value of --gold for the gold labels of the data set
METHOD_IS_DEFAULT = "plurivox.method_is_default"  # in the context: the command line names no method


def params_of_aggregate_beside_method_options(method: type[Method]) -> Sequence[click.Parameter]:
    """Return the arguments and options of `plurivox aggregate METHOD`, without those of the method."""
    out = out_flag("write the soft labels: .csv, .parquet, .jsonl, .npy or .npz  [default: show the first tasks]")
    for_ = Flag(
        ["--for", "for_"],
        IN_AND_OUT,
        type=Choice("question", ("truth", "people")),
        help="what the soft labels are to estimate: the probability that a label is right (truth), or the share of people who "
        "would give it (people); selects the method if none is named  [default: what METHOD estimates]",
    )
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
        type=OutFile(stdout_suffix=""),
        metavar="FILE.npz",
        help="save the whole fit, for --start and for plurivox identify --fit",
    )
    gold = Flag(
        ["--gold"],
        IN_AND_OUT,
        is_flag=False,
        flag_value=OWN_GOLD,
        hidden="gold" not in method.takes,
        type=InputName("gold", complete_file_or_dataset),
        metavar="FILE|own",
        help="known labels, which the method uses: a table with the columns task,label; own, or --gold alone after INPUT: the "
        "gold labels of the data set",
    )
    start = Flag(
        ["--start"],
        IN_AND_OUT,
        hidden="start" not in method.takes,
        type=click.Path(path_type=Path),
        metavar="FILE.npz",
        help="continue from an earlier fit, written by --save",
    )
    return [INPUT, out, for_, workers, save, gold, start, *READING_FLAGS, PART]


def run_aggregate(
    screen: Screen,
    method: "Aggregator",
    source: Source,
    out: Path | None,
    for_: "Estimand | None",
    workers_out: Path | None,
    save: Path | None,
    gold: str | None,
    start: Path | None,
    part: str | None,
) -> CommandResult:
    """Run `plurivox aggregate`: read the votes, fit the method, write the soft labels."""
    from plurivox.io.soft_label_files import write_soft
    from plurivox.workflows.fit_votes import fit as fit_votes
    from plurivox.workflows.fit_votes import make_method_for, note_on_default

    make_method_for(method, for_)
    check_distinct_files(source, out, workers_out, save)
    if out:
        check_table_file_type(out, ".npy", ".npz")
    if workers_out:
        check_table_file_type(workers_out)
    if save and file_suffix(save) != ".npz":
        raise InputError(f"unsupported file type of {save}; a fit is saved as .npz")
    data = source.read_dataset()
    with screen.show_progress_bar_while_block_runs(method.name()) as progress:
        fit = fit_votes(data, method, gold=gold == OWN_GOLD or gold, start=start, part=part, progress=progress)
    if out:
        write_soft(fit.soft, out)
    if click.get_current_context().meta.get(METHOD_IS_DEFAULT):
        screen.print_note(note_on_default(for_ or "truth"))
    if workers_out:
        write_worker_table(screen, fit, workers_out)
    if save:
        fit.save(save)
    files = {"out": out, "workers_out": workers_out, "saved": save}
    return CommandResult(
        {"input": source.name, "command": screen.quoted_command_line, **files, **fit.summary_values()},
        text="" if out else first_rows_text(fit.soft.columns(), "task", ".3f"),
        summary=f"{fit.made_by}: {count_text(len(fit.soft), 'task')}{fit_statistics_in_brackets_text(fit)}"
        + ("" if fit.soft.estimates == "unknown" else f"; estimates {fit.soft.estimates}")
        + (f"; wrote {out}" if out else ""),
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
            if name not in ("by", "estimates", "tasks", "workers", "labels")
        },
    }
    texts = [format_name_and_value(name, value) for name, value in figures.items() if value is not None]
    return f" ({', '.join(texts)})" if texts else ""


class AggregateGroup(MethodGroup):
    """Group of the aggregation methods; without a method before the input, the default for --for is called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and self._is_method_left_out(args):
            _raise_if_method_follows_input(args)
            ctx.meta[METHOD_IS_DEFAULT] = True
            args = [_default_method_for(args), *args]
        return super().parse_args(ctx, args)

    def _is_method_left_out(self, args: list[str]) -> bool:
        """Return whether the command line begins with an input or an option other than --help, and not with a method."""
        first = args[0]
        if first.startswith("-"):
            return first not in self.get_help_option_names(click.Context(self))
        if first.partition("[")[0] in method_catalogue(self.step):
            return False
        return Path(first).suffix != "" or Path(first).exists() or find_dataset_folder_or_none(first) is not None


def _raise_if_method_follows_input(args: list[str]) -> None:
    """Raise OptionError if the name of a method stands after the input."""
    given, follows = args[0], args[1] if len(args) > 1 else ""
    if not given.startswith("-") and follows.partition("[")[0] in method_catalogue("aggregate"):
        raise OptionError(
            f"METHOD stands before INPUT: plurivox aggregate {shlex.quote(follows)} {shlex.quote(given)} ..."
        )


def _default_method_for(args: list[str]) -> str:
    """Return the default method for the value of --for in a command line; that for truth if there is none."""
    from plurivox.aggregate import DEFAULT_METHODS

    given = [value for flag, value in pairwise(args) if flag == "--for"]
    given += [arg.removeprefix("--for=") for arg in args if arg.startswith("--for=")]
    return next((name for what, name in DEFAULT_METHODS.items() if what in given), DEFAULT_METHODS["truth"])


aggregate = AggregateGroup(
    "aggregate",
    run_aggregate,
    params_of_aggregate_beside_method_options,
    help="Aggregate votes into soft labels: plurivox aggregate [METHOD] INPUT -o OUT. Without a method, log-pool is used, the "
    "default for truth (the probability that a label is right); with --for people calibrated-shares (the share of people who "
    "would give it).",
)
