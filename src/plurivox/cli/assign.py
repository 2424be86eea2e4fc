"""`plurivox assign METHOD`: whom to ask what next, or batches of tasks for people to come."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._build import Room
from plurivox.cli._click.file_flags import (
    IN_AND_OUT,
    INPUT,
    READING_FLAGS,
    LabelList,
    OutFile,
    Source,
    check_ending,
    keep_apart,
)
from plurivox.cli._click.flags import Flag, Operand
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.errors import InputError, some
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.assign import Assigner, Ledger, Proposer

SHOWN = 10


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """What proposals are made from, or what a plan is."""
    from plurivox.assign import Proposer

    return _of_proposals() if issubclass(method, Proposer) else _of_plan()


def _of_proposals() -> Sequence[click.Parameter]:
    out = Flag(
        ["-o", "--out"],
        IN_AND_OUT,
        type=OutFile(),
        metavar="FILE",
        help="all proposals: .csv, .parquet, .jsonl or .npz",
    )
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
    out = Flag(
        ["-o", "--out"],
        IN_AND_OUT,
        type=OutFile(),
        metavar="FILE",
        help="a table of batch and task, for studio new --batches: .csv, .parquet or .jsonl",
    )
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
    from plurivox.core.encoding import as_names
    from plurivox.workflows.api import fit as fitted

    if out is not None:
        check_ending(out, ".npz")
        keep_apart(source, out)
    data = source.read()
    if (votes := data.votes) is None:
        raise InputError(f"{data.name} has no votes of named workers; {method.name()} needs them")
    with screen.progress(method.name()) as watch:
        made = method.propose(votes, fitted(votes, by, watch=watch), None if workers is None else as_names(workers))
    if out is not None and out.suffix.lower() == ".npz":
        made.save(out)
    elif out is not None:
        io.write_table(io.frame_of(made.columns(), "proposals"), out)
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
    """Seat people who come one after the other, and write what each of them gets."""
    from plurivox import io
    from plurivox.assign import plan

    if out is not None:
        check_ending(out)
        keep_apart(Source(str(items), {}), out)
    names, ledger = _ledger(method, items, per_task)
    rows: dict[str, list[Any]] = {"batch": [], "position": [], "task": [], "repeat": []}
    sizes: list[int] = []
    for number, places in enumerate(plan(method, ledger, workers), start=1):
        sizes.append(len(places))
        rows["batch"] += [f"batch-{number:05d}"] * len(places)
        rows["position"] += range(1, len(places) + 1)
        rows["task"] += [names[place.task] for place in places]
        rows["repeat"] += [int(place.repeat) for place in places]
    if out is not None:
        io.write_table(io.frame_of(rows, "batches"), out)
    given, wanted = int(ledger.given.sum()), int(ledger.quota.sum())
    told = f"{len(sizes):,} batches of {min(sizes, default=0)} to {max(sizes, default=0)}; {given:,} of {wanted:,} places given"
    facts = {"command": screen.command, "by": method.word, "batches": len(sizes), "given": given, "wanted": wanted}
    return Answer(facts | {"out": out}, line=told + (f" -> {out}" if out else ""))


def _ledger(method: "Assigner", items: Path, per_task: int) -> tuple[list[str], "Ledger"]:
    """The tasks of a table, each once, and the slots they have."""
    from plurivox.assign import Batches, Ledger, Strata
    from plurivox.io.tabular.table_files import read_table

    file = items
    if items.is_dir():
        tables = [one for one in sorted(items.iterdir()) if one.name.split(".")[0] == "items"]
        if not tables:
            raise InputError(
                f"{items} holds no table items; give a table with a column task: for a folder of images, the name of each"
            )
        file = tables[0]
    frame = read_table(file)
    needs = {"task"} | (
        {"stratum"} if isinstance(method, Strata) else {"batch"} if isinstance(method, Batches) else set()
    )
    if missing := needs - set(frame.columns):
        raise InputError(f"{file} lacks columns {sorted(missing)}; it has {some(frame.columns, 9)}")
    column = [str(task) for task in frame["task"]]
    places = {task: place for place, task in enumerate(dict.fromkeys(column))}
    batches: dict[str, list[int]] = {}
    if isinstance(method, Batches):
        for batch, task in zip(frame["batch"], column, strict=True):
            batches.setdefault(str(batch), []).append(places[task])
    elif len(places) < len(column):
        twice = [task for place, task in enumerate(column) if places[task] != place]
        raise InputError(f"{file} names tasks twice: {some(dict.fromkeys(twice))}; give a row a task")
    held = Counter(place for batch in batches.values() for place in set(batch)) if batches else None
    quota = [per_task * (1 if held is None else held[place]) for place in range(len(places))]
    strata = [str(one) for one in frame["stratum"]] if isinstance(method, Strata) else None
    return list(places), Ledger(quota, strata, list(batches.values()), method.seed)


assign = Room("assign", run, params, help="Tell whom to ask what next, or make batches: plurivox assign METHOD.")
