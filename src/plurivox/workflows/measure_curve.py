"""Measures of soft labels as a function of the number of answers per task, from random draws of the votes."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, Self

import numpy as np

from plurivox.aggregate import Aggregator
from plurivox.charts import Chart, ChartData, MeasureCurve
from plurivox.core.array_types import Floats, Ints
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError
from plurivox.core.hidden_answers import hide_answers
from plurivox.core.name_encoding import as_text, positions
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step
from plurivox.core.sample_existing_answers import subsample
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import Measure, shares_of
from plurivox.evaluate.align_tasks_and_labels import align_rows
from plurivox.evaluate.bootstrap_over_tasks import TaskSums, percentile_interval, resample_measures
from plurivox.evaluate.measures.measure_registry import select_measures
from plurivox.evaluate.measures_that_fit_estimates import measure_fits
from plurivox.workflows.answer_cost_in_seconds import seconds_per_answer
from plurivox.workflows.gold_of_voted_tasks import gold_of_tasks_with_votes

WITH_GOLD, WITHOUT_GOLD = "accuracy", "smoothed-cross-entropy"  # the usual measures
MAX_TASKS = 10_000  # of more, a random part is used
MAX_POINTS = 8  # numbers of answers per task; of more, geometrically spaced ones
RESAMPLES = 500
X_TITLES = {"answers": "answers per task", "votes": "votes spent", "seconds": "seconds of work per task"}


@dataclass(frozen=True)
class CurveSettings:
    """What is measured: the measure ("": the usual one), the cost on the x axis, the largest number of answers, the draws."""

    measure: str = ""
    cost: Literal["answers", "votes", "seconds"] = "answers"
    most: int | None = None
    draws: int = 5
    seed: int = 0

    @classmethod
    def of_chart(cls, chart: Chart) -> Self:
        """Return the settings that the options of a chart set."""
        named = {one.name for one in chart.options()} & {one.name for one in fields(cls)}
        return cls(**{name: getattr(chart, name) for name in named})


@dataclass(frozen=True, eq=False)
class Draws:
    """Votes from which answers are drawn in each repeat, and the labels that the result is compared with."""

    votes_of_repeats: tuple[Votes, ...]
    references: tuple[SoftLabels, ...]  # one per repeat: gold labels, or the shares of votes that are held out
    numbers: Ints  # (n,) answers per task
    text: str  # what is compared with what


def measure_curves(
    datasets: Sequence[ChartData], aggregators: Sequence[Aggregator], chart: Chart, progress: Progress
) -> tuple[MeasureCurve, ...]:
    """Return one curve per data set with votes and aggregator: a measure against answers per task, by the chart's options.

    Hard and calibration measures are against gold labels. Soft measures are against votes that are held out: of every task the
    votes of half of the people, in each repeat others, so that no vote is on both sides.
    """
    settings = CurveSettings.of_chart(chart)
    given, text = on_shared_tasks([one for one in datasets if one.votes is not None])
    usual = WITH_GOLD if all(one.gold is not None for one in given) else WITHOUT_GOLD
    (measure,) = select_measures([settings.measure or usual])[:1]
    made: list[MeasureCurve] = []
    for i, data in enumerate(given):
        outer = callback_reporting_only_outer_step(progress, i, len(given))
        found = curves_of_dataset(data, aggregators, measure, settings, outer)
        if len(given) == 1:
            return tuple(found)
        names = [data.name if len(found) == 1 else f"{data.name}: {one.name}" for one in found]
        made += [
            replace(one, name=name, about=f"{data.name}: {one.about}{text * (i == 0)}", same_tasks=bool(text))
            for one, name in zip(found, names, strict=True)
        ]
    return tuple(made)


def on_shared_tasks(datasets: list[ChartData]) -> tuple[list[ChartData], str]:
    """Return the data sets with the votes on the tasks that all have, if they have the same labels, and a text on it.

    Data sets with other labels or without a common task are returned as they are, with an empty text.
    """
    votes = [one.votes for one in datasets if one.votes is not None]
    if len(votes) < 2 or len({frozenset(as_text(one.labels).tolist()) for one in votes}) > 1:
        return datasets, ""
    tasks = votes[0].tasks_with_votes
    for one in votes[1:]:
        tasks = tasks[positions(one.tasks_with_votes, tasks) >= 0]
    if not len(tasks):
        return datasets, ""
    cut = [replace(data, votes=one.on(tasks)) for data, one in zip(datasets, votes, strict=True)]
    return cut, f" Only the {count_text(len(tasks), 'task')} that all data sets have are used."


def curves_of_dataset(
    data: ChartData, aggregators: Sequence[Aggregator], measure: Measure, settings: CurveSettings, progress: Progress
) -> list[MeasureCurve]:
    """Return one curve per aggregator whose estimates the measure evaluates."""
    assert data.votes is not None
    votes = on_random_tasks(data.votes, settings.seed)
    draws = (
        draws_with_held_out_votes(votes, settings)
        if measure.kind == "soft"
        else draws_with_gold(votes, data, measure, settings)
    )
    fitting, left_out = split_by_fit(aggregators, measure, "people" if measure.kind == "soft" else "truth")
    values, lows, highs = measured(draws, fitting, measure, settings, progress)
    x, how = costs(votes, draws, settings)
    repeats = count_text(settings.draws, "random draw")
    about = f"The measure is {draws.text}, a mean over {repeats} of the answers.{how}{left_out}"
    title = X_TITLES[settings.cost]
    return [
        MeasureCurve(one.spec, x, values[i], lows[i], highs[i], title, measure.name, about)
        for i, one in enumerate(fitting)
    ]


def on_random_tasks(votes: Votes, seed: int) -> Votes:
    """Return the votes on at most `MAX_TASKS` random tasks; the votes themselves if there are not more."""
    if votes.n_tasks <= MAX_TASKS:
        return votes
    return votes.on(votes.tasks[np.sort(np.random.default_rng(seed).permutation(votes.n_tasks)[:MAX_TASKS])])


def draws_with_gold(votes: Votes, data: ChartData, measure: Measure, settings: CurveSettings) -> Draws:
    """Return draws from all votes, compared with gold labels; raise InputError if there are none."""
    if data.gold is None:
        raise InputError(
            f"{measure.name} needs gold labels: give gold=... (--gold FILE), or a measure of soft labels, such as "
            f"{WITHOUT_GOLD}, which compares with votes that are held out"
        )
    truth = gold_of_tasks_with_votes(votes, data.gold)
    most = settings.most or int(np.median(votes.support[votes.support > 0]))
    text = f"against the gold labels of {count_text(len(truth), 'task')}"
    return Draws((votes,) * settings.draws, (truth,) * settings.draws, numbers_of_answers(most), text)


def draws_with_held_out_votes(votes: Votes, settings: CurveSettings) -> Draws:
    """Return draws from half of the votes of each task, compared with the shares of the other half."""
    support = votes.support[votes.support > 0]
    n_hidden = int(np.median(support) // 2) if len(support) else 0
    if not n_hidden:
        raise InputError(
            "most tasks have the vote of one person only, so none can be held out: give gold labels (--gold FILE)"
        )
    splits = [hide_answers(votes, n_hidden, settings.seed + r) for r in range(settings.draws)]
    most = settings.most or max(int(np.median(support)) - n_hidden, 1)
    n_compared = int((support > n_hidden).sum())
    text = f"against {count_text(n_hidden, 'held-out vote')} per task on {count_text(n_compared, 'task')}"
    references = tuple(shares_of(split.hidden) for split in splits)
    return Draws(tuple(split.visible for split in splits), references, numbers_of_answers(most), text)


def numbers_of_answers(most: int) -> Ints:
    """Return the numbers of answers per task to try: all up to `most`, or geometrically spaced ones.

    >>> numbers_of_answers(4).tolist(), numbers_of_answers(50).tolist()
    ([1, 2, 3, 4], [1, 2, 3, 5, 9, 16, 29, 50])
    """
    if most <= MAX_POINTS:
        return np.arange(1, most + 1)
    return np.unique(np.round(np.geomspace(1, most, MAX_POINTS)).astype(np.int64))


def split_by_fit(
    aggregators: Sequence[Aggregator], measure: Measure, reference: Estimand
) -> tuple[list[Aggregator], str]:
    """Return the aggregators whose estimates the measure evaluates, and a text on the others; InputError if there is none."""
    fitting = [one for one in aggregators if measure_fits(measure.kind, one.estimated_quantity(), reference)]
    others = [one.spec for one in aggregators if one not in fitting]
    if not fitting:
        what = "what people say" if reference == "people" else "which label is right"
        raise InputError(
            f"{measure.name} evaluates estimates of {what}, which {', '.join(others)} are not: choose other methods"
        )
    what = "which label is right" if reference == "people" else "what people say"
    text = f" Left out are methods that estimate {what}, which this measure does not evaluate: {', '.join(others)}."
    return fitting, text if others else ""


def measured(
    draws: Draws, aggregators: Sequence[Aggregator], measure: Measure, settings: CurveSettings, progress: Progress
) -> tuple[Floats, Floats, Floats]:
    """Return means over the repeats and their intervals over tasks, each (n_aggregators, n_numbers).

    In every resample tasks are drawn with replacement, the same for all draws. Since every draw of answers of a task differs,
    the intervals contain the variation of the draws too.
    """
    sums: list[TaskSums] = []
    total = len(aggregators) * len(draws.numbers) * settings.draws
    for one in aggregators:
        for m in draws.numbers.tolist():
            for r, (pool, reference) in enumerate(zip(draws.votes_of_repeats, draws.references, strict=True)):
                soft = one.fit(subsample(pool, m, settings.seed + r)).soft
                sums.append(measure.measure_as_task_sums(*align_rows(soft, reference), "share"))
                progress(len(sums), total)
    shape = len(aggregators), len(draws.numbers), settings.draws
    values = np.array([one.measure_over_all_tasks for one in sums]).reshape(shape).mean(2)
    if sums[0].n_tasks < 2:
        return values, np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    drawn = resample_measures(sums, repeats=RESAMPLES, seed=settings.seed).reshape(RESAMPLES, *shape).mean(3)
    ends = np.array(
        [
            [percentile_interval(values[i, j], drawn[:, i, j], biased=measure.biased) for j in range(shape[1])]
            for i in range(shape[0])
        ]
    )
    return values, ends[..., 0], ends[..., 1]


def costs(votes: Votes, draws: Draws, settings: CurveSettings) -> tuple[Floats, str]:
    """Return (n,) what each number of answers per task costs, and a text on the seconds if these are the cost.

    Tasks with fewer answers than asked for have all of theirs.
    """
    support = draws.votes_of_repeats[0].support
    spent = np.array([np.minimum(support, m).sum() for m in draws.numbers.tolist()], np.float64)
    if settings.cost == "votes":
        return spent, ""
    per_task = spent / max((support > 0).sum(), 1)
    if settings.cost == "answers":
        return per_task, ""
    seconds = seconds_per_answer(votes, None if votes.answer is not None else "one-label")
    how = (
        "the median recorded"
        if seconds.source == "recorded"
        else "assumed, as in CIFAR-10H, since no times are recorded"
    )
    return seconds.value * per_task, f" An answer takes {seconds.value:.1f} s, {how}."
