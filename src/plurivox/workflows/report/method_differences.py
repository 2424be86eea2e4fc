"""How far the soft labels of several methods are from those of one of them, and from each other."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.workflows.report.different_labels import names_another_label

MAX_CELLS = 4_000_000  # tasks times labels of which the total variation is computed; of more tasks, evenly spread ones


@dataclass(frozen=True, eq=False)
class MethodDifferences:
    """Shares of tasks on which two methods name different labels first, and mean total variation to the chosen method."""

    methods: tuple[str, ...]
    other_top: Floats  # (n_methods, n_methods)
    total_variation: Floats  # (n_methods,) to the chosen method
    confidence: Floats  # (n_methods,) mean probability of the most probable label
    entropy: Floats  # (n_methods,) mean in nats
    n_tasks: int  # with votes


def method_differences(fits: Mapping[str, Fit], chosen: str) -> MethodDifferences:
    """Compare the soft labels of fits of the same votes, over tasks with votes."""
    support = fits[chosen].soft.support
    rows = np.arange(len(fits[chosen].soft)) if support is None else np.flatnonzero(support > 0)
    differ = np.array(
        [
            [
                float(names_another_label(one.soft, other.soft)[rows].mean()) if len(rows) else np.nan
                for other in fits.values()
            ]
            for one in fits.values()
        ]
    )
    means = [(fit.soft.confidence[rows].mean(), fit.soft.entropy()[rows].mean()) for fit in fits.values()]
    step = max(1, -(-len(rows) * fits[chosen].soft.n_labels // MAX_CELLS))
    some = rows[::step]
    reference = _dense(fits[chosen].soft, some)
    distances = [0.5 * np.abs(_dense(fit.soft, some) - reference).sum(1).mean() for fit in fits.values()]
    return MethodDifferences(
        tuple(fits),
        differ,
        np.array(distances),
        np.array([one for one, _ in means]),
        np.array([max(other, 0.0) for _, other in means]),
        len(rows),
    )


def _dense(soft: SoftLabels, rows: Ints) -> Floats:
    """(n_rows, n_labels) the probabilities of some tasks."""
    return soft.body.take(rows).dense_block(slice(None))
