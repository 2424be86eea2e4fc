"""`plurivox evaluate PREDICTION TRUTH [--against VOTES]`: how good a prediction is, with intervals."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plurivox.cli._click.command import Command
from plurivox.cli._click.flags import (
    GENERAL,
    IN_AND_OUT,
    PART,
    SOURCE_NAME,
    Flag,
    OneOf,
    Operand,
    Source,
    keep_apart,
    out_flag,
)
from plurivox.cli._click.report_file import check_report, write_report
from plurivox.cli._click.screen import Answer, Screen, table

if TYPE_CHECKING:
    from plurivox.evaluate.measures.hard import Ties

ENDINGS = (".csv", ".md", ".json", ".tex", ".npz")


def run(
    screen: Screen,
    prediction: str,
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
    from plurivox.workflows.label_evaluation import evaluate_labels

    check_report(out, "a judgement", ENDINGS)
    for where in filter(None, (prediction, truth, against)):
        keep_apart(Source(where, {}), out)
    tied: Ties = "share" if ties == "share" else "first"
    made = evaluate_labels(
        prediction, truth, against, part=part, measures=measures, ties=tied, repeats=repeats, seed=seed
    )
    for note in made.notes:
        screen.note(note)
    if out is not None:
        write_report(made, out)
    facts = {"command": screen.command, "prediction": prediction, "truth": truth, "against": against, "out": out}
    majority = {"label": made.majority_label, "accuracy": made.majority_share}
    how = {"repeats": repeats, "level": made.level, "seed": seed}
    return Answer(
        {**facts, "rows": made.columns(), "majority": majority, **how},
        text=f"{table([made.text_header(), *made.text_rows()])}\n{made.majority}",
        line=f"-> {out}" if out else "",
    )


evaluate = Command(
    "evaluate",
    params=[
        Operand(
            "prediction",
            IN_AND_OUT,
            "soft labels to judge: a file that aggregate or predict wrote, or a data set",
            type=SOURCE_NAME,
            metavar="PREDICTION",
        ),
        Operand(
            "truth",
            IN_AND_OUT,
            "true labels: a table task,label, soft labels, or a data set (its gold, else its vote shares)",
            type=SOURCE_NAME,
            metavar="TRUTH",
        ),
        Flag(
            ["--against"],
            IN_AND_OUT,
            type=SOURCE_NAME,
            metavar="VOTES",
            help="what soft measures look at: votes, a data set with votes, or soft labels  [default: TRUTH]",
        ),
        out_flag("every row: .csv, .md, .json, .tex or .npz"),
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
