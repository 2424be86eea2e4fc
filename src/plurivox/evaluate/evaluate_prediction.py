"""Evaluate a prediction by many measures, with bootstrap intervals and the values of a constant prediction as baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Floats
from plurivox.core.count_text import count_text
from plurivox.core.errors import OptionError
from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates, Dense, Rows
from plurivox.core.votes import Votes
from plurivox.evaluate.align_tasks_and_labels import (
    CachedTopRows,
    align_rows,
    prediction_and_truth_blocks,
    prediction_labels_then_truth_only,
    shared_task_positions,
    slices_and_float64_row_blocks,
)
from plurivox.evaluate.bootstrap_over_tasks import TaskSums, mean_as_task_sums, percentile_interval, resample_measures
from plurivox.evaluate.evaluation_result import Evaluation
from plurivox.evaluate.label_mismatch import check_labels_meet
from plurivox.evaluate.measures.hard_label_measures import Ties, most_frequent_label_and_share, true_labels
from plurivox.evaluate.measures.measure_registry import MEASURES, Measure, select_measures
from plurivox.evaluate.measures.soft_label_measures import CLIP, total_variations
from plurivox.evaluate.measures.vote_likelihood import (
    deviances_of_vote_counts,
    expected_kl_from_vote_noise_per_task,
    shares_of,
)
from plurivox.evaluate.measures.wasserstein_distances import label_scale, wassersteins_along_scale
from plurivox.evaluate.measures_that_fit_estimates import measure_fits, note_on_measures_that_do_not_fit
from plurivox.evaluate.tied_true_labels import without_tied_true_labels

CLIPPED_MEASURES = ("cross-entropy", "kl-divergence")  # with a logarithm of the prediction
MIN_HARD_PROB = 1 - 1e-9  # labels with at least this probability for every task count as hard labels
ORDERED_MEASURE = "wasserstein"  # the measure that needs a scale of the labels
MIN_VOTES = 5  # below this many votes per task, labels without votes bias the floors
SAME_TOLERANCE = 1e-9  # prediction and reference are the same if no probability differs more


@takes_what_users_hold
def evaluate_labels(
    prediction: SoftLabels,
    truth: SoftLabels,
    *,
    against: SoftLabels | None = None,
    votes: Votes | None = None,
    measures: Sequence[str] | None = None,
    repeats: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    ties: Ties = "first",
    truth_name: str = "truth",
    reference_name: str = "",
) -> Evaluation:
    """Return many measures of one prediction, each with a bootstrap interval over tasks and the value of a constant prediction.

    Hard measures and calibration use the most probable label of `truth`, and leave out tasks with several true labels (gold)
    that are equally probable. Soft measures use `against`, else the shares of `votes`, else the truth. With votes and soft
    measures the result also contains the deviance of the prediction on their counts, and the floors: the loss that even a
    perfect prediction has because of sampling noise in the votes. The baseline predicts the label frequencies for every task;
    its accuracy is that of always predicting the most frequent label.

    The column `against` names the reference of each measure: `truth_name`, or `reference_name` (by default "reference" or
    "votes"); "(top label)" if only the most probable label of a soft truth is used, "(one-hot)" if a soft measure compares with
    labels that are all certain. Labels of prediction and truth that do not meet are an error, or a note if some do.

    The column `fits` is false for measures that do not fit what the prediction estimates: NLL, Brier score and calibration of
    `people`, and soft measures against an estimate of the other kind. A note names them.

    Intervals are the percentiles of `repeats` resamples of tasks, the same resamples for every measure; those of calibration
    errors are corrected for the bias that resampling adds. Efron (1979), https://doi.org/10.1214/aos/1176344552

    >>> truth = SoftLabels.gold(["a", "b", "c", "d"], ["no", "no", "yes", "no"])
    >>> prediction = SoftLabels.of([[.9, .1], [.8, .2], [.4, .6], [.3, .7]], ["a", "b", "c", "d"], ["no", "yes"])
    >>> found = evaluate_labels(prediction, truth, measures=["accuracy", "brier"])
    >>> found.value.round(4).tolist(), found.baseline.round(4).tolist(), found.majority_label
    ([0.75, 0.35], [0.75, 0.375], 'no')
    """
    if repeats < 0 or not 0 < level < 1:
        raise OptionError(f"repeats must be 0 or more and level between 0 and 1; got {repeats} and {level}")
    shares = None if votes is None or not uses_soft_reference(measures) else shares_of(votes)
    reference, name = _choose_soft_reference_and_name(truth, against, shares, truth_name, reference_name)
    label_notes = _notes_on_labels_that_do_not_meet(prediction, truth, reference, truth_name, name)
    wanted, scaled = _other_measures_and_whether_wasserstein(measures, prediction, reference)
    one_label, tie_notes = truth, tuple[str, ...]()
    if truth.estimates != "people":  # of vote shares with a tie the first label is used
        one_label, tie_notes = without_tied_true_labels(truth, prediction.tasks)
    hard, soft = (
        _Comparison.with_one_hot_truth(*align_rows(prediction, one_label), truth_name + _top_label_if_soft(truth)),
        _Comparison.with_soft_labels(*align_rows(prediction, reference), name + _one_hot_if_certain(reference)),
    )
    rows = [_measure_row_with_baseline(one, soft if one.kind == "soft" else hard, ties) for one in wanted]
    if scaled:
        rows.append(_wasserstein_row_with_baseline(soft, label_scale(prediction, reference)))
    if shares is not None:
        rows += _rows_of_count_deviance_and_floors(prediction, shares, "votes" if against is not None else name)
    label, share = most_frequent_label_and_share(hard.truth, prediction_labels_then_truth_only(prediction, one_label))
    low, high = _bootstrap_intervals(rows, repeats, level, seed)
    fits = np.array([_row_fits(row, prediction, truth, reference) for row in rows], bool)
    return Evaluation(
        measure=as_names([row.measure for row in rows]),
        value=np.array([row.task_sums.measure_over_all_tasks for row in rows]),
        low=low,
        high=high,
        baseline=np.array([row.baseline for row in rows]),
        better=as_names([row.better for row in rows]),
        n=np.array([row.task_sums.n_tasks for row in rows]),
        against=as_names([row.against for row in rows]),
        majority_label=label,
        majority_share=share,
        majority_n=len(hard.truth),
        repeats=repeats,
        level=level,
        seed=seed,
        notes=(
            *note_on_measures_that_do_not_fit(
                (row.measure for row, good in zip(rows, fits, strict=True) if not good), prediction.estimates
            ),
            *label_notes,
            *tie_notes,
            *_evaluation_notes(prediction, truth, reference, measures),
            *_notes_on_soft_reference(prediction, truth, reference, name, measures),
            *_note_if_few_votes(shares),
            *_note_if_clipped(wanted, soft),
        ),
        fits=fits,
    )


def uses_soft_reference(measures: Sequence[str] | None) -> bool:
    """Return whether one of the measures compares with a soft reference; None: the default measures, some of which do."""
    if measures is None or ORDERED_MEASURE in measures:
        return True
    return any(one.kind == "soft" for one in select_measures(measures))


@dataclass(frozen=True)
class _MeasureRow:
    """One measure of an evaluation before resampling: its name, its sums over tasks, and the value of a constant prediction."""

    measure: str
    against: str
    better: str
    task_sums: TaskSums
    baseline: float = float("nan")
    biased: bool = False


def _row_fits(row: _MeasureRow, prediction: SoftLabels, truth: SoftLabels, reference: SoftLabels) -> bool:
    """Return whether a measure fits what the prediction estimates; true for the floors, which are properties of the votes."""
    kind = MEASURES[row.measure].kind if row.measure in MEASURES else "soft"
    against = reference if kind == "soft" else truth
    is_gold = against.estimates == "unknown" and _all_labels_nearly_certain(against)
    return not row.better or measure_fits(kind, prediction.estimates, "truth" if is_gold else against.estimates)


def _choose_soft_reference_and_name(
    truth: SoftLabels,
    against: SoftLabels | None,
    vote_shares: SoftLabels | None,
    truth_name: str,
    reference_name: str,
) -> tuple[SoftLabels, str]:
    """Return the soft labels that soft measures compare with (`against`, else vote shares, else the truth), and their name."""
    if against is not None:
        return against, reference_name or "reference"
    return (truth, truth_name) if vote_shares is None else (vote_shares, reference_name or "votes")


def _top_label_if_soft(truth: SoftLabels) -> str:
    """Return what is added to the name of a soft truth of which only the top label is used; "" if all labels are certain."""
    return "" if _all_labels_nearly_certain(truth) else " (top label)"


def _one_hot_if_certain(reference: SoftLabels) -> str:
    """Return what is added to the name of a reference of soft measures whose labels are all certain; "" if it is soft."""
    return " (one-hot)" if _all_labels_nearly_certain(reference) else ""


def _name_in_sentence(reference_name: str) -> str:
    """Return the name of a reference with its article ("the gold labels", "the votes of dog"); a file name has none."""
    if reference_name == "gold":
        return "the gold labels"
    has_article = reference_name.split(" ")[0] in ("truth", "reference", "votes", "counts", "soft")
    return f"the {reference_name}" if has_article else reference_name


def _notes_on_labels_that_do_not_meet(
    prediction: SoftLabels, truth: SoftLabels, reference: SoftLabels, truth_name: str, reference_name: str
) -> tuple[str, ...]:
    """Return notes on labels that prediction and truth, or prediction and reference, do not share; InputError if most."""
    notes = check_labels_meet(
        prediction, truth, *shared_task_positions(prediction, truth), _name_in_sentence(truth_name)
    )
    if reference is truth:
        return notes
    more = check_labels_meet(
        prediction, reference, *shared_task_positions(prediction, reference), _name_in_sentence(reference_name)
    )
    return tuple(dict.fromkeys(notes + more))


def _other_measures_and_whether_wasserstein(
    measures: Sequence[str] | None, prediction: SoftLabels, reference: SoftLabels
) -> tuple[list[Measure], bool]:
    """Return the measures to compute without `wasserstein`, and whether `wasserstein` is to be computed too.

    By default: no soft measures without a soft reference, no top-2 accuracy of two labels, wasserstein if there is a scale.
    """
    if measures is not None:
        others = [name for name in measures if name != ORDERED_MEASURE]
        return select_measures(others) if others or not measures else [], ORDERED_MEASURE in measures
    kept = [one for one in select_measures() if one.kind != "soft" or not _all_labels_nearly_certain(reference)]
    return [one for one in kept if one.name != "top-2-accuracy" or prediction.n_labels > 2], reference.scale is not None


def _all_labels_nearly_certain(soft: SoftLabels) -> bool:
    """Return whether every task has one label with a probability of nearly 1."""
    return len(soft) > 0 and bool(soft.confidence.min() >= MIN_HARD_PROB)


@dataclass(frozen=True)
class _Comparison:
    """Soft label rows to compare: the prediction, the truth, and a constant prediction (the label frequencies) as baseline."""

    prediction: Rows
    truth: Rows
    constant: Rows
    against: str

    @classmethod
    def with_one_hot_truth(cls, prediction: Rows, truth: Rows, truth_name: str) -> Self:
        """Return the comparison of a prediction with the true labels as one-hot rows; the baseline is their frequencies."""
        true, n = true_labels(truth), len(truth)
        gold = Candidates(np.arange(n + 1), true, np.ones(n), np.zeros(n), truth.n_labels)
        frequency = np.bincount(true, minlength=truth.n_labels) / n
        kept = CachedTopRows(prediction.prob) if isinstance(prediction, Dense) else prediction
        return cls(kept, gold, CachedTopRows(np.broadcast_to(frequency, (n, truth.n_labels))), truth_name)

    @classmethod
    def with_soft_labels(cls, prediction: Rows, reference: Rows, reference_name: str) -> Self:
        """Return the comparison of a prediction with soft labels; the baseline is their mean over tasks."""
        total = sum(
            (block.sum(0) for _, block in slices_and_float64_row_blocks(reference)), np.zeros(reference.n_labels)
        )
        constant = Dense(np.broadcast_to(total / total.sum(), (len(reference), reference.n_labels)))
        return cls(prediction, reference, constant, reference_name)


def _measure_row_with_baseline(measure: Measure, comparison: _Comparison, ties: Ties) -> _MeasureRow:
    """Return one measure of the prediction as sums over tasks, with the value of the constant prediction as baseline."""
    found = measure.measure_as_task_sums(comparison.prediction, comparison.truth, ties)
    baseline = measure.measure_as_task_sums(comparison.constant, comparison.truth, ties).measure_over_all_tasks
    return _MeasureRow(measure.name, comparison.against, measure.better, found, baseline, measure.biased)


def _wasserstein_row_with_baseline(comparison: _Comparison, scale: Floats) -> _MeasureRow:
    """Return the Wasserstein distance along the label scale as sums over tasks, with the value of the constant prediction."""
    found = mean_as_task_sums(wassersteins_along_scale(comparison.prediction, comparison.truth, scale))
    baseline = float(wassersteins_along_scale(comparison.constant, comparison.truth, scale).mean())
    return _MeasureRow(ORDERED_MEASURE, comparison.against, "lower", found, baseline)


def _rows_of_count_deviance_and_floors(
    prediction: SoftLabels, vote_shares: SoftLabels, votes_name: str
) -> list[_MeasureRow]:
    """Return three measures: the deviance of the vote counts, and the KL and cross-entropy of a perfect prediction."""
    known = vote_shares.on(prediction.tasks[shared_task_positions(prediction, vote_shares)[0]])
    floor = expected_kl_from_vote_noise_per_task(known)
    return [
        _MeasureRow(
            "count-deviance", votes_name, "lower", mean_as_task_sums(deviances_of_vote_counts(prediction, vote_shares))
        ),
        _MeasureRow("kl-divergence-floor", votes_name, "", mean_as_task_sums(floor)),
        _MeasureRow("cross-entropy-floor", votes_name, "", mean_as_task_sums(floor + known.entropy())),
    ]


def _bootstrap_intervals(rows: list[_MeasureRow], repeats: int, level: float, seed: int) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the bootstrap intervals, each (n_measures,); NaN if there is only one task."""
    ends = np.full((2, len(rows)), np.nan)
    for n_tasks in {row.task_sums.n_tasks for row in rows} - {0, 1} if repeats else ():
        at = [i for i, row in enumerate(rows) if row.task_sums.n_tasks == n_tasks]
        drawn = resample_measures([rows[i].task_sums for i in at], repeats=repeats, seed=seed)
        for i, values in zip(at, drawn.T, strict=True):
            value = rows[i].task_sums.measure_over_all_tasks
            ends[:, i] = percentile_interval(value, values, level=level, biased=rows[i].biased)
    return ends[0], ends[1]


