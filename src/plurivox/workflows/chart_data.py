"""What a chart draws, collected from what a caller holds: data sets, fits, scores, trained nets, or files of these."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plurivox import aggregate
from plurivox.aggregate import Aggregator
from plurivox.charts import Chart, ChartData, MethodMeasures
from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.results import Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_votes
from plurivox.io.soft_label_inputs import as_soft_labels
from plurivox.io.task_contents_reader import read_task_contents
from plurivox.workflows.compare_against_people import PeopleComparison
from plurivox.workflows.compare_aggregators import compare
from plurivox.workflows.compared_methods import ComparedMethods
from plurivox.workflows.measure_curve import measure_curves
from plurivox.workflows.score_tasks_workers import EvidenceCache, score
from plurivox.workflows.things_to_draw import Given


def collect_chart_data(
    thing: Any,
    chart: Chart,
    *,
    gold: Any = None,
    against: Any = None,
    methods: Sequence[Any] | None = None,
    scores: Sequence[Any] | None = None,
    images: Any = None,
    texts: Any = None,
    part: str | None = None,
    progress: Progress = no_progress,
) -> ChartData:
    """Return what the chart draws: what is given, and what it needs beyond that, computed from the votes."""
    given = Given()
    given.add(thing)
    if len(given.datasets) > 1 and not chart.takes_several_datasets:
        names = first_few(one.name for one in given.datasets)
        raise InputError(
            f"the chart {chart.name()} draws one data set; got {len(given.datasets)}: {names}; draw each alone"
        )
    for other in [*(given.datasets[1:] if "soft" in chart.needs else []), *([] if against is None else [against])]:
        given.soft |= labels_to_compare_with(other)
    usable, data = chart.usable_data(), given.datasets[0] if given.datasets else None
    aggregators: Sequence[Aggregator] = [
        aggregate.methods.make(one) for one in (chart.fitted_by if methods is None else methods)
    ]
    votes = _votes(data, chart, aggregators, part)
    if methods is None and votes is not None:
        aggregators = _without_those_that_need_names(aggregators, votes)
    found = ChartData(
        name="" if data is None else data.name,
        votes=votes,
        answers=data.answers if data is not None and "answers" in usable else None,
        gold=_gold(gold, data) if "gold" in usable else None,
        soft=dict(given.soft),
        fits=dict(given.fits),
        confusions=dict(given.confusions),
        scores=tuple(given.scores),
        dynamics=given.dynamics,
        histories=dict(given.histories),
        curves=tuple(given.curves),
        measures=None if given.comparison is None else measures_of_comparison(given.comparison),
        contents=read_task_contents(data, images, texts) or None if "contents" in usable else None,
    )
    if "measures" in usable and found.measures is None and given.datasets:
        specs = [one.spec for one in aggregators]
        made = compare(given.datasets, specs or None, gold=gold, part=part, progress=progress)
        found = replace(found, measures=measures_of_comparison(made))
    wanted = aggregators if methods is not None or not (found.fits or found.soft) else []
    found = _with_fits(found, chart, wanted, methods is None, progress)
    if "soft" in usable and data is not None and not found.soft and (soft := data.soft_labels) is not None:
        found = replace(found, soft={f"soft labels of {data.name}": soft})
    if "scores" in usable and (scores is not None or not found.scores):
        found = replace(found, scores=(*found.scores, *_computed_scores(data, found, chart, scores, part, progress)))
    if "curves" in usable and not found.curves:
        each = [
            replace(found, name=one.name, votes=_votes(one, chart, aggregators, part), gold=_gold(gold, one))
            for one in given.datasets
        ]
        found = replace(found, curves=measure_curves(each, aggregators, chart, progress))
    return found


def labels_to_compare_with(against: Any) -> dict[str, SoftLabels]:
    """Return {name: soft labels} of a second table of labels: soft labels or a fit, a file of these, or shares of votes."""
    given = Given()
    given.add(against)
    found = given.soft | {name: fit.soft for name, fit in given.fits.items()}
    for data in given.datasets:
        if (soft := data.soft_labels) is not None:
            found[data.name] = soft
        else:
            found[f"votes of {data.name}"] = SoftLabels.from_vote_shares(as_votes(data))
    return found


def measures_of_comparison(made: ComparedMethods) -> MethodMeasures:
    """Return the measures of a comparison with intervals of the differences to its reference method, if it has any.

    Over several data sets they are simultaneous; on a single one those of the bootstrap over tasks, against people only.
    """
    favouring = [title for name, title in made.measure_titles.items() if name in made.measures_without_verdict]
    values = {title: made.table(name) for name, title in made.measure_titles.items()}
    values = {title: values[title] for title in sorted(values, key=favouring.__contains__)}  # these last
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    at = made.method_specs.index(made.reference)
    for name, title in made.measure_titles.items():
        middle = made.mean_over_datasets(name)[at]
        if len(made.dataset_names) > 1:
            intervals = made.mean_differences_to_reference(name)
            low[title] = np.array([middle + one.low for one in intervals])
            high[title] = np.array([middle + one.high for one in intervals])
        elif isinstance(made, PeopleComparison):
            column = list(made.measure_titles).index(name)
            low[title], high[title] = (middle + ends[:, column] for ends in (made.lows, made.highs))
    higher = frozenset(made.measure_titles[name] for name in made.higher_is_better if name in made.measure_titles)
    text = f"simultaneous 95% intervals of the mean difference to {made.reference}"
    if len(made.dataset_names) == 1:
        text = f"simultaneous 95% intervals over tasks of the difference to {made.reference}"
    methods, remarks = tuple(made.marked_specs), [made.mark_sentence]
    if favouring:
        remarks.append(f"with so few votes per task {' and '.join(favouring)} favour predictions surer than people are")
    remark = "; ".join(one for one in remarks if one)
    return MethodMeasures(tuple(made.dataset_names), methods, values, low, high, higher, text, methods[at], remark)


def _votes(data: Dataset | None, chart: Chart, aggregators: Sequence[Aggregator], part: str | None) -> Votes | None:
    """Return the votes of a data set that the chart, or an aggregator or a score for it, uses; None if there are none."""
    used = {"votes", "fits", "soft", "confusions", "scores", "curves"} & chart.usable_data()
    if data is None or not used or not (data.has("votes") or data.has("counts")):
        return None
    unable = next((one.name() for one in aggregators if "counts" not in one.accepted_inputs()), "")
    if part is None and data.has("votes") and (unable or chart.needs_named_workers):
        if data.crowd_part() == "counts":
            _warn_that_counts_are_left_out(data)
        part = "votes"
    return as_votes(data, part)


def _without_those_that_need_names(aggregators: Sequence[Aggregator], votes: Votes) -> Sequence[Aggregator]:
    """Return the usual methods of a chart that can use counts without names, if there are any in the votes.

    The others are left out with a warning; if no method is left, all are returned.
    """
    if not (votes.worker < 0).any():
        return aggregators
    usable = [one for one in aggregators if "counts" in one.accepted_inputs()]
    left_out = [one.spec for one in aggregators if one not in usable]
    if usable and left_out:
        text = f"{first_few(left_out)}: left out, since the votes contain counts without names of workers"
        warn_user(text)
    return usable or aggregators


def _warn_that_counts_are_left_out(data: Dataset) -> None:
    """Warn that the votes of named workers cover fewer tasks than the counts, and that only they are drawn."""
    named, counted = (data.crowd(part).n_tasks for part in ("votes", "counts"))
    text = f"{data.name}: only the votes that name their workers are drawn, on {named:,} of {counted:,} tasks"
    warn_user(text)


def _gold(gold: Any, data: Dataset | None) -> SoftLabels | None:
    """Return the true labels given, else those of the data set."""
    if gold is None:
        return None if data is None else data.gold
    return as_soft_labels(gold, data)


def _with_fits(
    data: ChartData, chart: Chart, aggregators: Sequence[Aggregator], are_usual: bool, progress: Progress
) -> ChartData:
    """Return the data with fits of the votes, their soft labels and confusion matrices, if the chart can draw these.

    Of several usual methods of a chart, those that cannot be fitted to these votes are left out with a warning.
    """
    fits = dict(data.fits)
    if data.votes is not None and {"fits", "soft", "confusions"} & chart.usable_data():
        for i, one in enumerate(aggregators):
            try:
                if one.spec not in fits:
                    fits[one.spec] = one.fit(data.votes, progress=progress)
            except InputError as cause:
                is_last = not fits and i == len(aggregators) - 1
                if not are_usual or is_last:
                    raise
                warn_user(f"{one.spec} is left out: {cause}")
    soft = dict(data.soft) | {name: fit.soft for name, fit in fits.items()}
    matrices = {name: fit.confusion for name, fit in fits.items() if fit.confusion is not None}
    if fits and not matrices and not data.confusions and "confusions" in chart.needs:
        raise InputError(
            f"{first_few(fits)} estimates no confusion matrices; use dawid-skene or ibcc: methods= (--methods LIST)"
        )
    return replace(data, fits=fits, soft=soft, confusions=dict(data.confusions) | matrices)


def _computed_scores(
    data: Dataset | None,
    found: ChartData,
    chart: Chart,
    scores: Sequence[Any] | None,
    part: str | None,
    progress: Progress,
) -> list[Scores]:
    """Return the scores named, or the chart's usual ones, of the votes; of its usual ones, those that cannot be computed
    are left out with a warning.
    """
    if scores is not None:
        whole = _require_dataset(data)
        if part is None and chart.needs_named_workers and whole.has("votes"):
            part = "votes"
        return [score(whole, one, part=part, progress=progress) for one in scores]
    if data is None or found.votes is None:
        return []
    cache = EvidenceCache(Dataset(data.name, votes=found.votes, **_gold_part(found)), _no_evidence())
    made = []
    for spec in chart.scored_by:
        try:
            from plurivox import identify

            made.append(cache.collect_evidence_and_score(identify.methods.make(spec), progress))
        except InputError as cause:
            warn_user(f"{spec} is left out: {cause}")
    return made


def _require_dataset(data: Dataset | None) -> Dataset:
    """Return the data set; raise InputError if there is none, so that no score can be computed."""
    if data is None:
        raise InputError("scores are computed from votes, and there are none; give votes or a data set")
    return data


def _gold_part(found: ChartData) -> dict[str, Any]:
    return {} if found.gold is None else {"gold": found.gold}


def _no_evidence() -> Any:
    from plurivox.identify import Evidence

    return Evidence()
