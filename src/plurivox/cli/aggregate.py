"""`plurivox aggregate METHOD INPUT -o OUT`: votes in, soft labels out."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._build import MethodGroup
from plurivox.cli._click.flags import (
    IN_AND_OUT,
    INPUT,
    PART,
    READING_FLAGS,
    Flag,
    OutFile,
    Source,
    check_ending,
    keep_apart,
    out_flag,
)
from plurivox.cli._click.screen import Answer, Screen, phrase
from plurivox.core.errors import InputError
from plurivox.core.method import Method
from plurivox.io.tabular.file_names import suffix_of

if TYPE_CHECKING:
    from plurivox.aggregate import Aggregator
    from plurivox.core.results import Fit


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """What every aggregation is given beside the options of its method."""
    out = out_flag("the soft labels: .csv, .parquet, .jsonl, .npy or .npz", required=True)
    workers = Flag(
        ["--workers-out"],
        IN_AND_OUT,
        type=OutFile(),
        metavar="FILE",
        help="what the method says of each worker",
    )
    save = Flag(["--save"], IN_AND_OUT, type=OutFile(), metavar="FILE.npz", help="all that was fitted")
    gold = Flag(
        ["--gold"],
        IN_AND_OUT,
        is_flag=True,
        hidden="gold" not in method.takes,
        help="tell the method the labels that the data set knows",
    )
    start = Flag(
        ["--start"],
        IN_AND_OUT,
        hidden="start" not in method.takes,
        type=click.Path(path_type=Path),
        metavar="FILE.npz",
        help="go on from an earlier fit, saved by --save",
    )
    return [INPUT, out, workers, save, gold, start, *READING_FLAGS, PART]


def run(
    screen: Screen,
    method: "Aggregator",
    source: Source,
    out: Path,
    workers_out: Path | None,
    save: Path | None,
    gold: bool,
    start: Path | None,
    part: str | None,
) -> Answer:
    """Read, fit, write, tell."""
    from plurivox.io.soft_label_files import write_soft
    from plurivox.workflows.fit_votes import fit as fitted

    keep_apart(source, out, workers_out, save)
    check_ending(out, ".npy", ".npz")
    if workers_out:
        check_ending(workers_out)
    if save and suffix_of(save) != ".npz":
        raise InputError(f"{save} must end in .npz, the form of a saved fit")
    data = source.read()
    with screen.progress(method.name()) as progress:
        fit = fitted(data, method, gold=gold, start=start, part=part, progress=progress)
    write_soft(fit.soft, out)
    if workers_out:
        tell_workers(screen, fit, workers_out)
    if save:
        fit.save(save)
    files = {"out": out, "workers_out": workers_out, "saved": save}
    return Answer(
        {"input": source.where, "command": screen.command, **files, **fit.info()},
        line=f"{fit.made_by}: {len(fit.soft):,} tasks -> {out}{aside(fit)}",
    )


def tell_workers(screen: Screen, fit: "Fit", out: Path) -> None:
    """Write what was found about the workers, and say where that is their names alone."""
    from plurivox.io.tabular.table_files import write_table

    columns = fit.worker_columns()
    if len(columns) == 1:
        screen.note(f"{fit.made_by} says nothing of single workers; {out} holds their names only")
    write_table(columns, out)


def aside(fit: "Fit") -> str:
    """What else is worth a word, in brackets: unvoted tasks, passes, ties."""
    said: dict[str, Any] = {
        "tasks without votes": fit.soft.info().get("tasks without votes"),
        **{name: value for name, value in fit.info().items() if name not in ("by", "tasks", "workers", "labels")},
    }
    words = [phrase(name, value) for name, value in said.items() if value is not None]
    return f" ({', '.join(words)})" if words else ""


aggregate = MethodGroup(
    "aggregate", run, params, help="Turn votes into soft labels: plurivox aggregate METHOD INPUT -o OUT."
)
