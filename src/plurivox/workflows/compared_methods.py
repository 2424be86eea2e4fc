"""What every comparison of aggregators has: a table of measures by data set and method, ranks and tests over data sets."""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from plurivox import aggregate
from plurivox.aggregate import Aggregator
from plurivox.core.array_types import TEXT, Floats, Names
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few, unknown_name_error, warn_user
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.recipe_tables import Table
from plurivox.core.registry import BrokenPlugin
from plurivox.evaluate import Interval, MethodsOverDatasets
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset
from plurivox.workflows import comparison_tables

MARK = "*"  # of a method that estimates something else than the comparison asks for


class ComparedMethods(DataType):
    """Base class of comparisons: one row per data set and method, the methods of a data set in the same order for each."""

    dataset: Names  # (n_rows,)
    method: Names  # (n_rows,) the spec of the method
    seconds: Floats  # (n_rows,) of the fit
    reference: str  # the method that the others are compared with
    notes: tuple[str, ...]
    estimates: Names | None  # (n_rows,) truth, people or unknown; None: not recorded

    measure_titles: ClassVar[Mapping[str, str]]  # measure -> title of its column
    higher_is_better: ClassVar[frozenset[str]]  # the other measures are better when lower
    measures_by_dataset: ClassVar[tuple[str, ...]]  # of which Markdown has a table with one row per data set
    asked_for: ClassVar[str]  # what the comparison evaluates: truth or people

    @property
    def measures_without_verdict(self) -> frozenset[str]:
        """The measures whose tests are not put into words, because they favour some predictions here."""
        return frozenset()

    @property
    def method_specs(self) -> list[str]:
        """The specs of the compared methods, in the order given."""
        return list(dict.fromkeys(self.method.tolist()))

    @property
    def dataset_names(self) -> list[str]:
        """The names of the compared data sets, in the order given."""
        return list(dict.fromkeys(self.dataset.tolist()))

    def values_of(self, measure: str) -> Floats:
        """Return (n_rows,) the values of one measure."""
        return np.asarray(getattr(self, measure))

    def table(self, measure: str) -> Floats:
        """Return (n_datasets, n_methods) the values of one measure."""
        return self.values_of(measure).reshape(len(self.dataset_names), len(self.method_specs))

    def mean_over_datasets(self, measure: str) -> Floats:
        """Return (n_methods,) the mean of a measure over the data sets with a result; NaN if a method has none."""
        table = self.table(measure)
        n = np.isfinite(table).sum(0)
        return np.where(n > 0, np.nansum(table, 0) / np.maximum(n, 1), np.nan)

    @property
    def sorting_measure(self) -> str:
        """The measure by which `best_first` sorts: the first one by which methods are called better or worse."""
        return next(one for one in self.measure_titles if one not in self.measures_without_verdict)

    def best_first(self) -> Self:
        """Return the comparison with the methods sorted by `sorting_measure`, the best mean over data sets first.

        Methods with the same mean stay in their order; those without a result come last.
        """
        mean = self.mean_over_datasets(self.sorting_measure)
        better_is_smaller = -mean if self.sorting_measure in self.higher_is_better else mean
        order = np.argsort(np.round(better_is_smaller, 12), kind="stable")  # NaN is sorted to the end
        rows = (np.arange(len(self.dataset_names))[:, None] * len(order) + order).ravel()
        given = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}  # type: ignore[arg-type]
        per_row = {name: value[rows] for name, value in given.items() if isinstance(value, np.ndarray)}
        return type(self)(**{**given, **per_row})

    @cached_property
    def over_datasets(self) -> dict[str, MethodsOverDatasets]:
        """Of each measure the ranks, tests, simultaneous intervals, medians and shares of single data sets."""
        at = self.method_specs.index(self.reference)
        return {
            measure: MethodsOverDatasets(self.table(measure), at, higher_is_better=measure in self.higher_is_better)
            for measure in self.measure_titles
        }

    def mean_differences_to_reference(self, measure: str) -> list[Interval]:
        """Return the mean difference of each method to the reference over data sets with both, with its simultaneous interval.

        The intervals of a measure hold together with a probability of 95%: Student's t with Bonferroni's correction. There is
        no interval with fewer than three data sets, nor for methods with the same results as the reference.
        """
        return self.over_datasets[measure].differences

    # ---- what the methods estimate

    @property
    def estimates_of_methods(self) -> list[str]:
        """What each method estimates: truth, people or unknown; unknown if it is not recorded."""
        n = len(self.method_specs)
        return ["unknown"] * n if self.estimates is None else self.estimates[:n].tolist()

    @property
    def marked_specs(self) -> list[str]:
        """The specs of the methods; those that estimate something else than the comparison evaluates end with an asterisk."""
        pairs = zip(self.method_specs, self.estimates_of_methods, strict=True)
        return [spec + (MARK if other not in (self.asked_for, "unknown") else "") for spec, other in pairs]

    @property
    def mark_sentence(self) -> str:
        """A sentence on what the asterisk means; "" if no method is marked."""
        if self.marked_specs == self.method_specs:
            return ""
        if self.asked_for == "truth":
            return (
                f"{MARK} estimates what people say, not which label is right: its probabilities are not meant to be sure, so "
                "NLL, Brier score and ECE against gold labels are not what it is made for"
            )
        return (
            f"{MARK} estimates which label is right, not what people say: it is surer than people are by design, so a "
            "distance from their votes is not an error of it"
        )

    # ---- output

    def sentences(self) -> list[str]:
        """Return what the tests show, as sentences."""
        return comparison_tables.sentences_about_tests(self)

    def title_of_means(self) -> str:
        """Return the title of the table of means over data sets, with the settings of the measures."""
        raise NotImplementedError

    def means_and_differences_of_each_method(self) -> dict[str, NDArray[Any]]:
        """Return one row per method: number of data sets; per measure mean, median, rank and comparison with the reference."""
        table: dict[str, NDArray[Any]] = {"method": np.array(self.method_specs, TEXT)}
        if self.estimates is not None:
            table["estimates"] = np.array(self.estimates_of_methods, TEXT)
        table["datasets"] = np.isfinite(self.table(next(iter(self.measure_titles)))).sum(0)
        for measure in self.measure_titles:
            table |= comparison_tables.columns_of_measure(self, measure)
        return table | {"seconds": self.mean_over_datasets("seconds")}

    def text(self) -> str:
        """Return the tables, and what the tests show, that `plurivox compare` shows, the methods in their order."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return what `plurivox compare` shows: tables with the best method first, what the tests show, and the notes."""
        return "\n".join([self.best_first().text(), *(f"note: {note}" for note in self.notes)])

    def csv(self) -> str:
        """Return the comparison as CSV text, one row per data set and method."""
        return Table("", self.columns()).csv()

    def markdown(self) -> str:
        """Return Markdown tables: means, ranks, tests against the reference, shares of single data sets, values by data set."""
        return comparison_tables.markdown_of_comparison(self)

    @property
    def task_counts_text(self) -> str:
        """The number of tasks over which measures are computed, as text; "" if not counted."""
        raise NotImplementedError

    def summary_values(self) -> dict[str, object]:
        return {"datasets": len(self.dataset_names), "methods": len(self.method_specs), "reference": self.reference}


