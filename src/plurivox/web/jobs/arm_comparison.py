"""Compare the arms (forms) of a study: time and inputs per answer, agreement, accuracy, and accuracy per minute of work.

Every arm is compared with the same kind of reference: gold labels, else the vote shares of the other arms on tasks that both
have answered. The match of an answer is the probability mass that it shares with the reference of its task; above the match
with references of other tasks (chance) and divided by the median time, it is the match per minute.
"""

import math
from typing import Any

import numpy as np
from sqlalchemy import Connection

from plurivox.core.answers import Answers
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.errors import PlurivoxError
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.elicit import Elicited
from plurivox.evaluate import accuracy, soft_accuracy
from plurivox.web.jobs.arm_people import people_fields_by_arm
from plurivox.web.jobs.study_statistics import round_to_5_digits_or_none_if_not_finite
from plurivox.web.store.collect.workers import arm_by_worker_pseudonym
from plurivox.web.store.report import statistics_classes_and_queries
from plurivox.web.store.report.answer_cache import CollectedAnswers
from plurivox.web.store.report.statistics_classes_and_queries import ArmResult
from plurivox.web.study.config import Arm, Study
from plurivox.workflows import curve, elicit_votes, fit, score

RESAMPLES = 200  # of the bootstrap
MAX_TASKS = 2_000  # tasks that are compared with the reference
CURVE_ANSWERS, CURVE_SEEDS = (1, 2, 3, 4, 6, 8), 5  # answers per task, random draws


def compare_arms(
    connection: Connection, study: Study, collected: CollectedAnswers, elicited: Elicited
) -> list[ArmResult]:
    """Return drop-out, time per answer, agreement and accuracy of each arm of a study; None if not computable yet."""
    answers, votes, first = collected.answers, elicited.votes, collected.non_repeat_answer_mask
    labels_named_first = elicit_votes(answers, "one-label").votes
    arm_of = arm_by_worker_pseudonym(connection)
    arms = np.array([arm_of.get(name, "") for name in answers.workers.tolist()] or [""], dtype=object)  # (n_workers,)
    arm_of_answer = arms[answers.worker]  # (n_answers,)
    gold, inputs = (
        statistics_classes_and_queries.gold_labels_of_tasks_as_soft_labels(connection, study.labels),
        statistics_classes_and_queries.count_answers_by_arm_and_number_of_inputs(connection),
    )
    people = people_fields_by_arm(connection, study)
    assert votes.answer is not None and labels_named_first.answer is not None
    rows = []
    for one in study.arms:
        in_arm = (arm_of_answer == one.name) & first
        in_any_arm = np.isin(arm_of_answer, [arm.name for arm in study.arms]) & first
        arm_votes, other_votes = votes.where(in_arm[votes.answer]), votes.where((in_any_arm & ~in_arm)[votes.answer])
        cost = _answer_count_and_median_seconds(answers, in_arm) | {
            "inputs": _median_of_counts(inputs.get(one.name, {}))
        }
        columns = (
            people[one.name]
            | cost
            | _mean_answer_entropy(arm_votes)
            | _observed_agreement(labels_named_first.where(in_arm[labels_named_first.answer]), answers)
        )
        columns |= _accuracy_and_accuracy_gain_per_minute(arm_votes, other_votes, gold, cost["seconds"])
        rows.append(ArmResult(**_arm_name_form_and_wording_fields(study, one), **columns))
    return rows


def _arm_name_form_and_wording_fields(study: Study, arm: Arm) -> dict[str, Any]:
    """Return the name, answer form and wording of an arm of the study, as fields of ArmResult."""
    config_of_arm = study.config_of_arm(arm.name)
    return {"arm": arm.name, "form": config_of_arm.form, "wording": config_of_arm.wording}


# ---- costs


def _answer_count_and_median_seconds(answers: Answers, is_in_arm: Bools) -> dict[str, Any]:
    """Return the number of answers in an arm and the median time per answer with interval, as fields of ArmResult."""
    assert answers.seconds is not None
    known = is_in_arm & ~np.isnan(answers.seconds)
    return {
        "answers": int(is_in_arm.sum()),
        "seconds": _round_interval_to_4_digits(
            median_and_cluster_bootstrap_interval(answers.seconds[known], answers.worker[known])
        ),
    }


def median_and_cluster_bootstrap_interval(values: Floats, group_of_value: Ints, seed: int = 0) -> list[float] | None:
    """Return the median with its 95% bootstrap interval, [median, low, high]; groups (workers) are resampled as a whole.

    >>> median_and_cluster_bootstrap_interval(np.array([1.0, 2.0, 3.0, 9.0]), np.array([0, 0, 1, 1]))
    [2.5, 1.5, 6.0]
    """
    if not len(values):
        return None
    names, group_of_value = np.unique(group_of_value, return_inverse=True)
    order = np.argsort(values, kind="stable")
    values, group_of_value = values[order], group_of_value[order]
    rng, drawn = np.random.default_rng(seed), []
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(0, len(names), len(names)), minlength=len(names))[group_of_value]
        drawn.append(_weighted_median(values, np.cumsum(times)))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return [float(np.median(values)), float(low), float(high)]


