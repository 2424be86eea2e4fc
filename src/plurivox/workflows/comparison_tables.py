"""Tables and sentences of a comparison of aggregators: Markdown, columns for JSON, what differs after correction."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import TEXT, Floats
from plurivox.core.count_text import count_text
from plurivox.evaluate import MethodsOverDatasets, p_value_text
from plurivox.evaluate.rank_tests import MIN_DATASETS

if TYPE_CHECKING:
    from plurivox.workflows.compared_methods import ComparedMethods

SIGNIFICANT = 0.05  # of corrected p-values
FEW_DATASETS = 30  # below this the text says that the tests have little power


def columns_of_measure(comparison: "ComparedMethods", measure: str) -> dict[str, NDArray[Any]]:
    """Return one row per method as columns named after the measure: mean, median, rank, comparison with the reference."""
    found = comparison.over_datasets[measure]
    wins, ties, losses = found.wins_ties_losses.T
    names = np.array([*comparison.dataset_names, ""], TEXT)  # index -1: no data set
    columns: dict[str, NDArray[Any]] = {
        "": comparison.mean_over_datasets(measure),
        "_difference": np.array([one.mean for one in found.differences]),
        "_low": np.array([one.low for one in found.differences]),
        "_high": np.array([one.high for one in found.differences]),
        "_p": found.holm_p_values,
        "_wins": wins,
        "_ties": ties,
        "_losses": losses,
        "_rank": found.mean_ranks,
        "_median": found.medians,
        "_largest_share": found.largest_share,
        "_largest_share_dataset": names[found.dataset_with_largest_share],
        "_mean_without_it": found.means_without_largest_share,
    }
    return {f"{measure}{suffix}": column for suffix, column in columns.items()}


def rank_tests_by_measure(comparison: "ComparedMethods") -> dict[str, dict[str, Any]]:
    """Return per measure Friedman's test, the numbers of data sets and comparisons, and the methods with the same results."""
    return {measure: _rank_tests_of_measure(comparison, found) for measure, found in comparison.over_datasets.items()}


def _rank_tests_of_measure(comparison: "ComparedMethods", found: MethodsOverDatasets) -> dict[str, Any]:
    """Return Friedman's test, the numbers of data sets and comparisons, and the methods with the same results as a dict."""
    test = found.friedman
    return {
        "friedman": None if test is None else {"chi2": test.chi2, "f": test.f, "p": test.p_value},
        "ranked_datasets": len(found.ranked_datasets),
        "distinct_methods": len(found.distinct_methods),
        "comparisons": found.n_comparisons,
        "smallest_possible_p": found.smallest_possible_p,
        "same_results": methods_with_same_results(comparison, found),
    }


def methods_with_same_results(comparison: "ComparedMethods", found: MethodsOverDatasets) -> list[list[str]]:
    """Return groups of two or more methods that have the same value of a measure on every data set."""
    specs, first = comparison.method_specs, found.first_with_same_values
    groups = [
        [specs[i] for i in np.flatnonzero(first == method)]
        for method in np.unique(first)
        if np.isfinite(found.values[:, method]).any()
    ]
    return [group for group in groups if len(group) > 1]


# ---- sentences


def sentences_about_tests(comparison: "ComparedMethods") -> list[str]:
    """Return what the tests show as sentences: same results, Friedman's tests, differences to the reference, power."""
    n = len(comparison.dataset_names)
    if n < MIN_DATASETS:
        return [_sentence_on_too_few_datasets(n)]
    sentences = []
    for measure, found in comparison.over_datasets.items():
        if not len(found.distinct_methods):
            continue  # no method has a value on any data set
        title = comparison.measure_titles[measure]
        if measure in comparison.measures_without_verdict:
            continue
        sentences += [
            f"{title}: {list_of_specs(group)} have the same values on all data sets and count as one method"
            for group in methods_with_same_results(comparison, found)
        ]
        sentences.append(f"{title}: {_friedman_sentence(found)}")
        if found.n_comparisons:
            sentences.append(f"{title}: {_sentence_on_differences_after_correction(comparison, found)}")
            sentences.append(f"{title}: {_sentence_on_intervals(comparison, found)}")
        sentences.append(f"{title}: {_sentence_on_largest_share(comparison, found)}")
    return [*sentences, _sentence_on_power(comparison)]


def _sentence_on_too_few_datasets(n: int) -> str:
    """Return why there are no tests with one or two data sets, and what gives intervals over their tasks."""
    return (
        f"no intervals or tests of the differences: those between methods are over data sets, at least {MIN_DATASETS} "
        f"({count_text(n, 'data set')} given). Intervals over the tasks of one: write labels by plurivox aggregate METHOD "
        "INPUT -o A.csv, then plurivox evaluate A.csv TRUTH, or plurivox compare A.csv B.csv --gold TRUTH (in Python: "
        "pv.evaluate_labels, pv.evaluate.compare_several_predictions)"
    )


