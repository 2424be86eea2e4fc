"""Compare two models trained several times: bootstrap over test tasks and over runs at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from plurivox.core.arguments_as_users_hold_them import to_labels
from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError, OptionError
from plurivox.core.name_encoding import as_names, encode
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate.align_tasks_and_labels import align_rows
from plurivox.evaluate.bootstrap_over_tasks import MAX_CELLS, TaskSums
from plurivox.evaluate.intervals_and_tests import two_sided_p_values
from plurivox.evaluate.measures.measure_registry import select_measures
from plurivox.evaluate.measures_that_fit_estimates import notes_on_compared_predictions
from plurivox.evaluate.paired_comparison import Difference


def compare_runs(
    one: Sequence[SoftLabels],
    two: Sequence[SoftLabels],
    truth: SoftLabels,
    *,
    measures: Sequence[str] = ("accuracy", "macro-f1"),
    groups: Any = None,
    repeats: int = 2_000,
    seed: int = 0,
) -> Difference:
    """Return by how much the runs of model `one` are better than those of `two`, by a bootstrap over tasks and over runs.

    Run r of `one` and run r of `two` are a pair (such as the same seed). Each resample draws tasks and, independently of them,
    pairs of runs with replacement, and takes the mean gain of the drawn runs on the drawn tasks: the interval holds for other
    tasks *and* other runs. A bootstrap over tasks alone gives narrower intervals, since it takes the runs as given. `groups`,
    one per task of `truth`, are drawn whole: the tweet of each token, for example. p is two-sided: twice the share of
    resamples on the other side of 0, with 1 added to both counts. Owen (2007), The pigeonhole bootstrap,
    https://doi.org/10.1214/07-AOAS122

    >>> truth = SoftLabels.gold("abcdefgh", "xxxxyyyy")
    >>> one = [SoftLabels.gold("abcdefgh", labels) for labels in ("xxxxyyyx", "xxxyyyyy", "xxxxyyyy")]
    >>> two = [SoftLabels.gold("abcdefgh", labels) for labels in ("xxxxyyxx", "xyyxyyyy", "xxxxyyyy")]
    >>> found = compare_runs(one, two, truth, measures=["accuracy"])
    >>> found.gain.round(3).tolist(), found.low.round(3).tolist()
    ([0.083], [-0.083])
    """
    one, two, truth = [to_labels(run) for run in one], [to_labels(run) for run in two], to_labels(truth)
    if not one or len(one) != len(two):
        raise InputError(f"runs are compared in pairs; got {len(one)} and {len(two)} runs")
    if repeats < 1:
        raise OptionError(f"repeats must be 1 or more; got {repeats}")
    group = np.arange(len(truth)) if groups is None else _group_codes(groups, len(truth))
    wanted = select_measures(measures)
    sums = [[_measures_as_task_sums(run, truth, wanted) for run in side] for side in (one, two)]
    sign = np.array([1.0 if measure.better == "higher" else -1.0 for measure in wanted])
    means = np.array([[[all_sums.measure_over_all_tasks for all_sums in run] for run in side] for side in sums]).mean(1)
    gain = sign * (means[0] - means[1])
    drawn = sign * _mean_gains_of_resamples(sums[0], sums[1], group, repeats, seed)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    names, n = as_names([measure.name for measure in wanted]), np.full(len(wanted), len(truth))
    notes = notes_on_compared_predictions(one[0], two[0], truth, wanted)
    return Difference(names, means[0], means[1], gain, low, high, two_sided_p_values(drawn), n, notes)


def _group_codes(groups: Any, n_tasks: int) -> Ints:
    """Return (n_tasks,) integers from 0 that are equal for tasks of the same group; InputError if not one group per task."""
    codes, _ = encode(groups, "groups")
    if len(codes) != n_tasks:
        raise InputError(f"there are {len(codes)} groups for {n_tasks} tasks of the truth; give one group per task")
    return codes


def _measures_as_task_sums(prediction: SoftLabels, truth: SoftLabels, measures: Sequence[Any]) -> list[TaskSums]:
    """Return each measure of one run as a function of sums over the tasks of the truth."""
    missing = len(truth) - len(prediction.shared(truth.tasks))
    if missing:
        raise InputError(f"a run has no prediction for {missing} of {len(truth)} tasks of the truth")
    rows = align_rows(prediction.on(truth.tasks), truth)
    return [measure.measure_as_task_sums(*rows, "first") for measure in measures]


def _mean_gains_of_resamples(
    one: Sequence[Sequence[TaskSums]], two: Sequence[Sequence[TaskSums]], group: Ints, repeats: int, seed: int
) -> Floats:
    """Return (repeats, n_measures) the mean over drawn runs of measure(one) - measure(two) on drawn groups of tasks."""
    rng, n_runs, n_groups = np.random.default_rng(seed), len(one), int(group.max()) + 1
    sizes = np.bincount(group, minlength=n_groups).astype(np.float64)
    numbers = [
        [[all_sums.sum_task_numbers_by_group(group, n_groups) for all_sums in run] for run in side]
        for side in (one, two)
    ]
    found = np.empty((repeats, len(one[0])))
    block = max(MAX_CELLS // n_groups, 1)
    for begin in range(0, repeats, block):
        size = min(block, repeats - begin)
        groups_drawn = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size).astype(np.float64)
        runs_drawn = rng.multinomial(n_runs, np.full(n_runs, 1 / n_runs), size) / n_runs
        n = groups_drawn @ sizes
        for i in range(len(one[0])):
            of_runs = np.array(
                [
                    one[r][i].finish(groups_drawn @ numbers[0][r][i], n)
                    - two[r][i].finish(groups_drawn @ numbers[1][r][i], n)
                    for r in range(n_runs)
                ]
            )
            found[begin : begin + size, i] = (runs_drawn * of_runs.T).sum(1)
    return found
