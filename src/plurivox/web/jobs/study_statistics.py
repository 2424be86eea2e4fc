"""Statistics of a snapshot: histograms of the soft labels, agreement, worker scores, times, flags of answers."""

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from plurivox.core.answers import Answers
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.errors import PlurivoxError, PlurivoxWarning
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.elicit import FLAGS, Elicited
from plurivox.web.store.collect.workers import STAGES
from plurivox.web.store.report.answer_cache import CollectedAnswers
from plurivox.web.store.report.answer_times import IMPOSSIBLE_TIME
from plurivox.web.store.report.statistics_classes_and_queries import (
    Agreement,
    Times,
    yield_stage_and_seconds_of_each_visit,
)
from plurivox.web.store.report.worker_scores_and_flags import MIN_ANSWERS_TO_DOUBT, WorkerScores
from plurivox.web.study.answer_flags import STUDIO_FLAGS
from plurivox.web.study.config import Study
from plurivox.workflows import score

WORKER_SCORES = ("agreement-with-rest", "repeat-consistency", "too-fast")
# no page shows intervals
CROWD_SCORES: dict[str, dict[str, Any]] = {
    "krippendorff-alpha": {"resamples": 0},
    "observed-agreement": {"resamples": 0},
}
MAX_HOURS = 72  # of agreement by hour
MAX_POSITION = 200  # of time by position


class Histograms(NamedTuple):
    """Histograms of the entropy and top probability of tasks, and the mean probability of each label."""

    entropy: list[int]  # ten bins from 0 to log n_labels
    confidence: list[int]  # ten bins from 0 to 1
    label_shares: dict[str, float]


def soft_label_histograms_and_label_shares(fitted: Fit, has_votes: Bools | None = None) -> Histograms:
    """Return 10-bin histograms over tasks of the entropy and the top probability, and the mean probability of each label.

    With `has_votes` (n_tasks,), of those tasks only: the soft label of a task without votes is not an observation.
    """
    rows = slice(None) if has_votes is None else np.flatnonzero(has_votes)
    prob = np.asarray(fitted.soft.prob, np.float64)[rows]
    shares = dict(zip(fitted.soft.labels.tolist(), prob.mean(0).round(5).tolist(), strict=True))
    highest = math.log(prob.shape[1])  # a uniform row may exceed it by rounding, and would not be counted
    entropy = np.histogram(np.minimum(fitted.soft.entropy()[rows], highest), 10, (0, highest))[0].tolist()
    return Histograms(entropy, np.histogram(prob.max(1), 10, (0, 1))[0].tolist(), shares)


def _scores_by_method_and_worker_or_crowd(
    options_by_method: Mapping[str, dict[str, Any]], votes: Votes, answers: Answers
) -> dict[str, dict[str, float | None]]:
    """Return identification method -> worker's badness (higher is worse) or coefficient of the crowd as published, by name.

    Methods that cannot be computed yet are left out.
    """
    scores: dict[str, dict[str, float | None]] = {}
    for name, options in options_by_method.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* is undefined", PlurivoxWarning)  # while all votes are equal
            warnings.filterwarnings("ignore", "no answer took less than", PlurivoxWarning)
            try:
                result = score(votes, name, answers=answers, **options)
            except PlurivoxError:
                continue
        values = result.badness if result.of == "worker" else result.raw
        scores[name] = dict(
            zip(
                map(str, result.names.tolist()),
                map(round_to_5_digits_or_none_if_not_finite, values.tolist()),
                strict=True,
            )
        )
    return scores


def round_to_5_digits_or_none_if_not_finite(value: float) -> float | None:
    """Return a number rounded to 5 digits; None if it is not finite, since JSON has no nan."""
    return round(value, 5) if math.isfinite(value) else None


