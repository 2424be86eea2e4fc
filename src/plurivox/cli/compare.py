"""`plurivox compare INPUT... [--methods ...]`: compare aggregation methods on data sets with gold labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurivox.cli._click.command_base_classes import Command
from plurivox.cli._click.output import CommandResult, Screen, aligned_table_text
from plurivox.cli._click.parameters import (
    GOLD,
    IN_AND_OUT,
    PART,
    READING_FLAGS,
    SOURCE_NAME,
    Argument,
    Flag,
    Source,
    out_flag,
)
from plurivox.cli._click.result_file import check_result_file_type, write_result_file

if TYPE_CHECKING:
    from plurivox.workflows.compare_aggregators import Comparison

FILE_TYPES = (".csv", ".md", ".npz")


def run_compare(
    screen: Screen,
    sources: tuple[Source, ...],
    methods: str | None,
    reference: str | None,
    out: Path | None,
    gold: Path | None,
    part: str | None,
) -> CommandResult:
    """Run `plurivox compare`: fit every method to every data set, show the means, and write the whole comparison to `out`."""
    from plurivox.workflows.compare_aggregators import compare as compare_methods

    check_result_file_type(out, "a comparison", FILE_TYPES)
    data = [source.read_dataset() for source in sources]
    with screen.show_progress_bar_while_block_runs("compare") as progress:
        made = compare_methods(data, methods or None, gold=gold, part=part, reference=reference, progress=progress)
    for note in made.notes:
        screen.print_note(note)
    if out is not None:
        write_result_file(made, out)
    means = made.means_and_differences_of_each_method()
    document: dict[str, Any] = {
        "command": screen.quoted_command_line,
        "datasets": made.dataset_names,
        "reference": made.reference,
        "means": means,
    }
    document |= {"rows": made.columns(), "out": out}
    return CommandResult(document, text=comparison_table_text(made), summary=f"wrote {out}" if out else "")


def comparison_table_text(comparison: "Comparison") -> str:
    """Return a text table with one row per aggregation method: mean measures, and differences to the reference method."""
    heads: tuple[str, ...] = (
        "method",
        "accuracy",
        "NLL",
        "Brier",
        "ECE",
        "seconds",
        "accuracy - reference",
        "NLL - reference",
    )
    numbers = [
        [f"{value:.4f}" for value in comparison.mean_over_datasets(name)]
        for name in ("accuracy", "nll", "brier", "ece", "seconds")
    ]
    differences = [
        [str(difference) for difference in comparison.mean_differences_to_reference(name)]
        for name in ("accuracy", "nll")
    ]
    columns, n = [comparison.method_specs, *numbers, *differences], len(comparison.dataset_names)
    if n > 1:  # a method may have no result on some data sets: its means are over the others
        heads = ("method", "data sets", *heads[1:])
        columns.insert(1, [f"{k}" for k in comparison.means_and_differences_of_each_method()["datasets"]])
    rows = [heads, *zip(*columns, strict=True)]
    over = f"means over {n} data sets" if n > 1 else f"on {comparison.dataset_names[0]}"
    first = "; ".join(filter(None, [over, f"reference: {comparison.reference}", comparison.task_counts_text]))
    return f"{first}\n{aligned_table_text(rows)}"


compare = Command(
    "compare",
    params=[
        Argument(
            "inputs",
            IN_AND_OUT,
            "files, data-set folders or names of data sets, with gold labels (or give --gold)",
            type=SOURCE_NAME,
            metavar="INPUT...",
            nargs=-1,
            required=True,
        ),
        out_flag("write all results: .csv, .md or .npz"),
        GOLD,
        *READING_FLAGS,
        PART,
        Flag(
            ["--methods"],
            "Methods",
            metavar="LIST",
            help="methods, comma-separated, options in square brackets: glad,iwmv[weights=li-yu]  [default: all]",
        ),
        Flag(
            ["--reference"],
            "Methods",
            metavar="METHOD",
            help="method that the others are compared with  [default: the first]",
        ),
    ],
    computes=True,
    callback=run_compare,
    help="Compare accuracy, NLL, Brier score, ECE and time (first use: with compilation) of methods on data with gold labels.",
)