def _friedman_sentence(found: MethodsOverDatasets) -> str:
    """Return the result of Friedman's test as text, or why there is none."""
    n, k = len(found.ranked_datasets), len(found.distinct_methods)
    if found.friedman is None:
        return (
            f"Friedman's test is not defined for {count_text(k, 'distinct method')} on "
            f"{count_text(n, 'data set')} with all results; it needs three of each"
        )
    verdict = (
        "the mean ranks differ" if found.friedman.p_value <= SIGNIFICANT else "no difference in mean ranks is shown"
    )
    return f"{verdict} (Friedman with Iman-Davenport correction, {k} distinct methods, {n} data sets: {found.friedman})"


def _sentence_on_differences_after_correction(comparison: "ComparedMethods", found: MethodsOverDatasets) -> str:
    """Return which methods are better and which worse than the reference by the corrected signed-rank test."""
    significant = found.holm_p_values <= SIGNIFICANT
    better, worse = (
        [comparison.method_specs[i] for i in np.flatnonzero(significant & (sign * found.signed_rank_sums > 0))]
        for sign in (1, -1)
    )
    return (
        f"better than `{comparison.reference}`: {list_of_specs(better)}; worse: {list_of_specs(worse)} (Wilcoxon "
        f"signed-rank tests, p <= {SIGNIFICANT} after Holm's correction over {count_text(found.n_comparisons, 'comparison')})"
    )


def _sentence_on_intervals(comparison: "ComparedMethods", found: MethodsOverDatasets) -> str:
    """Return for which methods the simultaneous interval of the mean difference to the reference excludes 0."""
    clear = [spec for spec, one in zip(comparison.method_specs, found.differences, strict=True) if one.excludes_zero]
    return f"the simultaneous interval of the mean difference to `{comparison.reference}` excludes 0: {list_of_specs(clear)}"


def _sentence_on_largest_share(comparison: "ComparedMethods", found: MethodsOverDatasets) -> str:
    """Return which data set has the largest share of the mean of the reference, and the mean without it."""
    at = comparison.method_specs.index(comparison.reference)
    dataset = found.dataset_with_largest_share[at]
    if dataset < 0 or not np.isfinite(found.means_without_largest_share[at]):
        return "no share of a single data set is defined"
    return (
        f"{comparison.dataset_names[dataset]} gives {found.largest_share[at]:.0%} of the mean of `{comparison.reference}`, "
        f"which is {np.nanmean(found.values[:, at]):.4f}; without it {found.means_without_largest_share[at]:.4f}, "
        f"median {found.medians[at]:.4f}"
    )


def _sentence_on_power(comparison: "ComparedMethods") -> str:
    """Return how much the tests can show with this number of data sets."""
    n = len(comparison.dataset_names)
    if not any(found.n_comparisons for found in comparison.over_datasets.values()):
        return f"no p-values and intervals: they need two methods with results on the same {MIN_DATASETS} data sets"
    smallest = max(found.smallest_possible_p for found in comparison.over_datasets.values() if found.n_comparisons)
    if smallest > SIGNIFICANT:
        return (
            f"{count_text(n, 'data set')} are too few for these tests: a method that is better on all of them has p = "
            f"{p_value_text(smallest)} after correction"
        )
    few = "few, so the power is low: " if n < FEW_DATASETS else "compared: "
    return f"{count_text(n, 'data set')} are {few}a difference that is not shown may still exist"


def list_of_specs(specs: Sequence[str]) -> str:
    """Return specs in backticks, separated by commas; "none" for an empty list."""
    return ", ".join(f"`{spec}`" for spec in specs) or "none"


# ---- Markdown


def markdown_of_comparison(comparison: "ComparedMethods") -> str:
    """Return the comparison as Markdown: means, ranks, tests against the reference, shares of data sets, values by data set."""
    tables = {"Tests": bullets(comparison.sentences())}
    tables |= _tables_over_datasets(comparison) | _tables_by_dataset(comparison)
    if notes := [*filter(None, [comparison.task_counts_text, comparison.mark_sentence]), *comparison.notes]:
        tables["Notes"] = bullets(notes)
    return "\n".join(f"{title}\n\n{table}\n" for title, table in tables.items())


