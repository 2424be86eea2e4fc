"""Tables and sentences of a comparison of aggregators against people."""

from typing import TYPE_CHECKING

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.core.count_text import count_text
from plurivox.evaluate import MEASURES_AGAINST_PEOPLE, Interval, p_value_text
from plurivox.evaluate.rank_tests import MIN_DATASETS
from plurivox.workflows.comparison_tables import (
    SIGNIFICANT,
    bullets,
    format_numbers_or_dash,
    list_of_specs,
    markdown_table,
    sentences_about_tests,
    spec_in_backticks,
)

if TYPE_CHECKING:
    from plurivox.workflows.compare_against_people import PeopleComparison

ON_RANDOM_TASKS = ", on "  # in the text of what methods are compared with, before the number of random tasks
FEW_VOTES = 20  # with fewer votes per task the text says that some measures favour sure predictions
FLOOR_ROW = "(finite-vote floor)"
DIFFERENCES = ("manhattan", "cross_entropy")  # of which differences are shown for a single data set


def title_of_means(comparison: "PeopleComparison") -> str:
    """Return the title of the table of means over data sets, with what the methods are compared with."""
    n = len(comparison.dataset_names)
    texts = sorted({text.split(ON_RANDOM_TASKS)[0] for text in comparison.against.tolist()})
    return f"Means over {count_text(n, 'data set')}, against {texts[0] if len(texts) == 1 else 'what people say'}"


def task_counts_text(comparison: "PeopleComparison") -> str:
    """Return the numbers of tasks compared and of votes per task, as text; for several data sets their ranges."""
    low, high = int(comparison.tasks.min()), int(comparison.tasks.max())
    each = " each" if len(comparison.dataset_names) > 1 else ""
    n_tasks = count_text(low, "task") if low == high else f"{low:,} to {high:,} tasks"
    return f"{n_tasks}{each}, {_votes_text(comparison.votes_per_task)}, {_splits_text(comparison.splits)}"


def _splits_text(splits: Ints) -> str:
    """Return the number of random splits over which values are averaged, as text."""
    low, high = int(splits.min()), int(splits.max())
    return f"mean over {low} to {high} splits" if low < high else count_text(low, "split")


def _votes_text(votes_per_task: Floats) -> str:
    """Return how many votes per task the methods are compared with, as text."""
    known = votes_per_task[np.isfinite(votes_per_task)]
    if not len(known):
        return "compared with shares of an unknown number of votes"
    low, high = f"{known.min():.4g}", f"{known.max():.4g}"
    plural = "" if high == low == "1" else "s"
    return f"compared with {low if low == high else f'{low} to {high}'} vote{plural} per task"


# ---- sentences


def sentences(comparison: "PeopleComparison") -> list[str]:
    """Return what the tests show, and how measures and floor are defined, as sentences."""
    n = len(comparison.dataset_names)
    tested = sentences_about_tests(comparison) if n >= MIN_DATASETS else _sentences_on_tasks(comparison)
    return [*tested, *settings_sentences(comparison)]


def settings_sentences(comparison: "PeopleComparison") -> list[str]:
    """Return how the measures and the floor are defined, and how to read them, as sentences."""
    share, few = comparison.smoothing, np.nanmin([*comparison.votes_per_task, np.inf]) < FEW_VOTES
    proper = [one.title for one in MEASURES_AGAINST_PEOPLE if one.proper]
    known = np.isfinite(comparison.floors).any()
    found = [
        f"CE (mean over tasks) and NLL (mean over votes) in nats, of {1 - share:g} q + {share:g} / K for a prediction q over K "
        f"labels: a label with q = 0 costs log(K / {share:g})",
        "the finite-vote floor is what the true distribution of every task would have against as many votes; it is estimated "
        "by a mixture of Dirichlet distributions, so roughly, and only what a method has beyond it is its distance from people"
        if known
        else "no finite-vote floor: the number of votes is not known, or the votes are soft answers",
    ]
    if few:
        found.append(
            "with few votes per task to compare with, Manhattan and JSD favour predictions that are surer than people (values "
            f"below the floor are possible), so no method is called better or worse by them; {' and '.join(proper)} do not"
        )
    found.append(
        "differences to the reference have 95% intervals that hold for all methods together, and p-values by Holm's "
        "correction: near the limit one may show a difference and the other not"
    )
    n = len(comparison.method_specs)
    cut = [
        f"{dataset} {ON_RANDOM_TASKS.strip(', ')} {text.split(ON_RANDOM_TASKS)[1]}"
        for dataset, text in zip(comparison.dataset_names, comparison.against[::n].tolist(), strict=True)
        if ON_RANDOM_TASKS in text
    ]
    found += [f"compared on a part of large data sets: {'; '.join(cut)}"] if cut else []
    return [*found, *filter(None, [comparison.mark_sentence])]


def _sentences_on_tasks(comparison: "PeopleComparison") -> list[str]:
    """Return which methods differ from the reference on each data set by the bootstrap over tasks."""
    n_methods, specs = len(comparison.method_specs), comparison.method_specs
    found = []
    for i, dataset in enumerate(comparison.dataset_names):
        rows = slice(i * n_methods, (i + 1) * n_methods)
        for k, measure in enumerate(MEASURES_AGAINST_PEOPLE):
            if measure.name in comparison.measures_without_verdict:
                continue
            p, gain = comparison.p_values[rows, k], comparison.differences[rows, k]
            n_tested = int(np.isfinite(p).sum())
            if not n_tested:
                continue
            gain = gain if measure.higher_is_better else -gain
            better, worse = ([specs[m] for m in np.flatnonzero((p <= SIGNIFICANT) & (s * gain > 0))] for s in (1, -1))
            found.append(
                f"{dataset}, {measure.title}: better than `{comparison.reference}`: {list_of_specs(better)}; worse: "
                f"{list_of_specs(worse)} (paired bootstrap over tasks, p <= {SIGNIFICANT} after Holm's correction over "
                f"{count_text(n_tested, 'comparison')})"
            )
    return found