def _evaluation_notes(
    prediction: SoftLabels, truth: SoftLabels, reference: SoftLabels, measures: Sequence[str] | None
) -> tuple[str, ...]:
    """Return notes for the user on tasks or measures left out, a soft truth, and a prediction equal to its reference."""
    notes, n_shared = [], len(shared_task_positions(prediction, truth)[0])
    if n_shared < len(prediction):
        notes.append(
            f"{len(prediction) - n_shared:,} of {count_text(len(prediction), 'task')} of the prediction have no true label and "
            "are left out"
        )
    if n_shared < len(truth):
        notes.append(
            f"{len(truth) - n_shared:,} of {count_text(len(truth), 'task')} with a true label have no prediction and are left "
            "out"
        )
    if measures is None and _all_labels_nearly_certain(reference):
        notes.append(
            "soft measures are left out: the reference has one certain label per task; compare with votes or soft labels"
        )
    if not _all_labels_nearly_certain(truth):
        notes.append("the truth is soft: its most probable label is used as the true label")
    if float(total_variations(*align_rows(prediction, reference)).max()) < SAME_TOLERANCE:
        notes.append("the prediction and the reference are identical: the prediction is compared with itself")
    return tuple(notes)


def _notes_on_soft_reference(
    prediction: SoftLabels, truth: SoftLabels, reference: SoftLabels, name: str, measures: Sequence[str] | None
) -> tuple[str, ...]:
    """Return notes on soft measures that compare with one-hot labels, or on fewer tasks than the prediction has."""
    if not uses_soft_reference(measures):
        return ()
    if measures is not None and _all_labels_nearly_certain(reference):
        return (
            f"soft measures are against {_name_in_sentence(name)} as one-hot labels: they say nothing about disagreement; "
            "compare with votes or soft labels: against=... (--against)",
        )
    absent = len(prediction) - len(shared_task_positions(prediction, reference)[0])
    if reference is truth or not absent:
        return ()
    left_out = f"{absent:,} of {count_text(len(prediction), 'task')} of the prediction"
    return (f"soft measures leave out {left_out}, which are not in {_name_in_sentence(name)}",)


