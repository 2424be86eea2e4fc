"""Compare aggregators on data sets with gold labels: accuracy, NLL, Brier score, calibration error, time."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from plurivox import aggregate, evaluate
from plurivox.aggregate import Aggregator
from plurivox.core.array_types import TEXT, Floats, Ints, Names
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning, first_few, unknown_name_error
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step, no_progress
from plurivox.core.recipe_tables import Table
from plurivox.core.registry import BrokenPlugin
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import NLL_CLIP, Interval, MethodsOverDatasets
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.soft_label_files import as_soft_labels
from plurivox.workflows import comparison_tables
from plurivox.workflows.comparison_tables import MEASURES
from plurivox.workflows.unused_label_order import is_order_declared_by_caller, warn_if_no_aggregator_uses_order

Pair = tuple[Votes, SoftLabels]  # votes and gold labels


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(DataType):
    """Measures of aggregators on data sets: one row per data set and method; NaN if a method could not be applied."""

    dataset: Names  # (n_rows,)
    method: Names  # (n_rows,) the spec of the method
    accuracy: Floats  # (n_rows,) ties shared evenly
    nll: Floats  # (n_rows,) of the true label, whose probability is at least `clip`
    brier: Floats  # (n_rows,)
    ece: Floats  # (n_rows,) 15 bins
    seconds: Floats  # (n_rows,) of the fit
    reference: str  # the method that the others are compared with
    clip: float = NLL_CLIP  # probabilities below this are raised to it in the NLL
    notes: tuple[str, ...] = ()  # which method could not be applied to which data set, and why
    tasks: Ints | None = None  # (n_rows,) number of tasks with votes and a gold label; None in files of version 1

    version: ClassVar[int] = 2

    @classmethod
    def upgrade(cls, saved_version: int, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a saved comparison without the settings of the bootstrap, which version 1 had."""
        del saved_version
        return {name: value for name, value in fields.items() if name not in ("repeats", "seed")}

    @property
    def method_specs(self) -> list[str]:
        """The specs of the compared methods, in the order given."""
        return list(dict.fromkeys(self.method.tolist()))

    @property
    def dataset_names(self) -> list[str]:
        """The names of the compared data sets, in the order given."""
        return list(dict.fromkeys(self.dataset.tolist()))

    def table(self, measure: str) -> Floats:
        """Return (n_datasets, n_methods) the values of one measure, such as "accuracy"."""
        return np.asarray(getattr(self, measure)).reshape(len(self.dataset_names), len(self.method_specs))

    def mean_over_datasets(self, measure: str) -> Floats:
        """Return (n_methods,) the mean of a measure over the data sets with a result; NaN if a method has none."""
        table = self.table(measure)
        n = np.isfinite(table).sum(0)
        return np.where(n > 0, np.nansum(table, 0) / np.maximum(n, 1), np.nan)

    @cached_property
    def over_datasets(self) -> dict[str, MethodsOverDatasets]:
        """Of each measure the ranks, tests, simultaneous intervals, medians and shares of single data sets."""
        at = self.method_specs.index(self.reference)
        return {
            measure: MethodsOverDatasets(self.table(measure), at, higher_is_better=measure == "accuracy")
            for measure in MEASURES
        }

    def mean_differences_to_reference(self, measure: str) -> list[Interval]:
        """Return the mean difference of each method to the reference over data sets with both, with its simultaneous interval.

        The intervals of a measure hold together with a probability of 95%: Student's t with Bonferroni's correction. There is
        no interval with fewer than three data sets, nor for methods with the same results as the reference.
        """
        return self.over_datasets[measure].differences

    # ---- output

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the comparison as columns dataset, method, accuracy, nll, brier, ece, seconds, tasks (if counted)."""
        found = {name: getattr(self, name) for name in ("dataset", "method", *MEASURES, "seconds")}
        return found if self.tasks is None else found | {"tasks": self.tasks}

    @property
    def task_counts_text(self) -> str:
        """The number of tasks with votes and a gold label, over which measures are computed, as text; "" if not counted.

        For several data sets the smallest and the largest number.
        """
        if self.tasks is None:
            return ""
        low, high = int(self.tasks.min()), int(self.tasks.max())
        each = " each" if len(self.dataset_names) > 1 else ""
        return f"{low:,}{'' if low == high else f' to {high:,}'} tasks with votes and a gold label{each}"

    def csv(self) -> str:
        """Return the comparison as CSV text, one row per data set and method."""
        return Table("", self.columns()).csv()

    def means_and_differences_of_each_method(self) -> dict[str, NDArray[Any]]:
        """Return one row per method: number of data sets; per measure mean, median, rank and comparison with the reference."""
        table: dict[str, NDArray[Any]] = {"method": np.array(self.method_specs, TEXT)}
        table["datasets"] = np.isfinite(self.table("accuracy")).sum(0)
        for measure in MEASURES:
            table |= comparison_tables.columns_of_measure(self, measure)
        return table | {"seconds": self.mean_over_datasets("seconds")}

    def markdown(self) -> str:
        """Return Markdown tables: means, ranks, tests against the reference, shares of single data sets, values by data set."""
        return comparison_tables.markdown_of_comparison(self)

    def summary_values(self) -> dict[str, object]:
        return {"datasets": len(self.dataset_names), "methods": len(self.method_specs), "reference": self.reference}


def compare(
    datasets: Any,
    methods: str | Sequence[str | Aggregator] | None = None,
    *,
    gold: SoftLabels | str | Path | None = None,
    part: str | None = None,
    reference: str | None = None,
    clip: float = NLL_CLIP,
    progress: Progress = no_progress,
) -> Comparison:
    """Fit every aggregator on every data set; return its accuracy, NLL, ... on the tasks that have votes and a gold label.

    `datasets` are a list of data sets, their paths or names; one of these alone; or a mapping from names to them or to
    (votes, gold labels). `gold` are the gold labels of data sets without their own. `methods` are a list, or one text separated
    by commas; default: all that can be loaded. `part` selects votes or counts if a data set has both. `reference` is one of the
    methods; default: the first. `clip` is the least probability in the NLL. A method that cannot be applied to a data set gets
    NaN there and a note. Gold labels are not used in the fit.

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> made = compare(votes, "vote-shares,wawa", gold=SoftLabels.gold(["a", "b"], ["no", "yes"]))
    >>> made.mean_over_datasets("accuracy"), made.mean_over_datasets("nll").round(3)
    (array([1., 1.]), array([0.405, 0.288]))
    """
    given = (
        split_at_commas_outside_brackets(methods)
        if isinstance(methods, str)
        else _names_of_loadable_aggregators()
        if methods is None
        else methods
    )
    if (isinstance(datasets, Mapping | list | tuple) and not datasets) or not given:
        raise InputError("compare needs at least one data set and one method")
    pairs = _votes_and_gold_by_dataset_name(datasets, as_soft_labels(gold), part)
    made = [aggregate.methods.make(method) for method in given]
    specs = [method.spec for method in made]
    base = specs[0] if reference is None else aggregate.methods.make(reference).spec
    _check_specs_distinct_and_include_reference(specs, base)
    if not 0 < clip < 1:
        raise OptionError(f"clip, the least probability in the NLL, must be above 0 and below 1; got {clip}")
    for data in _data_with_order_declared_by_caller(datasets)[:1]:
        warn_if_no_aggregator_uses_order(data, made)
    truths = {name: gold_of_tasks_with_votes(*pair, f"{name}: ") for name, pair in pairs.items()}
    rows, notes = _measure_methods_and_note_failures(pairs, truths, made, clip, progress)
    figures = dict(zip((*MEASURES, "seconds"), np.array(rows, np.float64).T, strict=True))
    return Comparison(
        dataset=np.repeat(np.array(list(pairs), TEXT), len(made)),
        method=np.tile(np.array(specs, TEXT), len(pairs)),
        **figures,
        reference=base,
        clip=clip,
        notes=tuple(notes),
        tasks=np.repeat([len(truth) for truth in truths.values()], len(made)),
    )


def _names_of_loadable_aggregators() -> list[str]:
    """Return the names of all aggregators that can be loaded; warn about plugins that cannot."""
    names = []
    for name in aggregate.methods:
        try:
            aggregate.methods[name]
            names.append(name)
        except BrokenPlugin as fault:
            warnings.warn(f"{fault}; left out", PlurivoxWarning, stacklevel=3)
    return names


def _data_with_order_declared_by_caller(datasets: Any) -> list[Any]:
    """Return the votes or data sets, in any form that `compare` accepts, whose labels the caller declared to be ordered."""
    many = datasets.values() if isinstance(datasets, Mapping) else datasets
    listed = many if isinstance(datasets, Mapping | list | tuple) else [many]
    return [
        one for one in (one[0] if isinstance(one, tuple) else one for one in listed) if is_order_declared_by_caller(one)
    ]


def _votes_and_gold_by_dataset_name(datasets: Any, gold: SoftLabels | None, part: str | None) -> dict[str, Pair]:
    """Return {data set name: (votes, gold labels)}; the later of two data sets with the same name is named by its path."""
    if isinstance(datasets, Mapping) and not {"task", "label"} <= set(datasets):  # not a table of votes
        return {
            name: one if isinstance(one, tuple) else _votes_and_gold_of_dataset(as_dataset(one), gold, part)
            for name, one in datasets.items()
        }
    pairs: dict[str, Pair] = {}
    for one in datasets if isinstance(datasets, list | tuple) else [datasets]:
        data = as_dataset(one)
        pair = _votes_and_gold_of_dataset(data, gold, part)
        pairs[str(data.path or data.name) if data.name in pairs else data.name] = pair
    return pairs


def _votes_and_gold_of_dataset(data: Dataset, gold: SoftLabels | None, part: str | None) -> Pair:
    """Return the votes and gold labels of one data set; raise InputError if it has no gold labels."""
    known = data.gold if gold is None else gold
    if known is None:
        raise InputError(
            f"{data.name} has no gold labels, which a comparison needs: give a table task,label as gold=... (--gold FILE)"
        )
    return as_votes(data, part if data.has("votes") and data.has("counts") else None), known


def _measure_methods_and_note_failures(
    votes_and_gold_by_dataset: Mapping[str, Pair],
    truth_by_dataset: Mapping[str, SoftLabels],
    methods: Sequence[Aggregator],
    clip: float,
    progress: Progress,
) -> tuple[list[tuple[float, ...]], list[str]]:
    """Return (accuracy, ..., seconds) of each aggregator on each data set, and notes on those that could not be applied."""
    rows: list[tuple[float, ...]] = []
    notes: list[str] = []
    total = len(votes_and_gold_by_dataset) * len(methods)
    for name, (votes, _) in votes_and_gold_by_dataset.items():
        truth = truth_by_dataset[name]
        for method in methods:
            step = len(rows)
            try:
                rows.append(
                    accuracy_nll_brier_ece_seconds_of_fit(
                        method, votes, truth, callback_reporting_only_outer_step(progress, step, total), clip
                    )
                )
            except (
                InputError
            ) as cause:  # other errors concern the method or its options, not the data set, and are raised
                rows.append((np.nan,) * (len(MEASURES) + 1))
                notes.append(f"{method.spec} has no result on {name}: {cause}")
            progress(step, total, rows[-1][0])
    return rows, notes


def gold_of_tasks_with_votes(votes: Votes, gold: SoftLabels, error_prefix: str = "") -> SoftLabels:
    """Return the gold labels of tasks with votes; raise InputError, its message after `error_prefix`, if none."""
    known = gold.shared(votes.tasks_with_votes)
    if not len(known):
        raise InputError(
            f"{error_prefix}no task has both votes and a gold label; the votes are on the tasks {first_few(votes.tasks)}, "
            f"the gold labels on {first_few(gold.tasks)}"
        )
    return known


def _check_specs_distinct_and_include_reference(method_specs: list[str], reference: str) -> None:
    """Raise an error if a method is listed twice or the reference is not among the methods."""
    if twice := sorted({spec for spec in method_specs if method_specs.count(spec) > 1}):
        raise InputError(f"a method is given twice: {first_few(twice)}; give each method once")
    if reference not in method_specs:
        raise unknown_name_error("method in this comparison called", reference, method_specs)


def accuracy_nll_brier_ece_seconds_of_fit(
    method: Aggregator, votes: Votes, truth: SoftLabels, progress: Progress = no_progress, clip: float = NLL_CLIP
) -> tuple[float, ...]:
    """Fit one aggregator on votes and return its (accuracy, nll, brier, ece, seconds) against the true labels."""
    begin = time.perf_counter()
    prediction = method.fit(votes, progress=progress).soft
    seconds = time.perf_counter() - begin
    return (
        evaluate.accuracy(prediction, truth, ties="share"),
        evaluate.nll(prediction, truth, clip=clip),
        evaluate.brier(prediction, truth),
        evaluate.ece(prediction, truth, ties="share"),
        seconds,
    )
