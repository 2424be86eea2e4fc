"""`plurivox assign METHOD`: whom to ask what next, or batches of tasks for people to come."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._build import MethodGroup
from plurivox.cli._click.flags import (
    IN_AND_OUT,
    INPUT,
    READING_FLAGS,
    Flag,
    LabelList,
    Operand,
    Source,
    check_ending,
    keep_apart,
    out_flag,
)
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.assign import Assigner, Proposer

SHOWN = 10


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """What proposals are made from, or what a plan is."""
    from plurivox.assign import Proposer

    return _of_proposals() if issubclass(method, Proposer) else _of_plan()


def _of_proposals() -> Sequence[click.Parameter]:
    out = out_flag("all proposals: .csv, .parquet, .jsonl or .npz")
    by = Flag(["--by"], IN_AND_OUT, default="ibcc", metavar="METHOD", help="the aggregator  [default: ibcc]")
    workers = Flag(
        ["--workers"], IN_AND_OUT, type=LabelList(), metavar="LIST", help="who is there  [default: everybody]"
    )
    return [INPUT, out, by, workers, *READING_FLAGS]


def _of_plan() -> Sequence[click.Parameter]:
    items = Operand(
        "items",
        IN_AND_OUT,
        "a table of task, and of stratum or batch where the method asks for it; or a data-set folder with items",
        type=click.Path(path_type=Path),
        metavar="ITEMS",
    )
    out = out_flag("a table of batch and task, for studio new --batches: .csv, .parquet or .jsonl")
    workers = Flag(
        ["--workers"],
        IN_AND_OUT,
        type=click.IntRange(1),
        metavar="N",
        help="for so many people  [default: as many as it takes]",
    )
    per_task = Flag(
        ["--per-task"],
        IN_AND_OUT,
        type=click.IntRange(1),
        default=1,
        metavar="N",
        help="batches that hold a task; the studio multiplies it by its own --per-task  [default: 1]",
    )
    return [items, out, workers, per_task]


def run(screen: Screen, method: "Assigner", out: Path | None, workers: Any, **given: Any) -> Answer:
    """Rank questions from votes, or plan sittings of tasks."""
    from plurivox.assign import Proposer

    if isinstance(method, Proposer):
        return _propose(screen, method, given["source"], out, given["by"], workers)
    return _plan(screen, method, given["items"], out, workers, given["per_task"])


def _propose(
    screen: Screen, method: "Proposer", source: Source, out: Path | None, by: str, workers: list[str] | None
) -> Answer:
    """Read, fit, rank, show the best, write all."""
    from plurivox import io
    from plurivox.workflows.assign_tasks import propose

    if out is not None:
        check_ending(out, ".npz")
        keep_apart(source, out)
    data = source.read()
    with screen.progress(method.name()) as progress:
        made = propose(data, method, by=by, workers=workers, progress=progress)
    if out is not None:
        io.write_saved(made, out)
    shown = {name: column[:SHOWN].tolist() for name, column in made.columns().items()}
    cells = zip(*shown.values(), strict=True)
    rows = [[f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row] for row in cells]
    told = "it is enough" if made.enough else f"{len(made):,} proposals"
    gone = 0 if made.let_go is None else len(made.let_go)
    line = f"{told}: {made.why}; {gone:,} workers let go" + (f" -> {out}" if out else "")
    facts = {"command": screen.command, "by": made.made_by, "enough": made.enough, "why": made.why, "out": out}
    facts |= {"let_go": [] if made.let_go is None else made.let_go, "proposals": made.columns()}
    return Answer(facts, text=table([list(shown), *rows]) if rows else "", line=line)


def _plan(
    screen: Screen, method: "Assigner", items: Path, out: Path | None, workers: int | None, per_task: int
) -> Answer:
    """Plan the batches of people who come one after the other, and write what each of them gets."""
    from plurivox import io
    from plurivox.workflows.assign_tasks import plan_batches

    if out is not None:
        check_ending(out)
        keep_apart(Source(str(items), {}), out)
    made = plan_batches(items, method, workers=workers, per_task=per_task)
    if out is not None:
        io.write_table(made.columns, out)
    sizes, n = made.sizes, len(made.sizes)
    told = f"{n:,} batches of {min(sizes, default=0)} to {max(sizes, default=0)}; "
    told += f"{made.given:,} of {made.wanted:,} places given"
    facts = {"command": screen.command, "by": method.spec, "batches": n, "given": made.given, "wanted": made.wanted}
    return Answer(facts | {"out": out}, line=told + (f" -> {out}" if out else ""))


assign = MethodGroup("assign", run, params, help="Tell whom to ask what next, or make batches: plurivox assign METHOD.")
