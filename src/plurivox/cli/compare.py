"""`plurivox compare INPUT... [--methods ...]`: methods side by side on data whose truth is known."""

from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import (
    GOLD,
    IN_AND_OUT,
    PART,
    READING_FLAGS,
    SOURCE_NAME,
    Flag,
    Operand,
    Source,
    out_flag,
)
from plurivox.cli._click.report_file import check_report, write_report
from plurivox.cli._click.screen import Answer, Screen, table

if TYPE_CHECKING:
    from plurivox.workflows.compare_methods import Comparison

ENDINGS = (".csv", ".md", ".npz")


def run(
    screen: Screen,
    sources: tuple[Source, ...],
    methods: str | None,
    reference: str | None,
    out: Path | None,
    gold: Path | None,
    part: str | None,
) -> Answer:
    """Read every data set, fit every method on it, show the means; the whole comparison goes to OUT."""
    from plurivox.workflows.compare_methods import compare as compared

    check_report(out, "a comparison", ENDINGS)
    data = [source.read() for source in sources]
    with screen.progress("compare") as progress:
        made = compared(data, methods or None, gold=gold, part=part, reference=reference, progress=progress)
    for note in made.notes:
        screen.note(note)
    if out is not None:
        write_report(made, out)
    means = made.mean_columns()
    facts = {"command": screen.command, "datasets": made.datasets, "reference": made.reference, "means": means}
    return Answer({**facts, "rows": made.columns(), "out": out}, text=shown(made), line=f"-> {out}" if out else "")


def shown(made: "Comparison") -> str:
    """The means of every method and how its accuracy and NLL differ from the reference's, with 95% intervals."""
    heads = ("method", "accuracy", "NLL", "Brier", "ECE", "seconds", "accuracy - reference", "NLL - reference")
    numbers = [[f"{value:.4f}" for value in made.mean(name)] for name in ("accuracy", "nll", "brier", "ece", "seconds")]
    differences = [[str(one) for one in made.difference(name)] for name in ("accuracy", "nll")]
    rows = [heads, *zip(made.methods, *numbers, *differences, strict=True)]
    n = len(made.datasets)
    over = f"means over {n} data sets" if n > 1 else f"on {made.datasets[0]}"
    return f"{over}; reference: {made.reference}\n" + table(rows)


compare = Command(
    "compare",
    params=[
        Operand(
            "inputs",
            IN_AND_OUT,
            "files, data-set folders or names, each with gold labels or with --gold",
            type=SOURCE_NAME,
            metavar="INPUT...",
            nargs=-1,
            required=True,
        ),
        out_flag("all figures: .csv, .md or .npz"),
        GOLD,
        *READING_FLAGS,
        PART,
        Flag(
            ["--methods"],
            "Methods",
            metavar="LIST",
            help="methods with commas between, options in brackets: glad,iwmv[weights=li-yu]  [default: all]",
        ),
        Flag(
            ["--reference"],
            "Methods",
            metavar="METHOD",
            help="the one the others are held against  [default: the first]",
        ),
    ],
    works=True,
    callback=run,
    help="Hold methods side by side: accuracy, NLL, Brier, ECE and time (compiling too, at first use) on data with gold.",
)