# ---- inputs


def datasets_by_name(datasets: Any) -> dict[str, Dataset]:
    """Return {name: data set} of a mapping, a list, or one data set, path or table; a second data set of a name has its path.

    In a mapping a data set may be a tuple whose first element are the votes.
    """
    if isinstance(datasets, Mapping) and not {"task", "label"} <= set(datasets):  # not a table of votes
        return {name: as_dataset(one[0] if isinstance(one, tuple) else one) for name, one in datasets.items()}
    found: dict[str, Dataset] = {}
    for one in datasets if isinstance(datasets, list | tuple) else [datasets]:
        data = as_dataset(one)
        found[str(data.path or data.name) if data.name in found else data.name] = data
    return found


def aggregators_and_reference(
    datasets: Any,
    methods: str | Sequence[str | Aggregator] | None,
    reference: str | None,
    default_reference: str | None = None,
) -> tuple[list[Aggregator], str]:
    """Return the aggregators to compare (default: all that can be loaded) and the spec of the reference among them.

    Without `reference` it is `default_reference` if that is among them, else the first. Raise InputError if there is nothing to
    compare or a method is given twice.
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
    made = [aggregate.methods.make(method) for method in given]
    specs = [method.spec for method in made]
    if twice := sorted({spec for spec in specs if specs.count(spec) > 1}):
        raise InputError(f"a method is given twice: {first_few(twice)}; give each method once")
    wanted = reference if reference is not None else default_reference
    base = specs[0] if wanted is None else wanted if wanted in specs else aggregate.methods.make(wanted).spec
    if base not in specs:
        if reference is not None:
            raise unknown_name_error("method in this comparison called", base, specs)
        base = specs[0]
    return made, base


def _names_of_loadable_aggregators() -> list[str]:
    """Return the names of all aggregators that can be loaded; warn about plugins that cannot."""
    names = []
    for name in aggregate.methods:
        try:
            aggregate.methods[name]
            names.append(name)
        except BrokenPlugin as fault:
            warn_user(f"{fault}; left out")
    return names
