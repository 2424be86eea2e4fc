"""`plurivox evaluate PREDICTION TRUTH [--against REFERENCE]`: evaluate soft labels, or list the tasks where they differ."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen
from plurivox.cli._click.parameters import (
    GENERAL,
    IN_AND_OUT,
    PART,
    SOURCE_NAME,
    Argument,
    Choice,
    Flag,
    Source,
    check_distinct_files,
    out_flag,
)
from plurivox.cli._click.result_file import check_result_file_type, write_result_file
from plurivox.cli._compare_task_by_task import DISTANCE, compare_task_by_task_or_none
from plurivox.cli._evaluate_run import check_no_options_of_label_tables, evaluate_run, is_run_folder
from plurivox.core.aligned_table_text import aligned_table_text

if TYPE_CHECKING:
    from plurivox.evaluate.measures.hard_label_measures import Ties
    from plurivox.evaluate.two_model_correctness import Statistic


class LabelRenaming(click.ParamType[dict[str, str]]):
    """Click type of new names of labels: old=new, comma-separated; a pair that contains a comma is quoted."""

    name = "renaming"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, str]:
        import csv

        if isinstance(value, dict):
            return value
        pairs = [pair.partition("=") for pair in next(csv.reader([value], skipinitialspace=True), [])]
        if not pairs or not all(old and mark and new for old, mark, new in pairs):
            self.fail(f"{value!r} is not a list of old and new labels, such as 0=cat,1=dog", param, ctx)
        return {old: new for old, _, new in pairs}


FILE_TYPES = (".csv", ".md", ".json", ".tex", ".npz")
STATISTICS = ("kurtosis", "entropy", "confidence")
SECTION_TASKS = "Task by task, instead of measures"


def run_evaluate(
    screen: Screen,
    prediction: str,
    truth: str | None,
    against: str | None,
    rename: dict[str, str] | None,
    out: Path | None,
    part: str | None,
    measures: str | None,
    ties: str,
    repeats: int,
    seed: int,
    tasks: int | None,
    cells: str | None,
    statistic: "Statistic | None",
    attack: str | None,
) -> CommandResult:
    """Run `plurivox evaluate`: read prediction and truth, compute and show the measures, write all rows to `out`.

    With --tasks the tasks on which they differ most are shown instead, with --cells the table of two models, right or wrong.
    """
    if truth is None or attack is not None or is_run_folder(prediction):
        if is_run_folder(prediction):
            check_no_options_of_label_tables()
        return evaluate_run(screen, prediction, truth, attack, seed, out)
    from plurivox.workflows.label_evaluation import evaluate_labels

    for name in filter(None, (prediction, truth, against, cells)):
        check_distinct_files(Source(name, {}), out)
    inputs: dict[str, Any] = {
        "prediction": prediction,
        "truth": truth,
        "against": against,
        "part": part,
        "rename": rename,
    }
    by_task = compare_task_by_task_or_none(screen, inputs, out, tasks, cells, statistic, measures)
    if by_task is not None:
        return by_task
    check_result_file_type(out, "an evaluation", FILE_TYPES)
    tie_rule: Ties = "share" if ties == "share" else "first"
    made = evaluate_labels(
        prediction,
        truth,
        against,
        part=part,
        measures=measures,
        ties=tie_rule,
        repeats=repeats,
        seed=seed,
        rename=rename,
    )
    for note in made.notes:
        screen.print_note(note)
    if out is not None:
        write_result_file(made, out)
    document = {
        "command": screen.quoted_command_line,
        "prediction": prediction,
        "truth": truth,
        "against": against,
        "out": out,
    }
    majority = {"label": made.majority_label, "accuracy": made.majority_share}
    resampling = {"repeats": repeats, "level": made.level, "seed": seed}
    return CommandResult(
        {**document, "rows": made.columns(), "majority": majority, **resampling},
        text=f"{aligned_table_text([made.column_titles_of_text_rows(), *made.text_rows()])}\n{made.majority_baseline_text}",
        summary=f"wrote {out}" if out else "",
    )


evaluate = Command(
    "evaluate",
    params=[
        Argument(
            "prediction",
            IN_AND_OUT,
            "soft labels to evaluate: a file written by aggregate or predict, a data set, or - for standard input",
            type=SOURCE_NAME,
            metavar="PREDICTION",
        ),
        Argument(
            "truth",
            IN_AND_OUT,
            "true labels: a table task,label, soft labels, or a data set (its gold labels, else its vote shares); may be left "
            "out if PREDICTION is a folder written by train: then its networks are evaluated on their test tasks",
            type=SOURCE_NAME,
            metavar="TRUTH",
            required=False,
        ),
        Flag(
            ["--against"],
            IN_AND_OUT,
            type=SOURCE_NAME,
            metavar="REFERENCE",
            help="reference of the soft measures: gold, soft or votes (those of TRUTH), or soft labels, votes or a data set "
            "[default: soft labels of TRUTH, else its votes, else its gold labels]",
        ),
        Flag(
            ["--rename"],
            IN_AND_OUT,
            type=LabelRenaming(),
            metavar="OLD=NEW,...",
            help="other names for labels of PREDICTION, such as 0=cat,1=dog",
        ),
        out_flag("write all rows: .csv, .md, .json, .tex or .npz"),
        PART,
        Flag(
            ["--attack"],
            "Measures",
            metavar="ATTACK,...",
            help="for a folder written by train on images: evaluate under adversarial attacks, too: fgsm[epsilon=4], pgd  "
            "[default: none]",
        ),
        Flag(
            ["--measures"],
            "Measures",
            metavar="LIST",
            help="names of measures, comma-separated, or hard, soft, calibration, all  [default: a common selection]",
        ),
        Flag(
            ["--tasks"],
            SECTION_TASKS,
            type=click.IntRange(min=1),
            metavar="N",
            help="show the N tasks on which PREDICTION and TRUTH (or REFERENCE) differ most, by the measure of --measures  "
            f"[default: {DISTANCE}]; -o writes all tasks",
        ),
        Flag(
            ["--cells"],
            SECTION_TASKS,
            type=SOURCE_NAME,
            metavar="OTHER",
            help="soft labels of another model: number of tasks that both, one or neither of PREDICTION and OTHER get right, "
            "and how ambiguous the tasks of each cell are, by the soft labels or votes of TRUTH (or REFERENCE)",
        ),
        Flag(
            ["--statistic"],
            SECTION_TASKS,
            type=Choice("statistic", STATISTICS),
            help="of the soft label of a task, for --cells: kurtosis or highest probability (high: clear), or entropy "
            "[default: kurtosis]",
        ),
        Flag(
            ["--ties"],
            "Measures",
            type=Choice("tie rule", ("first", "share")),
            default="first",
            metavar="[first|share]",
            help="if labels tie for the highest probability: use the first, or share equally  [default: first]",
        ),
        Flag(
            ["--repeats"],
            "Measures",
            type=click.IntRange(min=0),
            default=1000,
            metavar="N",
            help="number of bootstrap resamples of the tasks for the intervals; 0: no intervals  [default: 1000]",
        ),
        Flag(
            ["--seed"],
            GENERAL,
            type=click.IntRange(min=0),
            default=0,
            metavar="N",
            help="seed of the bootstrap resamples  [default: 0]",
        ),
    ],
    computes=True,
    callback=run_evaluate,
    help="Evaluate soft labels with hard, soft and calibration measures, confidence intervals and the majority baseline; or "
    "list the tasks on which two tables differ most (--tasks), or where two models are right and wrong (--cells). Two or more "
    "predictions are compared by plurivox compare A B --gold TRUTH.",
)
