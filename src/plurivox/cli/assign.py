"""`plurivox assign METHOD INPUT -o OUT`: whom to ask what next."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._build import Room
from plurivox.cli._files import IN_AND_OUT, INPUT, READING_FLAGS, LabelList, OutFile, Source, check_ending, keep_apart
from plurivox.cli._flags import Flag
from plurivox.cli._show import Answer, Screen, table
from plurivox.core.errors import InputError
from plurivox.core.method import Method

if TYPE_CHECKING:
    from plurivox.assign import Assigner

SHOWN = 10


def params(method: type[Method]) -> Sequence[click.Parameter]:
    """What every proposal is made from."""
    del method
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


def run(
    screen: Screen, method: "Assigner", source: Source, out: Path | None, by: str, workers: list[str] | None
) -> Answer:
    """Read, fit, rank, show the best, write all."""
    from plurivox import io
    from plurivox.core.names import as_names
    from plurivox.recipes._doing import fit as fitted

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


assign = Room("assign", run, params, help="Tell whom to ask what next: plurivox assign METHOD INPUT.")