# ---- tables


def rows_of_dataset(comparison: "PeopleComparison", dataset: str) -> list[list[str]]:
    """Return head and rows of the table of one data set: each measure with its rank, differences to the reference, seconds."""
    at = comparison.dataset_names.index(dataset)
    columns = [[*comparison.marked_specs, FLOOR_ROW], [*comparison.estimates_of_methods, ""]]
    heads = ["method", "estimates"]
    for measure, title in comparison.measure_titles.items():
        values, ranks = (one[at] for one in (comparison.table(measure), _ranks_table(comparison, measure)))
        cells = [_value_and_rank(*pair) for pair in zip(values, ranks, strict=True)]
        columns.append([*cells, *format_numbers_or_dash(comparison.floor_of(measure)[[at]], 4)])
        heads.append(title)
    for measure in DIFFERENCES:
        columns.append([*_difference_cells(comparison, at, measure), ""])
        heads.append(f"{comparison.measure_titles[measure].split(' ')[0]} - reference (p)")
    columns.append([*format_numbers_or_dash(comparison.table("seconds")[at], 3), ""])
    return [[*heads, "seconds"], *(list(row) for row in zip(*columns, strict=True))]


def _ranks_table(comparison: "PeopleComparison", measure: str) -> Floats:
    """Return (n_datasets, n_methods) the ranks of the methods in one measure."""
    return comparison.ranks_of(measure).reshape(-1, len(comparison.method_specs))


def _value_and_rank(value: float, rank: float) -> str:
    """Return a value with its rank, such as "0.1234 (2)"; "-" if there is no value."""
    return "-" if np.isnan(value) else f"{value:.4f} ({rank:g})"


def _difference_cells(comparison: "PeopleComparison", dataset: int, measure: str) -> list[str]:
    """Return the difference of each method to the reference with interval and p-value, as texts."""
    n, k = len(comparison.method_specs), list(comparison.measure_titles).index(measure)
    arrays = (comparison.differences, comparison.lows, comparison.highs, comparison.p_values)
    columns = (array[dataset * n : (dataset + 1) * n, k].tolist() for array in arrays)
    return [
        str(Interval(mean, low, high)).replace("unknown", "-") + ("" if np.isnan(p) else f" ({p_value_text(p)})")
        for mean, low, high, p in zip(*columns, strict=True)
    ]


def rows_of_means(comparison: "PeopleComparison") -> list[list[str]]:
    """Return head and rows of the table of means over data sets: each measure with its mean rank, and the floor."""
    n_results = np.isfinite(comparison.table("manhattan")).sum(0)
    columns = [[*comparison.marked_specs, FLOOR_ROW], [*comparison.estimates_of_methods, ""]]
    floors = {measure: comparison.floor_of(measure) for measure in comparison.measure_titles}
    n_floors = int(np.isfinite(floors["manhattan"]).sum())
    columns.append([*(str(n) for n in n_results), str(n_floors)])
    heads = ["method", "estimates", "data sets"]
    for measure, title in comparison.measure_titles.items():
        ranks = comparison.over_datasets[measure].mean_ranks
        cells = [
            _value_and_rank(*pair) for pair in zip(comparison.mean_over_datasets(measure), ranks.round(2), strict=True)
        ]
        known = floors[measure][np.isfinite(floors[measure])]
        columns.append([*cells, *format_numbers_or_dash(np.array([known.mean() if len(known) else np.nan]), 4)])
        heads.append(title)
    columns.append([*format_numbers_or_dash(comparison.mean_over_datasets("seconds"), 3), ""])
    return [[*heads, "seconds"], *(list(row) for row in zip(*columns, strict=True))]


def markdown(comparison: "PeopleComparison", over_datasets: str) -> str:
    """Return the Markdown of the comparison over data sets, followed by a table of all measures for each data set."""
    parts = [over_datasets] if len(comparison.dataset_names) >= MIN_DATASETS else [_markdown_notes(comparison)]
    for at, dataset in enumerate(comparison.dataset_names):
        first = at * len(comparison.method_specs)
        heads, *rows = rows_of_dataset(comparison, dataset)
        specs = [FLOOR_ROW if row[0] == FLOOR_ROW else spec_in_backticks(row[0]) for row in rows]
        table = markdown_table(heads, [specs, *list(zip(*rows, strict=True))[1:]])
        about = f"{count_text(int(comparison.tasks[first]), 'task')}, {_votes_text(comparison.votes_per_task[[first]])}"
        about += f", {_splits_text(comparison.splits[[first]])}"
        parts.append(
            f"{dataset}, against {comparison.against[first]}: {about} (rank in brackets; reference: "
            f"`{comparison.reference}`)\n\n{table}\n"
        )
    return "\n".join(parts)


def _markdown_notes(comparison: "PeopleComparison") -> str:
    """Return the sentences and notes of a comparison on one or two data sets as Markdown."""
    return f"Tests\n\n{bullets([*comparison.sentences(), *comparison.notes])}\n"
