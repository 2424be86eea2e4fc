"""`plurivox evaluate GUESS TRUTH [--against VOTES]`: how good a guess is, with intervals."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import (
    GENERAL,
    IN_AND_OUT,
    PART,
    Flag,
    OneOf,
    Operand,
    OutFile,
    Source,
    SourceName,
    keep_apart,
)
from plurivox.cli._click.screen import Answer, Screen, table
from plurivox.core.errors import InputError

if TYPE_CHECKING:
    from plurivox.evaluate import Judgement
    from plurivox.evaluate.measures.accuracy import Ties

ENDINGS = (".csv", ".md", ".json", ".tex", ".npz")


def run(
    screen: Screen,
    guess: str,
    truth: str,
    against: str | None,
    out: Path | None,
    part: str | None,
    measures: str | None,
    ties: str,
    repeats: int,
    seed: int,
) -> Answer:
    """Read the sides, judge, show; the whole judgement goes to OUT."""
    from plurivox.workflows.judge_labels import judge

    if out is not None and out.suffix not in ENDINGS:
        raise InputError(f"{out} has an ending nobody knows; a judgement is written as {', '.join(ENDINGS)}")
    for where in filter(None, (guess, truth, against)):
        keep_apart(Source(where, {}), out)
    tied: Ties = "share" if ties == "share" else "first"
    made = judge(guess, truth, against, part=part, measures=measures, ties=tied, repeats=repeats, seed=seed)
    for note in made.notes:
        screen.note(note)
    if out is not None:
        write(made, out)
    facts = {"command": screen.command, "guess": guess, "truth": truth, "against": against, "out": out}
    majority = {"label": made.majority_label, "accuracy": made.majority_share}
    how = {"repeats": repeats, "level": made.level, "seed": seed}
    return Answer(
        {**facts, "rows": made.columns(), "majority": majority, **how},
        text=f"{table([made.heads(), *made.cells()])}\n{made.majority}",
        line=f"-> {out}" if out else "",
    )


def write(made: "Judgement", out: Path) -> None:
    """The rows as CSV, Markdown, JSON or LaTeX, or the judgement itself."""
    from plurivox.core.atomic_write import whole_file

    if out.suffix == ".npz":
        made.save(out)
        return
    text = {".csv": made.csv, ".md": made.markdown, ".json": made.json, ".tex": made.latex}[out.suffix]()
    with whole_file(out) as part:
        part.write_text(text, encoding="utf-8")


evaluate = Command(
    "evaluate",
    params=[
        Operand(
            "guess",
            IN_AND_OUT,
            "soft labels to judge: a file that aggregate or predict wrote, or a data set",
            type=SourceName(),
            metavar="GUESS",
        ),
        Operand(
            "truth",
            IN_AND_OUT,
            "true labels: a table task,label, soft labels, or a data set (its gold, else its vote shares)",
            type=SourceName(),
            metavar="TRUTH",
        ),
        Flag(
            ["--against"],
            IN_AND_OUT,
            type=SourceName(),
            metavar="VOTES",
            help="what soft measures look at: votes, a data set with votes, or soft labels  [default: TRUTH]",
        ),
        Flag(
            ["-o", "--out"],
            IN_AND_OUT,
            type=OutFile(),
            metavar="FILE",
            help="every row: .csv, .md, .json, .tex or .npz",
        ),
        PART,
        Flag(
            ["--measures"],
            "Measures",
            metavar="LIST",
            help="names with commas between, or hard, soft, calibration, all  [default: the usual ones]",
        ),
        Flag(
            ["--ties"],
            "Measures",
            type=OneOf("way with ties", ("first", "share")),
            default="first",
            metavar="[first|share]",
            help="what a tie at the top says: its first label, or a share of each  [default: first]",
        ),
        Flag(
            ["--repeats"],
            "Measures",
            type=click.IntRange(min=0),
            default=1000,
            metavar="N",
            help="resamples of tasks for the intervals; 0: no intervals  [default: 1000]",
        ),
        Flag(
            ["--seed"],
            GENERAL,
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="of the resamples  [default: 0]",
        ),
    ],
    works=True,
    callback=run,
    help="Judge soft labels by hard, soft and calibration measures, with intervals and the majority baseline.",
)
