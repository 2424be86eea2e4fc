"""Compare several predictions on the same tasks: measures, differences to one of them, intervals and p-values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import TEXT, Floats, Names
from plurivox.core.count_text import count_text
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError, unknown_name_error
from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate.align_tasks_and_labels import align_rows
from plurivox.evaluate.bootstrap_over_tasks import resample_measures
from plurivox.evaluate.intervals_and_tests import two_sided_p_values
from plurivox.evaluate.measures.hard_label_measures import Ties
from plurivox.evaluate.measures.measure_registry import Measure, select_measures
from plurivox.evaluate.measures_that_fit_estimates import notes_on_compared_predictions
from plurivox.evaluate.rank_tests import holm, p_value_text
from plurivox.evaluate.tied_true_labels import without_tied_true_labels

HARD_MEASURES, PROBABILITY_MEASURES = ("accuracy", "macro-f1"), ("nll", "brier")
CERTAIN = 1 - 1e-9  # a prediction with at least this probability on one label of every task is of hard labels


@dataclass(frozen=True, eq=False, repr=False)
class PredictionComparison(DataType):
    """Measures of several predictions on the same tasks: one row per measure and prediction, the best first in a measure.

    A difference is the value minus that of the reference prediction. Its interval is the 95% percentile interval of a paired
    bootstrap over tasks, its p-value two-sided and, for more than one difference in a measure, corrected by Holm's method.
    """

    measure: Names  # (n_rows,)
    prediction: Names  # (n_rows,)
    value: Floats  # (n_rows,)
    difference: Floats  # (n_rows,) to the reference; NaN for the reference itself, as low, high and p_value
    low: Floats  # (n_rows,)
    high: Floats  # (n_rows,)
    p_value: Floats  # (n_rows,)
    better: Names  # (n_rows,) higher or lower: which values of the measure are better
    reference: str  # the prediction that the others are compared with
    n_tasks: int  # that all predictions and the truth have
    repeats: int = 10_000  # bootstrap resamples of the tasks
    seed: int = 0
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per measure and prediction, as columns measure, prediction, value, difference, low, high, ..."""
        names = ("measure", "prediction", "value", "difference", "low", "high", "p_value", "better")
        return {name: getattr(self, name) for name in names}

    def summary_values(self) -> dict[str, object]:
        return {"predictions": len(set(self.prediction.tolist())), "reference": self.reference, "tasks": self.n_tasks}

    def text_rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """Return the column titles and one row of texts per measure and prediction, for a terminal."""
        rows = [("measure", "prediction", "value", "difference", "95% interval", "p")]
        last = ""
        for measure, prediction, value, difference, low, high, p, better in zip(
            *(column.tolist() for column in self.columns().values()), strict=True
        ):
            is_reference = np.isnan(difference)
            rows.append(
                (
                    "" if measure == last else f"{measure} ({better} is better)",
                    prediction,
                    f"{value:.4f}",
                    "reference" if is_reference else f"{difference:+.4f}",
                    "" if is_reference else f"{low:+.4f} to {high:+.4f}",
                    "" if is_reference else p_value_text(p),
                )
            )
            last = measure
        return rows

    def sentence(self) -> str:
        """Return on which tasks, against which prediction and how the differences were tested, as one sentence."""
        n_others = len(set(self.prediction.tolist())) - 1
        holm_text = f" after Holm's correction over {count_text(n_others, 'difference')}" if n_others > 1 else ""
        return (
            f"{count_text(self.n_tasks, 'task')}; differences to {self.reference}; paired bootstrap with "
            f"{count_text(self.repeats, 'resample')} of the tasks, two-sided p{holm_text}"
        )

    def csv(self) -> str:
        """Return the comparison as CSV text, one row per measure and prediction."""
        return Table("", self.columns()).csv()

    def markdown(self) -> str:
        """Return the comparison as a Markdown table, with how it was tested and the notes below."""
        heads, *rows = self.text_rows()
        lines = [heads, ("---", "---", "---:", "---:", "---:", "---:"), *rows]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        return "\n".join([table, "", f"{self.sentence()}.", *(f"- {note}" for note in self.notes)]) + "\n"


