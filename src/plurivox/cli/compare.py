"""`plurivox compare INPUT... [--methods ...]`: compare aggregation methods on data sets with gold labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
    clip: float,
) -> CommandResult:
    """Run `plurivox compare`: fit every method to every data set, show the means, and write the whole comparison to `out`."""
    from plurivox.workflows.compare_aggregators import compare as compare_methods
    from plurivox.workflows.comparison_tables import rank_tests_by_measure

    check_result_file_type(out, "a comparison", FILE_TYPES)
    data = [source.read_dataset() for source in sources]
    with screen.show_progress_bar_while_block_runs("compare") as progress:
        made = compare_methods(
            data, methods or None, gold=gold, part=part, reference=reference, clip=clip, progress=progress
        )
    for note in made.notes:
        screen.print_note(note)
    if out is not None:
        write_result_file(made, out)
    means = made.means_and_differences_of_each_method()
    document: dict[str, Any] = {
        "command": screen.quoted_command_line,
        "datasets": made.dataset_names,
        "reference": made.reference,
        "clip": made.clip,
        "means": means,
        "tests": rank_tests_by_measure(made),
    }
    document |= {"rows": made.columns(), "out": out}
    return CommandResult(document, text=comparison_table_text(made), summary=f"wrote {out}" if out else "")


def comparison_table_text(comparison: "Comparison") -> str:
    """Return two text tables with one row per method, means and the comparison with the reference, and what the tests show."""
    from plurivox.workflows.comparison_tables import MEASURES, format_numbers_or_dash, sentences_about_tests

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
    numbers = [format_numbers_or_dash(comparison.mean_over_datasets(name), 4) for name in (*MEASURES, "seconds")]
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
    about = "; ".join(filter(None, [over, f"reference: {comparison.reference}", comparison.task_counts_text]))
    if any(found.n_comparisons for found in comparison.over_datasets.values()):
        about += "; differences with simultaneous 95% intervals (Student's t, Bonferroni's correction)"
    return "\n".join(
        [
            about,
            aligned_table_text(rows),
            *_lines_of_ranks_and_p_values(comparison),
            *(sentence.replace("`", "") for sentence in sentences_about_tests(comparison)),
        ]
    )


def _lines_of_ranks_and_p_values(comparison: "Comparison") -> list[str]:
    """Return the title and the table of mean ranks and corrected p-values of each method; nothing if no method is tested."""
    from plurivox.workflows.comparison_tables import COLUMN_TITLES, format_numbers_or_dash, p_value_cells

    if not any(found.n_comparisons for found in comparison.over_datasets.values()):
        return []
    heads, columns = ["method"], [comparison.method_specs]
    for measure, found in comparison.over_datasets.items():
        heads += [f"{COLUMN_TITLES[measure]} rank", "p"]
        columns += [format_numbers_or_dash(found.mean_ranks, 2), p_value_cells(found)]
    title = (
        "mean ranks (1 is best), and p of the Wilcoxon signed-rank test against the reference after Holm's correction "
        "(data sets on which the method is better/the same/worse)"
    )
    return [title, aligned_table_text([heads, *zip(*columns, strict=True)])]


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
        Flag(
            ["--clip"],
            "Methods",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=1e-6,
            metavar="X",
            help="in the NLL, raise probabilities below X to X  [default: 1e-06]",
        ),
    ],
    computes=True,
    callback=run_compare,
    help="Compare accuracy, NLL, Brier score, ECE and time (first use: with compilation) of methods on data with gold labels; "
    "with three data sets or more, with mean ranks and tests corrected for the number of methods.",
)