def compute_agreement_statistics(collected: CollectedAnswers, first_labels: Votes, fitted: Fit | None) -> Agreement:
    """Compute the agreement of workers with each other, with themselves on repeats, and with the soft labels by hour.

    `first_labels` are votes for the label that each answer names first, without repeats: a person's second answer to a task
    is not the answer of another person. (The overlap of soft answers stays below 1 even if all answers are equal.)
    """
    answers = collected.answers
    assert answers.when is not None
    again, before = collected.comparable_repeats
    top = answers.label_codes_at_rank(0)
    same = None if not len(again) else float((top[again] == top[before]).mean())
    scores = {
        name: next(iter(of.values()), None)
        for name, of in _scores_by_method_and_worker_or_crowd(CROWD_SCORES, first_labels, answers).items()
    }
    hours: list[tuple[float, float, int]] = []
    if fitted is not None:
        best = np.asarray(fitted.soft.prob).argmax(1)
        first = collected.non_repeat_answer_mask
        n_people = np.bincount(answers.task[first], minlength=len(answers.tasks))
        counts = (top >= 0) & first & (n_people[answers.task] > 1)
        fits = top[counts] == best[answers.task[counts]]
        grouped = _yield_group_code_and_its_values(
            (answers.when[counts] // 3600).astype(np.int64), fits.astype(np.float64)
        )
        hours = [(hour * 3600.0, round(float(mine.mean()), 4), len(mine)) for hour, mine in grouped][-MAX_HOURS:]
    return Agreement(scores, int(collected.is_repeat.sum()), same, hours, repeats_compared=len(again))


def compute_scores_counts_and_times_by_worker(
    study: Study, collected: CollectedAnswers, first_labels: Votes, flags_by_answer: Mapping[int, list[str]]
) -> dict[int, WorkerScores]:
    """Return worker id -> badness by each score, numbers of answers and flagged answers, median seconds, last answer.

    `first_labels` are votes for the label that each answer names first, without repeats.
    """
    answers = collected.answers
    assert answers.seconds is not None and answers.when is not None
    options = {name: {"seconds": study.too_fast_seconds} if name == "too-fast" else {} for name in WORKER_SCORES}
    timed = replace(answers, seconds=collected.seconds_at_most)
    scores = _scores_by_method_and_worker_or_crowd(options, first_labels, timed)
    is_flagged = np.isin(collected.ids, np.fromiter(flags_by_answer, np.int64, len(flags_by_answer)))
    n_flagged = np.bincount(answers.worker[is_flagged], minlength=len(answers.workers))
    names, ids = answers.workers.tolist(), collected.database_id_of_each_worker.tolist()
    n_compared = np.bincount(answers.worker[collected.comparable_repeats[0]], minlength=len(answers.workers))
    seen = np.full(len(names), -np.inf)
    np.maximum.at(seen, answers.worker, answers.when)
    return {
        ids[code]: WorkerScores(
            n=len(mine),
            seconds=_median_without_nan_rounded_to_3_digits(mine),
            flags=int(n_flagged[code]),
            seen=float(seen[code]),
            repeats=int(n_compared[code]),
            **{one.replace("-", "_"): scores.get(one, {}).get(names[code]) for one in WORKER_SCORES},
        )
        for code, mine in _yield_group_code_and_its_values(answers.worker, answers.seconds)
    }


def median_agreement_of_workers(scores_by_worker: Mapping[int, WorkerScores]) -> float | None:
    """Return the median over workers with enough answers of their agreement with the others; None if there are none."""
    known = [
        1 - one.agreement_with_rest
        for one in scores_by_worker.values()
        if one.n >= MIN_ANSWERS_TO_DOUBT and one.agreement_with_rest is not None
    ]
    return round(float(np.median(known)), 5) if known else None


def median_times_overall_and_by_position(collected: CollectedAnswers) -> Times:
    """Return the median seconds per answer (first input, active, page hidden), overall and by position in the sitting."""
    answers = collected.answers
    assert answers.position is not None and answers.seconds is not None
    known = ~np.isnan(answers.seconds) & (answers.position <= MAX_POSITION)
    grouped = _yield_group_code_and_its_values(answers.position[known], answers.seconds[known])
    return Times(
        first_input=_median_without_nan_rounded_to_3_digits(collected.first_input),
        top_label=_median_without_nan_rounded_to_3_digits(collected.top_label),
        active=_median_without_nan_rounded_to_3_digits(answers.seconds),
        hidden=_median_without_nan_rounded_to_3_digits(collected.hidden),
        by_position=[(place, _median_without_nan_rounded_to_3_digits(mine), len(mine)) for place, mine in grouped],
        impossible=int(collected.impossible_time.sum()),
    )


def _yield_group_code_and_its_values(group_codes: Ints, values: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield (group code, array of the values in that group), in increasing order of the codes."""
    order = np.argsort(group_codes, kind="stable")
    there, first = np.unique(group_codes[order], return_index=True)
    yield from zip(there.tolist(), np.split(values[order], first[1:]) if len(there) else (), strict=True)


def _median_without_nan_rounded_to_3_digits(values: Floats) -> float | None:
    """Return the median of the values that are not nan, rounded to 3 digits; None if there are none."""
    known = values[~np.isnan(values)]
    return round(float(np.median(known)), 3) if len(known) else None


def median_seconds_by_stage(connection: Connection) -> dict[str, float]:
    """Return stage -> median seconds that workers spend on a visit to it, in the order of the stages."""
    spent: dict[str, list[float]] = {}
    for stage, seconds in yield_stage_and_seconds_of_each_visit(connection):
        spent.setdefault(stage, []).append(seconds)
    medians = {stage: round(float(np.median(seconds)), 3) for stage, seconds in spent.items()}
    return {stage: medians[stage] for stage in STAGES if stage in medians}


def compute_flags_by_answer_id(study: Study, collected: CollectedAnswers, elicited: Elicited) -> dict[int, list[str]]:
    """Return answer id -> flags, such as too-fast or changed-on-repeat; answers without flags are left out."""
    answers = collected.answers
    flags: dict[int, list[str]] = {}
    top = answers.label_codes_at_rank(0)
    again, before = collected.comparable_repeats
    changed = np.zeros(len(answers), bool)
    changed[again] = top[again] != top[before]
    marks = {name: elicited.has_flag(name) for name in elicited.flag_counts}
    marks["too-fast"] = collected.seconds_at_most < study.too_fast_seconds
    marks[IMPOSSIBLE_TIME] = collected.impossible_time
    marks["changed-on-repeat"] = changed
    marks["late"] = collected.late
    marks["picture-not-seen"] = collected.unseen
    assert marks.keys() <= FLAGS.keys() | STUDIO_FLAGS.keys(), "a flag needs a meaning in answer_flags.STUDIO_FLAGS"
    for name, where in marks.items():
        for one in collected.ids[where].tolist():
            flags.setdefault(one, []).append(name)
    return flags