def _weighted_median(sorted_values: Floats, cumulative_weights: Ints) -> float:
    """Return the median of sorted values that have integer weights, given as cumulative weights."""
    places = np.searchsorted(
        cumulative_weights, [(cumulative_weights[-1] - 1) // 2, cumulative_weights[-1] // 2], side="right"
    )
    return float(sorted_values[places].mean())


def _median_of_counts(count_by_value: dict[int, int]) -> float | None:
    """Return the median of values given as value -> number of occurrences; None if there are no values."""
    if not count_by_value:
        return None
    inputs = np.array(sorted(count_by_value), float)
    return _weighted_median(inputs, np.cumsum([count_by_value[int(n)] for n in inputs]))


# ---- agreement and accuracy


def _mean_answer_entropy(arm_votes: Votes) -> dict[str, Any]:
    """Return the mean entropy of an answer in nats, as a field of ArmResult."""
    if not len(arm_votes):
        return {"entropy": None}
    assert arm_votes.answer is not None
    p = arm_votes.weights
    _, place = np.unique(arm_votes.answer, return_inverse=True)
    mean = float(np.bincount(place, -p * np.log(np.maximum(p, 1e-300))).mean())
    return {"entropy": round_to_5_digits_or_none_if_not_finite(mean)}


def _observed_agreement(first_labels_of_arm: Votes, answers: Answers) -> dict[str, Any]:
    """Return the share of pairs of people who named the same label first, as a field of ArmResult; comparable between forms."""
    try:
        scores = score(first_labels_of_arm, "observed-agreement", answers=answers, resamples=0)
    except PlurivoxError:  # no two answers to one task yet
        return {"agreement": None}
    return {"agreement": round_to_5_digits_or_none_if_not_finite(float(scores.raw[0]))}


def _accuracy_and_accuracy_gain_per_minute(
    arm_votes: Votes, other_arms_votes: Votes, gold: SoftLabels | None, median_seconds_with_interval: list[float] | None
) -> dict[str, Any]:
    """Return the accuracy of an arm's answers against gold or the other arms, also per minute, as fields of ArmResult."""
    empty: dict[str, Any] = {
        "against": None,
        "tasks": 0,
        "accuracy": None,
        "match": None,
        "per_minute": None,
        "curve": [],
    }
    names = arm_votes.tasks_with_votes
    if gold is not None and (positions(gold.tasks, names) >= 0).any():
        against, reference = "gold", gold.shared(names)
    else:
        both = names[positions(other_arms_votes.tasks_with_votes, names) >= 0]
        if not len(both):
            return empty
        against, reference = "others", fit(other_arms_votes.on(both), "vote-shares").soft
    if len(reference) > MAX_TASKS:
        reference = reference.on(np.random.default_rng(0).choice(reference.tasks, MAX_TASKS, replace=False))
    compared = arm_votes.on(reference.tasks)
    soft = fit(compared, "vote-shares").soft
    per_task = int(np.median(compared.support))
    ms = [m for m in CURVE_ANSWERS if m <= max(per_task, 1)]
    cost = median_seconds_with_interval[0] if median_seconds_with_interval else math.nan
    line = curve(
        compared,
        lambda soft: soft_accuracy(soft, reference),
        ms,
        cost,
        name="",
        measure_name="match",
        seeds=CURVE_SEEDS,
    )
    values = line.values.mean(1)
    gain = float(values[0]) - _chance_soft_accuracy_against_other_tasks(compared, reference)
    return {
        "against": against,
        "tasks": len(reference),
        "accuracy": round_to_5_digits_or_none_if_not_finite(accuracy(soft, reference)),
        "match": round_to_5_digits_or_none_if_not_finite(float(values[0])),
        "per_minute": round_to_5_digits_or_none_if_not_finite(60 * gain / cost) if cost else None,
        "curve": [
            [m, round_to_5_digits_or_none_if_not_finite(s), round_to_5_digits_or_none_if_not_finite(v)]
            for m, s, v in zip(ms, line.seconds.tolist(), values.tolist(), strict=True)
        ],
    }


def _chance_soft_accuracy_against_other_tasks(arm_votes: Votes, reference: SoftLabels) -> float:
    """Return the soft accuracy that one answer reaches by chance, against references of other tasks; nan with a single task."""
    n = len(reference)
    shifts = sorted({shift % n for shift in (1, -1, n // 3, -(n // 3), n // 2)} - {0})
    others = [
        SoftLabels.of(np.roll(reference.prob, shift, axis=0), reference.tasks, reference.labels) for shift in shifts
    ]
    if not others:
        return math.nan

    def soft_accuracy_vs_shifted_references(prediction: SoftLabels) -> float:
        """Return the mean soft accuracy of predictions against references shifted to other tasks."""
        return float(np.mean([soft_accuracy(prediction, other) for other in others]))

    return float(
        curve(arm_votes, soft_accuracy_vs_shifted_references, [1], 1.0, name="", seeds=CURVE_SEEDS).values.mean()
    )


def _round_interval_to_4_digits(value_low_high: list[float] | None) -> list[float] | None:
    """Return [value, low, high] rounded to 4 digits; None if the argument is None."""
    return None if value_low_high is None else [round(float(value), 4) for value in value_low_high]
