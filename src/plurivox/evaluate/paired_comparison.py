"""Compare two predictions on the same tasks: difference, interval and p-value of each measure by paired bootstrap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError
from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate.align_tasks_and_labels import align_rows
from plurivox.evaluate.bootstrap_over_tasks import resample_measures
from plurivox.evaluate.intervals_and_tests import Interval, bootstrap_p_value
from plurivox.evaluate.measures.hard_label_measures import Ties
from plurivox.evaluate.measures.measure_registry import select_measures
from plurivox.evaluate.measures_that_fit_estimates import notes_on_compared_predictions


@dataclass(frozen=True, eq=False, repr=False)
class Difference(DataType):
    """Differences between two predictions, one row per measure; the gain is positive if the first prediction is better."""

    measure: Names  # (n_measures,)
    one: Floats  # (n_measures,) the value of the first prediction
    two: Floats  # (n_measures,) the value of the second
    gain: Floats  # (n_measures,) how much better the first is
    low: Floats  # (n_measures,) the 95% interval of the gain
    high: Floats  # (n_measures,)
    p_value: Floats  # (n_measures,) one-sided from `compare_predictions`, two-sided from `compare_runs`
    n: Ints  # (n_measures,) tasks
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per measure, as columns: measure, one, two, gain, low, high, p_value, n."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "notes"}

    def intervals(self) -> list[Interval]:
        """Return the gain in each measure with its 95% interval."""
        return [Interval(*map(float, ends)) for ends in zip(self.gain, self.low, self.high, strict=True)]

    def summary_values(self) -> dict[str, object]:
        return {"measures": len(self.measure), "tasks": int(self.n.max(initial=0))}


@takes_what_users_hold
def compare_predictions(
    one: SoftLabels,
    two: SoftLabels,
    truth: SoftLabels,
    *,
    measures: Sequence[str] = ("accuracy", "macro-f1"),
    repeats: int = 10_000,
    fraction: float = 1.0,
    seed: int = 0,
    ties: Ties = "first",
) -> Difference:
    """Return by how much prediction `one` is better than `two` in each measure, with interval and p-value by paired bootstrap.

    Only tasks that both predictions and the truth have are used. Each gain has a 95% percentile interval and a p-value: the
    share of resamples whose gain is above twice the gain. The resamples of the p-value draw `fraction` of the tasks;
    Fornaciari et al. (2021) drew .33, https://doi.org/10.18653/v1/2021.naacl-main.204.
    A note says if a measure does not fit what a prediction estimates, the truth or people.
    Berg-Kirkpatrick, Burkett and Klein (2012), https://aclanthology.org/D12-1091

    >>> truth = SoftLabels.gold("abcdefgh", "xxxxyyyy")
    >>> one, two = SoftLabels.gold("abcdefgh", "xxxxyyyx"), SoftLabels.gold("abcdefgh", "xyxyyyxx")
    >>> found = compare_predictions(one, two, truth, measures=["accuracy"])
    >>> found.gain.tolist(), found.p_value.round(1).tolist()
    ([0.375], [0.0])
    """
    if not 0 < fraction <= 1 or repeats < 1:
        raise OptionError(f"fraction must be above 0, at most 1, repeats 1 or more; got {fraction} and {repeats}")
    tasks = two.shared(truth.shared(one.tasks).tasks).tasks
    if not len(tasks):
        raise InputError("the two predictions and the truth have no task in common")
    wanted, known = select_measures(measures), truth.on(tasks)
    pairs = [align_rows(side.on(tasks), known) for side in (one, two)]
    all_sums = [measure.measure_as_task_sums(*pair, ties) for pair in pairs for measure in wanted]
    sign = np.array([1.0 if measure.better == "higher" else -1.0 for measure in wanted])
    first, second = np.array([task_sums.measure_over_all_tasks for task_sums in all_sums]).reshape(2, -1)
    gain = sign * (first - second)
    drawn = _gains_of_resamples(resample_measures(all_sums, repeats=repeats, seed=seed), sign)
    fewer = (
        drawn
        if fraction == 1
        else _gains_of_resamples(resample_measures(all_sums, repeats=repeats, seed=seed, fraction=fraction), sign)
    )
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    p_value = np.array([bootstrap_p_value(float(g), column) for g, column in zip(gain, fewer.T, strict=True)])
    names, n = as_names([measure.name for measure in wanted]), np.full(len(wanted), len(tasks))
    notes = notes_on_compared_predictions(one, two, truth, wanted)
    return Difference(names, first, second, gain, low, high, p_value, n, notes)


def _gains_of_resamples(resampled_values: Floats, sign: Floats) -> Floats:
    """Return (repeats, n_measures) sign * (first - second) from values (repeats, 2 * n_measures) of two predictions."""
    first, second = np.split(resampled_values, 2, axis=1)
    return sign * (first - second)