def _note_if_clipped(measures: Sequence[Measure], comparison: _Comparison) -> tuple[str, ...]:
    """Return one note if a label of the reference has less than the least probability in the prediction, else ().

    A measure with a logarithm then depends on that least probability.
    """
    clipped = [one.name for one in measures if one.name in CLIPPED_MEASURES]
    if not clipped:
        return ()
    blocks = prediction_and_truth_blocks(comparison.prediction, comparison.truth)
    lost = np.concatenate([(p * (q < CLIP)).sum(1) for q, p in blocks])
    n = int((lost > 0).sum())
    if not n:
        return ()
    share = -float(lost.mean()) * np.log(CLIP)
    return (
        f"{' and '.join(clipped)}: on {n:,} of {count_text(len(lost), 'task')} the reference has labels whose predicted "
        f"probability is 0 or below {CLIP:g}; they count as {CLIP:g}, which makes {share:.4f} of the cross-entropy, an "
        "arbitrary amount; smoothed-cross-entropy depends less on them",
    )


def _note_if_few_votes(vote_shares: SoftLabels | None) -> tuple[str, ...]:
    """Return one note if the median number of votes per task is below MIN_VOTES, else ()."""
    votes = MIN_VOTES if vote_shares is None or vote_shares.support is None else float(np.median(vote_shares.support))
    return (
        (f"half the tasks have {votes:g} votes or fewer: the true floors are higher than those shown",)
        if votes < MIN_VOTES
        else ()
    )
