"""Compare aggregators on data sets whose truth is known."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox import aggregate, evaluate
from plurivox.aggregate import Aggregator
from plurivox.core.base import DataType
from plurivox.core.errors import InputError, PlurivoxWarning, first_few, unknown_name
from plurivox.core.method import split_list
from plurivox.core.progress import Progress, no_progress, within
from plurivox.core.registry import BrokenPlugin
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.tables import Table
from plurivox.core.types import TEXT, Floats, Names
from plurivox.core.votes import Votes
from plurivox.evaluate import Interval
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.soft_label_files import as_soft_labels

MEASURES = ("accuracy", "nll", "brier", "ece")  # of these only accuracy is better when higher
Pair = tuple[Votes, SoftLabels]  # votes and known labels
HEADS = {"accuracy": "accuracy", "nll": "NLL", "brier": "Brier", "ece": "ECE"}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(DataType):
    """How methods did on data sets: one row a data set and method, nan where a method gave no answer."""

    dataset: Names  # (n_rows,)
    method: Names  # (n_rows,) the word of the method
    accuracy: Floats  # (n_rows,) ties shared evenly
    nll: Floats  # (n_rows,) of the true label, clipped at 1e-6
    brier: Floats  # (n_rows,)
    ece: Floats  # (n_rows,) 15 bins
    seconds: Floats  # (n_rows,) of the fit
    reference: str  # the method that the others are held against
    repeats: int = 10_000  # of the bootstrap
    seed: int = 0
    notes: tuple[str, ...] = ()  # which method refused which data set, and why

    @property
    def methods(self) -> list[str]:
        """Their words, in the order they were given."""
        return list(dict.fromkeys(self.method.tolist()))

    @property
    def datasets(self) -> list[str]:
        """Their names, in the order they were given."""
        return list(dict.fromkeys(self.dataset.tolist()))

    def table(self, measure: str) -> Floats:
        """(n_datasets, n_methods) one measure."""
        return np.asarray(getattr(self, measure)).reshape(len(self.datasets), len(self.methods))

    def mean(self, measure: str) -> Floats:
        """(n_methods,) the mean over the data sets that the method answered; nan where it answered none."""
        table = self.table(measure)
        n = np.isfinite(table).sum(0)
        return np.where(n > 0, np.nansum(table, 0) / np.maximum(n, 1), np.nan)

    def difference(self, measure: str) -> list[Interval]:
        """Each method less the reference, mean and 95% interval of a bootstrap over the data sets both answered."""
        table, at = self.table(measure), self.methods.index(self.reference)
        return [self._held_against(column, table[:, at]) for column in table.T]

    def _held_against(self, values: Floats, reference: Floats) -> Interval:
        both = np.isfinite(values) & np.isfinite(reference)
        if not both.any():
            return Interval(np.nan, np.nan, np.nan)
        return evaluate.paired_bootstrap(values[both], reference[both], repeats=self.repeats, seed=self.seed)

    # ---- faces

    def columns(self) -> dict[str, NDArray[Any]]:
        """dataset, method and what came out."""
        return {name: getattr(self, name) for name in ("dataset", "method", *MEASURES, "seconds")}

    def csv(self) -> str:
        """The rows of `columns()` as comma separated text."""
        return Table("", self.columns()).csv()

    def mean_columns(self) -> dict[str, NDArray[Any]]:
        """method, how many data sets it answered, the means, and the differences to the reference with their ends."""
        table: dict[str, NDArray[Any]] = {"method": np.array(self.methods, TEXT)}
        table["datasets"] = np.isfinite(self.table("accuracy")).sum(0)
        for measure in MEASURES:
            table[measure] = self.mean(measure)
            held = self.difference(measure)
            table[f"{measure}_difference"] = np.array([one.mean for one in held])
            table[f"{measure}_low"] = np.array([one.low for one in held])
            table[f"{measure}_high"] = np.array([one.high for one in held])
        return table | {"seconds": self.mean("seconds")}

    def markdown(self) -> str:
        """Tables of the means, of the differences to the reference, and of every data set by accuracy and NLL."""
        words = [f"`{word}`" for word in self.methods]
        n = np.isfinite(self.table("accuracy")).sum(0).tolist()
        means = [_digits(self.mean(measure), 4) for measure in MEASURES]
        held = [[str(one) for one in self.difference(measure)] for measure in MEASURES]
        tables = {
            f"Means over {len(self.datasets)} data sets": _markdown(
                ["method", "data sets", *HEADS.values(), "seconds"],
                [words, n, *means, _digits(self.mean("seconds"), 2)],
            ),
            f"Differences to `{self.reference}`, mean and 95% interval of a paired bootstrap over data sets": _markdown(
                ["method", *HEADS.values()], [words, *held]
            ),
        }
        for measure in ("accuracy", "nll"):
            cells = [_digits(column, 4) for column in self.table(measure).T]
            tables[f"{HEADS[measure]} by data set"] = _markdown(["data set", *words], [self.datasets, *cells])
        if self.notes:
            tables["Notes"] = "\n".join(f"- {note}" for note in self.notes)
        return "\n".join(f"{title}\n\n{table}\n" for title, table in tables.items())

    def info(self) -> dict[str, object]:
        return {"datasets": len(self.datasets), "methods": len(self.methods), "reference": self.reference}


def compare(
    datasets: Any,
    methods: str | Sequence[str | Aggregator] | None = None,
    *,
    gold: SoftLabels | str | Path | None = None,
    part: str | None = None,
    reference: str | None = None,
    repeats: int = 10_000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Comparison:
    """Fit every method on every data set and measure it on the tasks that have votes and a known label.

    `datasets` are a list of data sets, their paths or names; one of these alone; or a mapping from names to them or to
    (votes, known labels). `gold` are the known labels of those that are given without. `methods` are a list, or one text
    with commas between them; without any, all that can be loaded. `part` says which to take where a data set has votes
    and counts. `reference` is one of the methods, the first where none is named. A method that refuses a data set gets
    nan there and a note. Nothing here looks at the truth before the fit.

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> made = compare(votes, "vote-shares,wawa", gold=SoftLabels.gold(["a", "b"], ["no", "yes"]))
    >>> made.mean("accuracy"), made.mean("nll").round(3)
    (array([1., 1.]), array([0.405, 0.288]))
    """
    words = split_list(methods) if isinstance(methods, str) else _loadable() if methods is None else methods
    if (isinstance(datasets, Mapping | list | tuple) and not datasets) or not words:
        raise InputError("compare needs at least one data set and one method")
    pairs = _pairs(datasets, as_soft_labels(gold), part)
    made = [aggregate.methods.make(method) for method in words]
    specs = [method.spec for method in made]
    base = specs[0] if reference is None else aggregate.methods.make(reference).spec
    _check(specs, base)
    rows, notes = _measure_all(pairs, made, progress)
    figures = dict(zip((*MEASURES, "seconds"), np.array(rows, np.float64).T, strict=True))
    return Comparison(
        dataset=np.repeat(np.array(list(pairs), TEXT), len(made)),
        method=np.tile(np.array(specs, TEXT), len(pairs)),
        **figures,
        reference=base,
        repeats=repeats,
        seed=seed,
        notes=tuple(notes),
    )


def _loadable() -> list[str]:
    """Every aggregator that can be loaded; warns about those of other packages that cannot."""
    words = []
    for name in aggregate.methods:
        try:
            aggregate.methods[name]
            words.append(name)
        except BrokenPlugin as fault:
            warnings.warn(f"{fault}; left out", PlurivoxWarning, stacklevel=3)
    return words


def _pairs(datasets: Any, gold: SoftLabels | None, part: str | None) -> dict[str, Pair]:
    """The votes and known labels of every data set, by its name; of two of one name the later goes by its path."""
    if isinstance(datasets, Mapping) and not {"task", "label"} <= set(datasets):  # no table of votes
        return {
            name: one if isinstance(one, tuple) else _pair(as_dataset(one), gold, part)
            for name, one in datasets.items()
        }
    pairs: dict[str, Pair] = {}
    for one in datasets if isinstance(datasets, list | tuple) else [datasets]:
        data = as_dataset(one)
        pair = _pair(data, gold, part)
        pairs[str(data.path or data.name) if data.name in pairs else data.name] = pair
    return pairs


def _pair(data: Dataset, gold: SoftLabels | None, part: str | None) -> Pair:
    known = data.gold if gold is None else gold
    if known is None:
        raise InputError(
            f"{data.name} has no gold labels; a comparison needs them: give a table task,label with --gold FILE"
        )
    return as_votes(data, part if data.has("votes") and data.has("counts") else None), known


def _measure_all(
    datasets: Mapping[str, Pair], made: Sequence[Aggregator], progress: Progress
) -> tuple[list[tuple[float, ...]], list[str]]:
    """The figures of each method on each data set, and who gave no answer."""
    rows: list[tuple[float, ...]] = []
    notes: list[str] = []
    total = len(datasets) * len(made)
    for name, (votes, gold) in datasets.items():
        truth = known_of(votes, gold, f"{name}: ")
        for method in made:
            step = len(rows)
            try:
                rows.append(measure(method, votes, truth, within(progress, step, total)))
            except InputError as cause:  # what is wrong with a method or its options is wrong everywhere, and raised
                rows.append((np.nan,) * (len(MEASURES) + 1))
                notes.append(f"{method.spec} gave no answer on {name}: {cause}")
            progress(step, total, rows[-1][0])
    return rows, notes


def known_of(votes: Votes, gold: SoftLabels, where: str = "") -> SoftLabels:
    """The known labels of tasks with a vote; raises where there are none, with `where` before the message."""
    known = gold.shared(votes.voted)
    if not len(known):
        raise InputError(
            f"{where}no task has both a vote and a known label; there are votes on {first_few(votes.tasks)}, "
            f"known labels of {first_few(gold.tasks)}"
        )
    return known


def _check(words: list[str], reference: str) -> None:
    if twice := sorted({word for word in words if words.count(word) > 1}):
        raise InputError(f"compare got a method twice: {first_few(twice)}; give each once")
    if reference not in words:
        raise unknown_name("method in this comparison called", reference, words)


def measure(method: Aggregator, votes: Votes, truth: SoftLabels, progress: Progress = no_progress) -> tuple[float, ...]:
    """(accuracy, nll, brier, ece, seconds) of one method on one data set."""
    begin = time.perf_counter()
    prediction = method.fit(votes, progress=progress).soft
    seconds = time.perf_counter() - begin
    return (
        evaluate.accuracy(prediction, truth, ties="share"),
        evaluate.nll(prediction, truth),
        evaluate.brier(prediction, truth),
        evaluate.ece(prediction, truth, ties="share"),
        seconds,
    )


def _digits(values: Floats, digits: int) -> list[str]:
    return [f"{value:.{digits}f}" if np.isfinite(value) else "-" for value in values]


def _markdown(heads: Sequence[str], columns: Sequence[Sequence[object]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *zip(*columns, strict=True)]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
