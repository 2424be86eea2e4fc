"""Compare aggregators on data sets with gold labels: accuracy, NLL, Brier score, calibration error, time.

Without gold labels, `against` names the votes or soft labels to compare with: see `compare_against_people`.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from plurivox import evaluate
from plurivox.aggregate import DEFAULT_METHODS, Aggregator
from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.second_compiler import announce_kernels
from plurivox.evaluate import NLL_CLIP
from plurivox.evaluate.tied_true_labels import without_tied_true_labels
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.labels_without_task_names import is_vector_of_labels
from plurivox.io.soft_label_inputs import as_soft_labels
from plurivox.workflows import comparison_text
from plurivox.workflows.compare_against_people import PeopleComparison, compare_against_people
from plurivox.workflows.compared_methods import ComparedMethods, aggregators_and_reference, datasets_by_name
from plurivox.workflows.gold_of_voted_tasks import gold_of_tasks_with_votes_and_notes
from plurivox.workflows.kernels_of_workflows import kernels_of_methods
from plurivox.workflows.unused_label_order import is_order_declared_by_caller, warn_if_no_aggregator_uses_order

Pair = tuple[Votes, SoftLabels]  # votes and gold labels
MEASURES = ("accuracy", "nll", "brier", "ece")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparedMethods):
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
    estimates: Names | None = None  # (n_rows,) what the method estimates; None in files of versions 1 and 2

    version: ClassVar[int] = 3
    measure_titles: ClassVar[Mapping[str, str]] = dict(zip(MEASURES, ("accuracy", "NLL", "Brier", "ECE"), strict=True))
    higher_is_better: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    measures_by_dataset: ClassVar[tuple[str, ...]] = ("accuracy", "nll")
    asked_for: ClassVar[str] = "truth"

    @classmethod
    def upgrade(cls, saved_version: int, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a saved comparison without the settings of the bootstrap, which version 1 had."""
        del saved_version
        return {name: value for name, value in fields.items() if name not in ("repeats", "seed")}

    def text(self) -> str:
        return comparison_text.comparison_table_text(self)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the comparison as columns dataset, method, accuracy, nll, brier, ece, seconds, tasks, estimates (if known)."""
        found = {name: getattr(self, name) for name in ("dataset", "method", *MEASURES, "seconds")}
        known = {"tasks": self.tasks, "estimates": self.estimates}
        return found | {name: column for name, column in known.items() if column is not None}

    def title_of_means(self) -> str:
        n = len(self.dataset_names)
        return f"Means over {count_text(n, 'data set')} (NLL with probabilities of at least {self.clip:g})"

    @property
    def task_counts_text(self) -> str:
        """The number of tasks with votes and a gold label, over which measures are computed, as text; "" if not counted.

        For several data sets the smallest and the largest number.
        """
        if self.tasks is None:
            return ""
        low, high = int(self.tasks.min()), int(self.tasks.max())
        each = " each" if len(self.dataset_names) > 1 else ""
        number = count_text(low, "task") if low == high else f"{low:,} to {high:,} tasks"
        return f"{number} with votes and a gold label{each}"


@overload
def compare(
    datasets: Any,
    methods: str | Sequence[str | Aggregator] | None = None,
    *,
    gold: Any = None,
    part: str | None = None,
    reference: str | None = None,
    clip: float = NLL_CLIP,
    against: None = None,
    progress: Progress = no_progress,
) -> Comparison: ...


@overload
def compare(
    datasets: Any,
    methods: str | Sequence[str | Aggregator] | None = None,
    *,
    part: str | None = None,
    reference: str | None = None,
    against: Any,
    hide: int | None = None,
    hide_workers: float | None = None,
    votes_per_task: int | None = None,
    splits: int | None = None,
    max_tasks: int = 10_000,
    smoothing: float = 0.01,
    seed: int = 0,
    progress: Progress = no_progress,
) -> PeopleComparison: ...


def compare(
    datasets: Any,
    methods: str | Sequence[str | Aggregator] | None = None,
    *,
    gold: Any = None,
    part: str | None = None,
    reference: str | None = None,
    clip: float = NLL_CLIP,
    against: Any = None,
    progress: Progress = no_progress,
    **people_options: Any,
) -> Comparison | PeopleComparison:
    """Fit every aggregator on every data set; return its accuracy, NLL, ... on the tasks that have votes and a gold label.

    `datasets` are a list of data sets, their paths or names; one of these alone; or a mapping from names to them or to
    (votes, gold labels). `gold` are the gold labels of data sets without their own. `methods` are a list, or one text separated
    by commas; default: all that can be loaded. `part` selects votes or counts if a data set has both. `reference` is one of the
    methods; default: `log-pool`, if it is among them and has results, else the first that has. `clip` is the least probability
    in the NLL. A method that cannot be applied to a data set gets NaN there and a note. Gold labels are not used in the fit.

    With `against` ("votes", "counts", or soft labels) the methods are evaluated without gold labels, with what other people
    said, and the result is a `PeopleComparison`; `compare_against_people` describes its options.

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> made = compare(votes, "vote-shares,wawa", gold=SoftLabels.gold(["a", "b"], ["no", "yes"]))
    >>> made.mean_over_datasets("accuracy"), made.mean_over_datasets("nll").round(3)
    (array([1., 1.]), array([0.405, 0.288]))
    """
    if against is not None:
        if gold is not None:
            raise OptionError(
                "give either gold labels or against: gold labels are about what is true, against about what people say"
            )
        return compare_against_people(
            datasets, methods, against=against, part=part, reference=reference, progress=progress, **people_options
        )
    if people_options:
        raise OptionError(
            f"{first_few(sorted(people_options))} applies only with against: against='votes' (--against votes)"
        )
    made, base = aggregators_and_reference(datasets, methods, reference, DEFAULT_METHODS["truth"])
    pairs = _votes_and_gold_by_dataset_name(datasets, gold if is_vector_of_labels(gold) else as_soft_labels(gold), part)
    if not 0 < clip < 1:
        raise OptionError(f"clip, the least probability in the NLL, must be above 0 and below 1; got {clip}")
    for data in _data_with_order_declared_by_caller(datasets)[:1]:
        warn_if_no_aggregator_uses_order(data, made)
    truths, tie_notes = dict[str, SoftLabels](), list[str]()
    for name, pair in pairs.items():
        known, gold_notes = gold_of_tasks_with_votes_and_notes(*pair, f"{name}: ", counts_others=gold is not None)
        truths[name], found = without_tied_true_labels(known, known.tasks)
        tie_notes += [*gold_notes, *(f"{name}: {note}" for note in found)]
    with announce_kernels(lambda: kernels_of_methods(made, [votes for votes, _ in pairs.values()])):
        rows, notes = _measure_methods_and_note_failures(pairs, truths, made, clip, progress)
    figures = dict(zip((*MEASURES, "seconds"), np.array(rows, np.float64).T, strict=True))
    if reference is None:
        base = _first_with_all_results(base, made, figures["accuracy"])
    return Comparison(
        dataset=np.repeat(np.array(list(pairs), TEXT), len(made)),
        method=np.tile(np.array([method.spec for method in made], TEXT), len(pairs)),
        **figures,
        reference=base,
        clip=clip,
        notes=(*tie_notes, *notes),
        tasks=np.repeat([len(truth) for truth in truths.values()], len(made)),
        estimates=np.tile(np.array([method.estimated_quantity() for method in made], TEXT), len(pairs)),
    )


def _data_with_order_declared_by_caller(datasets: Any) -> list[Any]:
    """Return the votes or data sets, in any form that `compare` accepts, whose labels the caller declared to be ordered."""
    many = datasets.values() if isinstance(datasets, Mapping) else datasets
    listed = many if isinstance(datasets, Mapping | list | tuple) else [many]
    return [
        one for one in (one[0] if isinstance(one, tuple) else one for one in listed) if is_order_declared_by_caller(one)
    ]


def _votes_and_gold_by_dataset_name(datasets: Any, gold: Any, part: str | None) -> dict[str, Pair]:
    """Return {data set name: (votes, gold labels)}; the later of two data sets with the same name is named by its path."""
    if isinstance(datasets, Mapping) and not {"task", "label"} <= set(datasets):  # not a table of votes
        return {
            name: one if isinstance(one, tuple) else _votes_and_gold_of_dataset(as_dataset(one), gold, part)
            for name, one in datasets.items()
        }
    return {name: _votes_and_gold_of_dataset(data, gold, part) for name, data in datasets_by_name(datasets).items()}


def _votes_and_gold_of_dataset(data: Dataset, gold: Any, part: str | None) -> Pair:
    """Return the votes and gold labels of one data set; raise InputError if it has no gold labels."""
    known = data.gold if gold is None else as_soft_labels(gold, data)
    if known is None:
        raise InputError(
            f"{data.name} has no gold labels: give a table task,label as gold=... (--gold FILE), or compare with what other "
            "people say: against='votes' (--against votes) hides some votes and scores the methods on them"
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
    failed: dict[tuple[str, str], list[str]] = {}  # (data set, cause without the name of the method) -> methods
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
                failed.setdefault((name, str(cause).removeprefix(f"{method.name()} ")), []).append(method.spec)
            progress(step, total, rows[-1][0])
    return rows, [
        f"{specs[0]} has no result on {name}: {specs[0]} {cause}"
        if len(specs) == 1
        else f"{len(specs)} methods have no result on {name} ({', '.join(specs)}): each {cause}"
        for (name, cause), specs in failed.items()
    ]


def _first_with_all_results(default: str, methods: Sequence[Aggregator], accuracy: Floats) -> str:
    """Return the default if it has results on all data sets, else the first method that has; the default if none has."""
    has_all: Bools = np.asarray(np.isfinite(accuracy.reshape(-1, len(methods))).all(0))
    specs = [method.spec for method, complete in zip(methods, has_all.tolist(), strict=True) if complete]
    return default if default in specs or not specs else specs[0]


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
