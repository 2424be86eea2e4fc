"""Forms compared: what the answers of each arm of a study cost and what they are worth. Computed beside the requests.

Every arm is held against the same kind of reference: what is known of the tasks (gold), else the mean of what the other arms
say, on tasks that both have answered. An answer is worth the mass that it has in common with the reference of its task,
beyond what it has in common with those of other tasks by chance; divided by the median time, that is what a minute is worth.
"""

import math
from typing import Any

import numpy as np
from sqlalchemy import Connection

from plurivox.core.answers import Answers
from plurivox.core.errors import PlurivoxError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes
from plurivox.elicit import Elicited
from plurivox.engine.beta import jeffreys_interval
from plurivox.evaluate import accuracy, soft_accuracy
from plurivox.web.jobs.study_statistics import round_finite
from plurivox.web.store.database import now
from plurivox.web.store.report import statistics
from plurivox.web.store.report.answer_cache import CollectedAnswers
from plurivox.web.store.report.statistics import ArmPeople, ArmResult
from plurivox.web.study.config import Arm, Study
from plurivox.workflows import curve, fit, score

RESAMPLES = 200
MAX_TASKS = 2_000  # tasks that the curves look at
CURVE_ANSWERS, CURVE_SEEDS = (1, 2, 3, 4, 6, 8), 5  # answers a task


def compare_arms(connection: Connection, study: Study, held: CollectedAnswers, read: Elicited) -> list[ArmResult]:
    """A result for each arm; what cannot be told yet is None."""
    found, votes, first = held.answers, read.votes, held.is_first
    arm_of = statistics.worker_arms(connection)
    arms = np.array([arm_of.get(name, "") for name in found.workers.tolist()] or [""], dtype=object)  # (n_workers,)
    said = arms[found.worker]  # (n_answers,)
    gold, inputs = statistics.gold_labels(connection, study.labels), statistics.count_inputs_by_arm(connection)
    people = statistics.count_people_by_arm(connection, before=now() - study.lease_minutes * 60)
    assert votes.answer is not None
    rows = []
    for one in study.arms:
        mine, others = (said == one.name) & first, np.isin(said, [arm.name for arm in study.arms]) & first
        ours, theirs = votes.where(mine[votes.answer]), votes.where((others & ~mine)[votes.answer])
        cost = _cost_columns(found, mine) | {"inputs": _median_of_counts(inputs.get(one.name, {}))}
        worth = _accuracy_columns(ours, theirs, gold, cost["seconds"])
        told = _people_columns(people.get(one.name, ArmPeople()))
        rows.append(ArmResult(**_arm_columns(study, one), **told, **cost, **_agreement_columns(ours, found), **worth))
    return rows


def _arm_columns(study: Study, one: Arm) -> dict[str, Any]:
    seen = study.in_arm(one.name)
    return {"arm": one.name, "form": seen.form, "wording": seen.wording}


# ---- people


def _people_columns(one: ArmPeople) -> dict[str, Any]:
    over, share = one.finished + one.left, None
    if over:
        p = np.array([one.left / over])
        low, high = jeffreys_interval(p, over)
        share = [p[0], low[0], high[0]]
    return {**vars(one), "drop_out": _rounded_interval(share)}


# ---- costs


def _cost_columns(found: Answers, mine: Bools) -> dict[str, Any]:
    assert found.seconds is not None
    known = mine & ~np.isnan(found.seconds)
    return {
        "answers": int(mine.sum()),
        "seconds": _rounded_interval(median_interval(found.seconds[known], found.worker[known])),
    }


def median_interval(values: Floats, group: Ints, seed: int = 0) -> list[float] | None:
    """The median with its 95% bootstrap interval; groups (people) are drawn whole, since their answers are alike.

    >>> median_interval(np.array([1.0, 2.0, 3.0, 9.0]), np.array([0, 0, 1, 1]))
    [2.5, 1.5, 6.0]
    """
    if not len(values):
        return None
    names, group = np.unique(group, return_inverse=True)
    order = np.argsort(values, kind="stable")
    values, group = values[order], group[order]
    rng, drawn = np.random.default_rng(seed), []
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(0, len(names), len(names)), minlength=len(names))[group]
        drawn.append(_weighted_median(values, np.cumsum(times)))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return [float(np.median(values)), float(low), float(high)]