@takes_what_users_hold
def compare_several_predictions(
    predictions: Mapping[str, SoftLabels],
    truth: SoftLabels,
    *,
    reference: str | None = None,
    measures: Sequence[str] | None = None,
    repeats: int = 10_000,
    seed: int = 0,
    ties: Ties = "first",
) -> PredictionComparison:
    """Return measures of two or more predictions by name, and their differences to one of them by paired bootstrap over tasks.

    Only tasks that all predictions and the truth have are used. `reference` is a name; default: the first. Measures are by
    default accuracy and macro-f1, and for soft labels nll and brier. Rows are sorted by the first measure, the best first.
    For one-sided p-values as in Fornaciari et al. (2021) see `compare_predictions`.
    Berg-Kirkpatrick, Burkett and Klein (2012), https://aclanthology.org/D12-1091

    >>> truth = SoftLabels.gold("abcdefgh", "xxxxyyyy")
    >>> two = {"one": SoftLabels.gold("abcdefgh", "xyxyyyxx"), "other": SoftLabels.gold("abcdefgh", "xxxxyyyx")}
    >>> found = compare_several_predictions(two, truth, measures=["accuracy"])
    >>> found.prediction.tolist(), found.difference.tolist()
    (['other', 'one'], [0.375, nan])
    """
    names = list(predictions)
    base = names[0] if reference is None else reference
    if len(names) < 2:
        raise InputError(f"a comparison needs two predictions or more; got {len(names)}")
    if base not in names:
        raise unknown_name_error("prediction", base, names)
    if repeats < 1:
        raise OptionError(f"repeats must be 1 or more; got {repeats}")
    wanted = select_measures(measures if measures is not None else _default_measures(predictions))
    tasks, tie_notes = _tasks_of_all(predictions, truth), tuple[str, ...]()
    if all(one.kind != "soft" for one in wanted):
        one_label, tie_notes = without_tied_true_labels(truth, tasks)
        tasks = _tasks_of_all(predictions, one_label)
    value, drawn = _values_and_resamples(predictions, truth.on(tasks), wanted, repeats, seed, ties)
    at = names.index(base)
    drawn_difference = drawn - drawn[:, [at]]
    low, high = np.quantile(drawn_difference, [0.025, 0.975], axis=0)
    p_value = np.array([two_sided_p_values(column) for column in np.moveaxis(drawn_difference, 2, 0)]).T
    p_value[at] = np.nan
    p_value = np.stack([holm(column) for column in p_value.T], 1)
    difference = value - value[at]
    difference[at] = low[at] = high[at] = np.nan
    sign = -1 if wanted[0].better == "higher" else 1
    order = np.argsort(np.round(sign * value[:, 0], 12), kind="stable")
    return PredictionComparison(
        measure=np.repeat(np.array([one.name for one in wanted], TEXT), len(names)),
        prediction=np.tile(np.array(names, TEXT)[order], len(wanted)),
        **{
            name: array[order].T.ravel()
            for name, array in (("value", value), ("difference", difference), ("low", low), ("high", high))
        },
        p_value=p_value[order].T.ravel(),
        better=np.repeat(np.array([one.better for one in wanted], TEXT), len(names)),
        reference=base,
        n_tasks=len(tasks),
        repeats=repeats,
        seed=seed,
        notes=(*tie_notes, *_notes(predictions, truth, wanted, base, len(tasks))),
    )


def _default_measures(predictions: Mapping[str, SoftLabels]) -> tuple[str, ...]:
    """Return the names of the measures of hard labels, and those of probabilities too if a prediction is not of hard labels."""
    has_hard_labels_only = all(bool((one.confidence >= CERTAIN).all()) for one in predictions.values())
    return HARD_MEASURES if has_hard_labels_only else (*HARD_MEASURES, *PROBABILITY_MEASURES)


def _tasks_of_all(predictions: Mapping[str, SoftLabels], truth: SoftLabels) -> Names:
    """Return the tasks that the truth and all predictions have; raise InputError if there is none."""
    tasks = truth.tasks
    for prediction in predictions.values():
        tasks = prediction.shared(tasks).tasks
    if not len(tasks):
        raise InputError("the predictions and the true labels have no task in common")
    return tasks


def _values_and_resamples(
    predictions: Mapping[str, SoftLabels],
    truth: SoftLabels,
    measures: Sequence[Measure],
    repeats: int,
    seed: int,
    ties: Ties,
) -> tuple[Floats, Floats]:
    """Return the measures (n_predictions, n_measures) on the tasks of `truth`, and (repeats, ..., ...) their resamples."""
    pairs = [align_rows(one.on(truth.tasks), truth) for one in predictions.values()]
    sums = [measure.measure_as_task_sums(*pair, ties) for pair in pairs for measure in measures]
    shape = len(pairs), len(measures)
    value = np.array([one.measure_over_all_tasks for one in sums]).reshape(shape)
    return value, resample_measures(sums, repeats=repeats, seed=seed).reshape(repeats, *shape)


def _notes(
    predictions: Mapping[str, SoftLabels], truth: SoftLabels, measures: Sequence[Measure], reference: str, n_tasks: int
) -> tuple[str, ...]:
    """Return notes on tasks that are left out, and on measures that do not fit what a prediction estimates."""
    sizes = {name: len(one) - n_tasks for name, one in predictions.items()} | {"the true labels": len(truth) - n_tasks}
    left_out = [f"{count_text(n, 'task')} of {name}" for name, n in sizes.items() if n]
    notes = [f"left out, because not all inputs have them: {', '.join(left_out)}"] if left_out else []
    for name, one in predictions.items():
        if name != reference:
            notes += notes_on_compared_predictions(one, predictions[reference], truth, measures, (name, reference))
    return tuple(dict.fromkeys(notes))
