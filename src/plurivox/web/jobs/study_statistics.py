"""What the answers of a study say in sum: agreement, workers, times, what is odd."""

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from plurivox.core.answers import Answers
from plurivox.core.errors import PlurivoxError, PlurivoxWarning
from plurivox.core.results import Fit
from plurivox.core.types import Floats, Ints
from plurivox.core.votes import Votes
from plurivox.elicit import Elicited
from plurivox.web.store.collect.workers import STAGES
from plurivox.web.store.report.answer_cache import CollectedAnswers
from plurivox.web.store.report.statistics import Agreement, Times, stage_seconds
from plurivox.web.store.report.worker_results import WorkerScores
from plurivox.web.study.config import Study
from plurivox.workflows import score

WORKER_SCORES: dict[str, dict[str, Any]] = {"agreement-with-rest": {}, "repeat-consistency": {}, "too-fast": {}}
CROWD_SCORES: dict[str, dict[str, Any]] = {
    "krippendorff-alpha": {"resamples": 0},
    "observed-agreement": {"resamples": 0},
}  # no page shows intervals
MAX_HOURS = 72
MAX_POSITION = 200  # of the learning curve


class Histograms(NamedTuple):
    """How unsure tasks are, how sure their top labels, and how much of all is each label's."""

    entropy: list[int]  # ten bins from 0 to log n_labels
    confidence: list[int]  # ten bins from 0 to 1
    label_shares: dict[str, float]


def soft_label_histograms(fitted: Fit) -> Histograms:
    """Histograms of the soft labels."""
    prob = np.asarray(fitted.soft.prob, np.float64)
    shares = dict(zip(fitted.soft.labels.tolist(), prob.mean(0).round(5).tolist(), strict=True))
    entropy = np.histogram(fitted.soft.entropy(), 10, (0, math.log(prob.shape[1])))[0].tolist()
    return Histograms(entropy, np.histogram(prob.max(1), 10, (0, 1))[0].tolist(), shares)


def _compute_scores(
    names: Mapping[str, dict[str, Any]], votes: Votes, found: Answers
) -> dict[str, dict[str, float | None]]:
    """score -> name -> value; a score that cannot be told yet is left out, one that is undefined is None."""
    told: dict[str, dict[str, float | None]] = {}
    for name, options in names.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* is undefined", PlurivoxWarning)  # while all votes are alike
            try:
                made = score(votes, name, answers=found, **options)
            except PlurivoxError:
                continue
        values = made.value if made.raw is None or made.of == "worker" else made.raw
        told[name] = dict(zip(map(str, made.names.tolist()), map(round_finite, values.tolist()), strict=True))
    return told


def round_finite(value: float) -> float | None:
    """A number rounded to 5 digits, as JSON can hold it; None where it is not finite."""
    return round(value, 5) if math.isfinite(value) else None


def compute_agreement(held: CollectedAnswers, read: Elicited, fitted: Fit | None) -> Agreement:
    """With each other, with oneself, and with the soft labels hour by hour."""
    found = held.answers
    assert found.repeat_of is not None and found.when is not None
    again = np.flatnonzero(found.repeat_of >= 0)
    top = found.named(0)
    same = None if not len(again) else float((top[again] == top[found.repeat_of[again]]).mean())
    scores = {
        name: next(iter(of.values()), None) for name, of in _compute_scores(CROWD_SCORES, read.votes, found).items()
    }
    hours: list[tuple[float, float, int]] = []
    if fitted is not None:
        best = np.asarray(fitted.soft.prob).argmax(1)
        counts = (top >= 0) & (np.bincount(found.task, minlength=len(found.tasks))[found.task] > 1)
        fits = top[counts] == best[found.task[counts]]
        grouped = _group_values((found.when[counts] // 3600).astype(np.int64), fits.astype(np.float64))
        hours = [(hour * 3600.0, round(float(mine.mean()), 4), len(mine)) for hour, mine in grouped][-MAX_HOURS:]
    return Agreement(scores, len(again), same, hours)


def compute_worker_scores(
    held: CollectedAnswers, read: Elicited, odd: Mapping[int, list[str]]
) -> dict[int, WorkerScores]:
    """worker -> what is known of them."""
    found = held.answers
    assert found.seconds is not None and found.when is not None
    scores = _compute_scores(WORKER_SCORES, read.votes, found)
    is_odd = np.isin(held.ids, np.fromiter(odd, np.int64, len(odd)))
    n_odd = np.bincount(found.worker[is_odd], minlength=len(found.workers))
    names, ids = found.workers.tolist(), held.id_of_worker.tolist()
    seen = np.full(len(names), -np.inf)
    np.maximum.at(seen, found.worker, found.when)
    return {
        ids[code]: WorkerScores(
            n=len(mine),
            seconds=_rounded_median(mine),
            flags=int(n_odd[code]),
            seen=float(seen[code]),
            **{one.replace("-", "_"): scores.get(one, {}).get(names[code]) for one in WORKER_SCORES},
        )
        for code, mine in _group_values(found.worker, found.seconds)
    }


def compute_times(held: CollectedAnswers) -> Times:
    """Medians in seconds, and the learning curve."""
    found = held.answers
    assert found.position is not None and found.seconds is not None
    known = ~np.isnan(found.seconds) & (found.position <= MAX_POSITION)
    grouped = _group_values(found.position[known], found.seconds[known])
    return Times(
        first_input=_rounded_median(held.first_input),
        top_label=_rounded_median(held.top_label),
        active=_rounded_median(found.seconds),
        hidden=_rounded_median(held.hidden),
        by_position=[(place, _rounded_median(mine), len(mine)) for place, mine in grouped],
    )


def _group_values(codes: Ints, values: Floats) -> Iterator[tuple[int, Floats]]:
    """(code, its values), by code."""
    order = np.argsort(codes, kind="stable")
    there, first = np.unique(codes[order], return_index=True)
    yield from zip(there.tolist(), np.split(values[order], first[1:]) if len(there) else (), strict=True)


def _rounded_median(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return round(float(np.median(known)), 3) if len(known) else None


def median_stage_seconds(connection: Connection) -> dict[str, float]:
    """Median seconds on each page, in the order of the pages."""
    spent: dict[str, list[float]] = {}
    for stage, seconds in stage_seconds(connection):
        spent.setdefault(stage, []).append(seconds)
    medians = {stage: round(float(np.median(seconds)), 3) for stage, seconds in spent.items()}
    return {stage: medians[stage] for stage in STAGES if stage in medians}


def flag_answers(study: Study, held: CollectedAnswers, read: Elicited) -> dict[int, list[str]]:
    """answer -> what is odd about it."""
    found = held.answers
    odd: dict[int, list[str]] = {}
    assert found.seconds is not None and found.repeat_of is not None
    top = found.named(0)
    again = found.repeat_of >= 0
    marks = {name: read.has(name) for name in read.odd}
    marks["too-fast"] = found.seconds < study.too_fast_seconds
    marks["changed-on-repeat"] = again & (top != top[found.repeat_of])
    marks["extra"] = held.extra
    marks["picture-not-seen"] = held.unseen
    for name, where in marks.items():
        for one in held.ids[where].tolist():
            odd.setdefault(one, []).append(name)
    return odd
