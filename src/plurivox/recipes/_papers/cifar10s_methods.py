"""All aggregation methods on percents and on top labels of CIFAR-10S, for two questions: what is true, what people say."""

from itertools import product

import numpy as np

from plurivox import aggregate, evaluate
from plurivox.core.array_types import Floats
from plurivox.core.progress_callbacks import Progress
from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_transforms import smooth, temperature_scale
from plurivox.core.votes import Votes
from plurivox.recipes._papers.cifar10s_smoothing import losses_with_setting_of_other_folds

SAME_RESULT = 0.01  # two methods have the same result if their values differ by at most this per image, on average
POWERS = (0.1, 0.15, 0.25, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
BETAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2)
FIRST = ("vote-shares", "majority-vote")  # named first in a row of several methods
QUESTIONS = (  # title, measure, whether power and beta are chosen on other images first
    ("What is true", "accuracy", False),
    ("What is true", "brier", False),
    ("What is true", "nll", True),
    ("What people say", "total-variation", False),
    ("What people say", "cross-entropy", True),
)
ValuesPerMethod = dict[str, tuple[Floats, Floats]]  # method -> (n_tasks,) values on plain and on soft answers


def fit_every_method(plain: Votes, soft: Votes, progress: Progress) -> dict[str, tuple[SoftLabels, SoftLabels]]:
    """Return method -> its soft labels from plain and from soft answers, for every aggregation method."""
    fits = {}
    names = sorted(aggregate.methods, key=lambda name: (name not in FIRST, name))
    for step, name in enumerate(names):
        method = aggregate.methods.make(name)
        fits[name] = method.fit(plain).soft, method.fit(soft).soft
        progress(step, len(names))
    return fits


def method_tables(
    fits: dict[str, tuple[SoftLabels, SoftLabels]], gold: SoftLabels, human: SoftLabels, progress: Progress
) -> list[Table]:
    """Return one table per question and measure: plain and soft answers by method, methods with the same result together."""
    tables = []
    for step, (question, measure, recalibrated) in enumerate(QUESTIONS):
        truth = gold if question == "What is true" else human
        values = {
            name: (_values(plain, truth, measure, recalibrated), _values(soft, truth, measure, recalibrated))
            for name, (plain, soft) in fits.items()
        }
        tables.append(_method_table(question, measure, values, recalibrated))
        progress(step, len(QUESTIONS))
    return tables


def _values(soft: SoftLabels, truth: SoftLabels, measure: str, recalibrated: bool) -> Floats:
    """Return (n_tasks,) the measure on each task; recalibrated: with the power and beta that are best on the other folds."""
    if not recalibrated:
        return evaluate.by_task(soft, truth, measure, ties="share")[1]
    tried = [
        evaluate.by_task(smooth(temperature_scale(soft, power), beta), truth, measure)[1]
        for power, beta in product(POWERS, BETAS)
    ]
    return losses_with_setting_of_other_folds(np.array(tried))[0]


def group_methods_with_same_result(values: ValuesPerMethod) -> list[list[str]]:
    """Return groups of methods whose values differ by at most .01 per task on average, on plain and on soft answers.

    Any two methods of a group are that close; a method joins the first group that it fits.
    """
    groups: list[list[str]] = []
    for name, own in values.items():
        for group in groups:
            if all(_largest_mean_difference(own, values[other]) <= SAME_RESULT for other in group):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def _largest_mean_difference(one: tuple[Floats, Floats], two: tuple[Floats, Floats]) -> float:
    """Return the mean absolute difference per task between two methods, the larger one of plain and soft answers."""
    return max(float(np.abs(a - b).mean()) for a, b in zip(one, two, strict=True))


def _method_table(question: str, measure: str, values: ValuesPerMethod, recalibrated: bool) -> Table:
    """Return the table of one measure: a row per distinct result, with the numbers of the first method named.

    Two gains per row: soft over plain answers, and the method over the mean of the same soft answers (vote-shares).
    """
    higher = evaluate.MEASURES[measure].better == "higher"
    sign = 1 if higher else -1
    groups = group_methods_with_same_result(values)
    plain, soft = (np.array([values[group[0]][side] for group in groups]) for side in (0, 1))
    gains = evaluate.simultaneous_bootstrap(sign * (soft - plain).T)
    over_mean = evaluate.simultaneous_bootstrap(sign * (soft - values["vote-shares"][1]).T)
    columns = {
        "method": [", ".join(group) for group in groups],
        "plain": plain.mean(1),
        "soft": soft.mean(1),
        "gain": [one.mean for one in gains],
        "low": [one.low for one in gains],
        "high": [one.high for one in gains],
        "over mean": [one.mean for one in over_mean],
        "low mean": [one.low for one in over_mean],
        "high mean": [one.high for one in over_mean],
    }
    notes: tuple[str, ...] = (
        f"{len(groups)} distinct results of {len(values)} methods: methods in one row differ by at most {SAME_RESULT:g} "
        "per image; numbers of the first",
        "gain: soft over plain answers; over mean: the method over vote-shares, both on soft answers; above 0 is better; "
        "simultaneous 95% intervals of the rows, images drawn",
    )
    if recalibrated:
        notes = ("recalibrated: soft labels to a power, then label smoothing, both chosen on the other folds", *notes)
    how = (" recalibrated," if recalibrated else "") + f" {'higher' if higher else 'lower'} is better"
    return Table(f"{question}: {measure} by method,{how}", columns, notes)