def _tables_over_datasets(comparison: "ComparedMethods") -> dict[str, str]:
    """Return Markdown tables with one row per method by title: means, ranks, differences, p-values, medians, largest shares."""
    titles = comparison.measure_titles
    n_results = np.isfinite(comparison.table(next(iter(titles)))).sum(0).tolist()
    means = [format_numbers_or_dash(comparison.mean_over_datasets(measure), 4) for measure in titles]
    seconds = format_numbers_or_dash(comparison.mean_over_datasets("seconds"), 2)
    specs = [spec_in_backticks(spec) for spec in comparison.marked_specs]
    n, heads = len(comparison.dataset_names), ["method", *titles.values()]
    cells = _cells_of_differences(comparison) if n < MIN_DATASETS else _cells_over_datasets(comparison)
    return {
        comparison.title_of_means(): markdown_table(
            ["method", "data sets", *titles.values(), "seconds"], [specs, n_results, *means, seconds]
        ),
        **{title: markdown_table(heads, [specs, *columns]) for title, columns in cells.items()},
    }


def _cells_of_differences(comparison: "ComparedMethods") -> dict[str, list[list[str]]]:
    """Return the differences to the reference without intervals, as {title: one column of texts per measure}."""
    columns = [
        [str(one) for one in comparison.mean_differences_to_reference(measure)] for measure in comparison.measure_titles
    ]
    return {f"Differences to `{comparison.reference}`": columns}


def _cells_over_datasets(comparison: "ComparedMethods") -> dict[str, list[list[str]]]:
    """Return ranks, differences, p-values, medians and largest shares, as {title: one column of texts per measure}."""
    all_found = list(comparison.over_datasets.values())
    counts = ", ".join(
        f"{found.n_comparisons} in {title}"
        for found, title in zip(all_found, comparison.measure_titles.values(), strict=True)
    )
    n_ranked, reference = len(all_found[0].ranked_datasets), comparison.reference
    return {
        f"Mean ranks over the {count_text(n_ranked, 'data set')} on which all methods have results (1 is best; ties share "
        "ranks; methods with the same values count once)": [
            format_numbers_or_dash(found.mean_ranks, 2) for found in all_found
        ],
        f"Differences to `{reference}`: mean and simultaneous 95% interval over data sets (Student's t, Bonferroni's "
        f"correction for all comparisons of a column: {counts})": [
            [str(one) for one in found.differences] for found in all_found
        ],
        f"p-values against `{reference}`: Wilcoxon signed-rank test over data sets, Holm's correction for all comparisons of a "
        "column (data sets on which the method is better/the same/worse)": [
            p_value_cells(found) for found in all_found
        ],
        "Medians over data sets": [format_numbers_or_dash(found.medians, 4) for found in all_found],
        "Data set with the largest share of the mean: its share, and the mean without it": [
            _largest_share_cells(comparison, found) for found in all_found
        ],
    }


def p_value_cells(found: MethodsOverDatasets) -> list[str]:
    """Return one text per method: corrected p-value and numbers of data sets it wins, ties and loses; "-" if not tested."""
    return [
        "-" if np.isnan(p) else f"{p_value_text(p)} ({'/'.join(map(str, counts))})"
        for p, counts in zip(found.holm_p_values, found.wins_ties_losses.tolist(), strict=True)
    ]


def _largest_share_cells(comparison: "ComparedMethods", found: MethodsOverDatasets) -> list[str]:
    """Return one text per method such as "hitspam 34%, 0.6012": data set, its share, mean without it; "-" if not defined."""
    cells = zip(found.dataset_with_largest_share, found.largest_share, found.means_without_largest_share, strict=True)
    return [
        "-" if np.isnan(rest) else f"{comparison.dataset_names[dataset]} {share:.0%}, {rest:.4f}"
        for dataset, share, rest in cells
    ]


def _tables_by_dataset(comparison: "ComparedMethods") -> dict[str, str]:
    """Return Markdown tables of accuracy and NLL with one row per data set, by title."""
    heads = ["data set", *(f"`{spec}`" for spec in comparison.method_specs)]
    tables = {}
    for measure in comparison.measures_by_dataset:
        cells = [format_numbers_or_dash(column, 4) for column in comparison.table(measure).T]
        tables[f"{comparison.measure_titles[measure]} by data set"] = markdown_table(
            heads, [comparison.dataset_names, *cells]
        )
    return tables


def spec_in_backticks(marked_spec: str) -> str:
    """Return a spec in backticks, with its asterisk, if any, after them."""
    spec = marked_spec.removesuffix("*")
    return f"`{spec}`" + (r"\*" if spec != marked_spec else "")


def format_numbers_or_dash(values: Floats, n_decimals: int) -> list[str]:
    """Return a column of numbers as texts with this many decimals; "-" for NaN."""
    return [f"{value:.{n_decimals}f}" if np.isfinite(value) else "-" for value in values]


def bullets(lines: Sequence[str]) -> str:
    """Return lines as a Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


def markdown_table(heads: Sequence[str], columns: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table with these column heads and columns."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *zip(*columns, strict=True)]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