def _weighted_median(values: Floats, upto: Ints) -> float:
    """The median of sorted values that count several times; `upto` adds up how often."""
    places = np.searchsorted(upto, [(upto[-1] - 1) // 2, upto[-1] // 2], side="right")
    return float(values[places].mean())


def _median_of_counts(counts: dict[int, int]) -> float | None:
    if not counts:
        return None
    inputs = np.array(sorted(counts), float)
    return _weighted_median(inputs, np.cumsum([counts[int(n)] for n in inputs]))


# ---- what answers say


def _agreement_columns(ours: Votes, found: Answers) -> dict[str, Any]:
    """How unsure one answer is, in nats, and how far the people of an arm agree."""
    told: dict[str, Any] = {"entropy": None, "agreement": None}
    if len(ours):
        assert ours.answer is not None
        p = ours.weights
        _, place = np.unique(ours.answer, return_inverse=True)
        told["entropy"] = round_finite(float(np.bincount(place, -p * np.log(np.maximum(p, 1e-300))).mean()))
        try:
            made = score(ours, "observed-agreement", answers=found, resamples=0)
            told["agreement"] = round_finite(float((made.value if made.raw is None else made.raw)[0]))
        except PlurivoxError:  # no two answers to one task yet
            return told
    return told


def _accuracy_columns(
    ours: Votes, theirs: Votes, gold: SoftLabels | None, seconds: list[float] | None
) -> dict[str, Any]:
    """How near answers come to the reference, by how many there are and by what they cost."""
    empty: dict[str, Any] = {
        "against": None,
        "tasks": 0,
        "accuracy": None,
        "match": None,
        "per_minute": None,
        "curve": [],
    }
    names = ours.voted
    if gold is not None and len(np.intersect1d(names, gold.tasks)):
        against, reference = "gold", gold.shared(names)
    else:
        both = np.intersect1d(names, theirs.voted)
        if not len(both):
            return empty
        against, reference = "others", fit(theirs.on(both), "vote-shares").soft
    if len(reference) > MAX_TASKS:
        reference = reference.on(np.random.default_rng(0).choice(reference.tasks, MAX_TASKS, replace=False))
    here = ours.on(reference.tasks)
    soft = fit(here, "vote-shares").soft
    most = int(np.median(here.support))
    ms = [m for m in CURVE_ANSWERS if m <= max(most, 1)]
    cost = seconds[0] if seconds else math.nan
    line = curve(
        here, lambda guess: soft_accuracy(guess, reference), ms, cost, name="", measure_name="match", seeds=CURVE_SEEDS
    )
    values = line.values.mean(1)
    gain = float(values[0]) - _chance_match(here, reference)
    return {
        "against": against,
        "tasks": len(reference),
        "accuracy": round_finite(accuracy(soft, reference)),
        "match": round_finite(float(values[0])),
        "per_minute": round_finite(60 * gain / cost) if cost else None,
        "curve": [
            [m, round_finite(s), round_finite(v)]
            for m, s, v in zip(ms, line.seconds.tolist(), values.tolist(), strict=True)
        ],
    }


def _chance_match(here: Votes, reference: SoftLabels) -> float:
    """What one answer has in common with the references of other tasks; nan where there is but one task."""
    n = len(reference)
    turns = sorted({turn % n for turn in (1, -1, n // 3, -(n // 3), n // 2)} - {0})
    others = [SoftLabels.of(np.roll(reference.prob, turn, axis=0), reference.tasks, reference.labels) for turn in turns]
    if not others:
        return math.nan

    def common(guess: SoftLabels) -> float:
        return float(np.mean([soft_accuracy(guess, other) for other in others]))

    return float(curve(here, common, [1], 1.0, name="", seeds=CURVE_SEEDS).values.mean())


def _rounded_interval(values: list[float] | None) -> list[float] | None:
    return None if values is None else [round(float(value), 4) for value in values]
