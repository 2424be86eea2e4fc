"""Judge a prediction: many measures at once, with intervals, beside what a constant prediction would get."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from plurivox.core.encoding import as_names
from plurivox.core.errors import OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Candidates, Dense, Rows
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.evaluate.alignment import ResultCache, meet, met_labels, parts, places
from plurivox.evaluate.evaluation import Evaluation
from plurivox.evaluate.measures.distances import ground_scale, line_distances
from plurivox.evaluate.measures.hard import Ties, most_frequent, true_labels
from plurivox.evaluate.measures.measure import Measure, chosen
from plurivox.evaluate.measures.soft import total_variations
from plurivox.evaluate.measures.vote_likelihood import count_deviances, floors, shares_of
from plurivox.evaluate.resampling import Tally, mean, resample

SURE = 1 - 1e-9  # a truth this sure of every task is one label a task
SCALED = "wasserstein"  # the measure that needs ordered labels
FEW = 5  # votes a task below which labels that nobody chose matter
SAME = 1e-9  # prediction and reference this near are the same


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
) -> Evaluation:
    """Many measures of one prediction, each with its bootstrap interval over tasks and the value of a constant prediction.

    Hard measures and calibration look at the most probable label of `truth`. Soft measures look at `against`, or at the shares
    of `votes`, or at the truth where it is soft. With votes the result also has the loss of the prediction on their counts,
    and the floors: the loss that even a perfect prediction has because votes scatter. The baseline predicts the same for
    every task, the frequencies of the labels; its accuracy is that of always predicting the most frequent one.

    Intervals are the percentiles of `repeats` resamples of tasks, the same ones for every measure; those of calibration errors
    are moved back by what resampling adds to them. Efron (1979), https://doi.org/10.1214/aos/1176344552

    >>> truth = SoftLabels.gold(["a", "b", "c", "d"], ["no", "no", "yes", "no"])
    >>> prediction = SoftLabels.of([[.9, .1], [.8, .2], [.4, .6], [.3, .7]], ["a", "b", "c", "d"], ["no", "yes"])
    >>> found = evaluate_labels(prediction, truth, measures=["accuracy", "brier"])
    >>> found.value.round(4).tolist(), found.baseline.round(4).tolist(), found.majority_label
    ([0.75, 0.35], [0.75, 0.375], 'no')
    """
    if repeats < 0 or not 0 < level < 1:
        raise OptionError(f"repeats must be 0 or more and level between 0 and 1; got {repeats} and {level}")
    shares = None if votes is None else shares_of(votes)
    reference, name = _reference(truth, against, shares)
    wanted, scaled = _wanted(measures, prediction, reference)
    hard, soft = _Sides.hard(*meet(prediction, truth)), _Sides.soft(*meet(prediction, reference), name)
    lines = [_measured(one, soft if one.kind == "soft" else hard, ties) for one in wanted]
    if scaled:
        lines.append(_on_the_scale(soft, ground_scale(prediction, reference)))
    if shares is not None:
        lines += _of_counts(prediction, shares)
    label, share = most_frequent(hard.truth, met_labels(prediction, truth))
    low, high = _intervals(lines, repeats, level, seed)
    return Evaluation(
        measure=as_names([line.measure for line in lines]),
        value=np.array([line.tally.value for line in lines]),
        low=low,
        high=high,
        baseline=np.array([line.baseline for line in lines]),
        better=as_names([line.better for line in lines]),
        n=np.array([line.tally.n_tasks for line in lines]),
        against=as_names([line.against for line in lines]),
        majority_label=label,
        majority_share=share,
        repeats=repeats,
        level=level,
        seed=seed,
        notes=_notes(prediction, truth, reference, measures is None) + _of_few(shares),
    )


@dataclass(frozen=True)
class _Line:
    """A row of the judgement before tasks are drawn again."""

    measure: str
    against: str
    better: str
    tally: Tally
    baseline: float = float("nan")
    biased: bool = False


def _reference(truth: SoftLabels, against: SoftLabels | None, shares: SoftLabels | None) -> tuple[SoftLabels, str]:
    """What soft measures look at, and what it is called."""
    if against is not None:
        return against, "reference"
    return (truth, "truth") if shares is None else (shares, "votes")


def _wanted(
    measures: Sequence[str] | None, prediction: SoftLabels, reference: SoftLabels
) -> tuple[list[Measure], bool]:
    """The measures to take, and whether the distance along the scale of the labels is one of them.

    Where none are named: no soft ones without a soft reference, no top 2 of two labels, the scale where there is one.
    """
    if measures is not None:
        others = [word for word in measures if word != SCALED]
        return chosen(others) if others or not measures else [], SCALED in measures
    kept = [one for one in chosen() if one.kind != "soft" or not _is_hard(reference)]
    return [one for one in kept if one.name != "top-2-accuracy" or prediction.n_labels > 2], reference.scale is not None


def _is_hard(soft: SoftLabels) -> bool:
    return len(soft) > 0 and bool(soft.confidence.min() >= SURE)


@dataclass(frozen=True)
class _Sides:
    """The rows to compare: the prediction, the truth, and the constant prediction (the frequencies of the labels)."""

    prediction: Rows
    truth: Rows
    constant: Rows
    against: str

    @classmethod
    def hard(cls, prediction: Rows, truth: Rows) -> Self:
        """Against the true labels alone."""
        true, n = true_labels(truth), len(truth)
        gold = Candidates(np.arange(n + 1), true, np.ones(n), np.zeros(n), truth.n_labels)
        often = np.bincount(true, minlength=truth.n_labels) / n
        kept = ResultCache(prediction.prob) if isinstance(prediction, Dense) else prediction
        return cls(kept, gold, ResultCache(np.broadcast_to(often, (n, truth.n_labels))), "truth")

    @classmethod
    def soft(cls, prediction: Rows, truth: Rows, against: str) -> Self:
        """Against the distributions."""
        total = sum((block.sum(0) for _, block in parts(truth)), np.zeros(truth.n_labels))
        constant = Dense(np.broadcast_to(total / total.sum(), (len(truth), truth.n_labels)))
        return cls(prediction, truth, constant, against)


def _measured(measure: Measure, sides: _Sides, ties: Ties) -> _Line:
    found = measure.tally(sides.prediction, sides.truth, ties)
    baseline = measure.tally(sides.constant, sides.truth, ties).value
    return _Line(measure.name, sides.against, measure.better, found, baseline, measure.biased)


def _on_the_scale(sides: _Sides, scale: Floats) -> _Line:
    found = mean(line_distances(sides.prediction, sides.truth, scale))
    baseline = float(line_distances(sides.constant, sides.truth, scale).mean())
    return _Line(SCALED, sides.against, "lower", found, baseline)


def _of_counts(prediction: SoftLabels, shares: SoftLabels) -> list[_Line]:
    """What the prediction loses on the votes, and what even a perfect prediction would lose."""
    known = shares.on(prediction.tasks[places(prediction, shares)[0]])
    floor = floors(known)
    return [
        _Line("count-deviance", "votes", "lower", mean(count_deviances(prediction, shares))),
        _Line("kl-divergence-floor", "votes", "", mean(floor)),
        _Line("cross-entropy-floor", "votes", "", mean(floor + known.entropy())),
    ]


def _intervals(lines: list[_Line], repeats: int, level: float, seed: int) -> tuple[Floats, Floats]:
    """(n_lines,) each: the ends of the intervals, nan where one task or no resample tells nothing."""
    ends = np.full((2, len(lines)), np.nan)
    for n_tasks in {line.tally.n_tasks for line in lines} if repeats else ():
        at = [i for i, line in enumerate(lines) if line.tally.n_tasks == n_tasks]
        drawn = resample([lines[i].tally for i in at], repeats=repeats, seed=seed)
        for i, values in zip(at, drawn.T, strict=True):
            told = values[np.isfinite(values)]
            if n_tasks > 1 and len(told):
                ends[:, i] = np.quantile(told, [(1 - level) / 2, (1 + level) / 2])
                if lines[i].biased:  # |noise| adds up: take back what drawing again added
                    ends[:, i] = np.maximum(ends[:, i] - (told.mean() - lines[i].tally.value), 0)
    return ends[0], ends[1]


def _notes(prediction: SoftLabels, truth: SoftLabels, reference: SoftLabels, usual: bool) -> tuple[str, ...]:
    said, met = [], len(places(prediction, truth)[0])
    if met < len(prediction):
        said.append(
            f"{len(prediction) - met:,} of {len(prediction):,} tasks of the prediction have no known truth and are left out"
        )
    if met < len(truth):
        said.append(
            f"{len(truth) - met:,} of {len(truth):,} tasks with known truth have no prediction and are left out"
        )
    if usual and _is_hard(reference):
        said.append("soft measures are left out: one label a task says nothing of doubt; give votes to judge against")
    if not _is_hard(truth):
        said.append("the truth is soft: its most probable label is taken for the true one")
    if float(total_variations(*meet(prediction, reference)).max()) < SAME:
        said.append("the prediction and what it is judged against are the same: it is scored on itself")
    return tuple(said)


def _of_few(shares: SoftLabels | None) -> tuple[str, ...]:
    votes = FEW if shares is None or shares.support is None else float(np.median(shares.support))
    return (
        (f"half the tasks have {votes:g} votes or fewer: the true floors lie above those shown",) if votes < FEW else ()
    )
