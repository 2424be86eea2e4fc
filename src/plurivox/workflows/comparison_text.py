"""A comparison of aggregators as the text that `plurivox compare` and `print` show: tables, tests and what they show."""

from typing import TYPE_CHECKING

from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.workflows.comparison_tables import format_numbers_or_dash, p_value_cells
from plurivox.workflows.people_comparison_tables import rows_of_dataset, rows_of_means

if TYPE_CHECKING:
    from plurivox.workflows.compare_against_people import PeopleComparison
    from plurivox.workflows.compare_aggregators import Comparison
    from plurivox.workflows.compared_methods import ComparedMethods


def people_tables_text(comparison: "PeopleComparison") -> str:
    """Return a text table per data set, or for several data sets means, ranks and p-values, and what the tests show."""
    names = comparison.dataset_names
    about = f"on {names[0]}, against {comparison.against[0]}" if len(names) == 1 else comparison.title_of_means()
    rows = rows_of_dataset(comparison, names[0]) if len(names) == 1 else rows_of_means(comparison)
    return "\n".join(
        [
            f"{about}; reference: {comparison.reference}; {comparison.task_counts_text}; rank in brackets; "
            f"sorted by {comparison.measure_titles[comparison.sorting_measure]}",
            aligned_table_text(rows),
            *_lines_of_ranks_and_p_values(comparison),
            *(sentence.replace("`", "") for sentence in comparison.sentences()),
        ]
    )


def comparison_table_text(comparison: "Comparison") -> str:
    """Return two text tables with one row per method, means and the comparison with the reference, and what the tests show."""
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
        format_numbers_or_dash(comparison.mean_over_datasets(name), 4)
        for name in (*comparison.measure_titles, "seconds")
    ]
    differences = [
        [str(difference) for difference in comparison.mean_differences_to_reference(name)]
        for name in ("accuracy", "nll")
    ]
    columns, n = [comparison.marked_specs, *numbers, *differences], len(comparison.dataset_names)
    if n > 1:  # a method may have no result on some data sets: its means are over the others
        heads = ("method", "data sets", *heads[1:])
        columns.insert(1, [f"{k}" for k in comparison.means_and_differences_of_each_method()["datasets"]])
    rows = [heads, *zip(*columns, strict=True)]
    over = f"means over {n} data sets" if n > 1 else f"on {comparison.dataset_names[0]}"
    order = f"sorted by {comparison.measure_titles[comparison.sorting_measure]}"
    about = "; ".join(filter(None, [over, f"reference: {comparison.reference}", comparison.task_counts_text, order]))
    if any(found.n_comparisons for found in comparison.over_datasets.values()):
        about += "; differences with simultaneous 95% intervals (Student's t, Bonferroni's correction)"
    return "\n".join(
        [
            about,
            aligned_table_text(rows),
            *_lines_of_ranks_and_p_values(comparison),
            *(sentence.replace("`", "") for sentence in comparison.sentences()),
            *filter(None, [comparison.mark_sentence]),
        ]
    )


def _lines_of_ranks_and_p_values(comparison: "ComparedMethods") -> list[str]:
    """Return the title and the table of mean ranks and corrected p-values of each method; nothing if no method is tested."""
    if not any(found.n_comparisons for found in comparison.over_datasets.values()):
        return []
    heads, columns = ["method"], [comparison.method_specs]
    for measure, found in comparison.over_datasets.items():
        heads += [f"{comparison.measure_titles[measure]} rank", "p"]
        columns += [format_numbers_or_dash(found.mean_ranks, 2), p_value_cells(found)]
    title = (
        "mean ranks (1 is best), and p of the Wilcoxon signed-rank test against the reference after Holm's correction "
        "(data sets on which the method is better/the same/worse)"
    )
    return [title, aligned_table_text([heads, *zip(*columns, strict=True)])]
