"""How far apart several aggregators are on a task."""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Dense
from plurivox.core.types import Floats
from plurivox.engine.kernels import dispersion
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.dispersion import by_rows, where_told


@dataclass(frozen=True)
class AggregatorDisagreement(Identifier):
    """How far apart several aggregators are on a task: the mean distance between their soft labels.

    raw(task) = mean over pairs of methods of TV(p, q) = 1/2 sum_k |p_k - q_k|, or of the Jensen-Shannon divergence in bits,
    H((p + q) / 2) - (H(p) + H(q)) / 2; both are 0 to 1. Where methods that trust different things agree, the label
    is safe whatever one believes of the crowd. `value` is the same number; a task without votes gets nan.

    Total variation: Levin, Peres & Wilmer (2009), section 4.1, https://doi.org/10.1090/mbk/058; Jensen-Shannon: Lin
    (1991), https://doi.org/10.1109/18.61115

    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aab"), worker=[1, 2, 1], label=list("xyx"))
    >>> fits = pv.fit(votes, "vote-shares"), pv.fit(votes, "majority-vote")
    >>> AggregatorDisagreement().score(Evidence(fits=fits)).value
    array([0.5, 0. ])
    """

    distance: Literal["total-variation", "jensen-shannon"] = option("total-variation", "between two soft labels")

    former_names: ClassVar[tuple[str, ...]] = ("method-distance",)
    of: ClassVar[ScoreTarget] = "task"
    needs: ClassVar[tuple[str, ...]] = ("fits",)
    fitted_by: ClassVar[tuple[str, ...]] = ("vote-shares", "dawid-skene", "glad")

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        if len(seen.fits) < 2:
            raise InputError(f"{self.name()} holds fits against each other; it needs two or more, and there is one")
        first = seen.fits[0].soft
        softs = [first, *(_like(first, fit.soft) for fit in seen.fits[1:])]
        pairs = list(combinations(softs, 2))
        raw: Floats = np.zeros(len(first))
        for step, (one, other) in enumerate(pairs):
            raw += self._between(one, other) / len(pairs)
            progress(step, len(pairs))
        raw = where_told(first.support, raw)
        return Scores("task", first.tasks, raw, self.spec, raw=raw, n=first.support)

    def _between(self, one: SoftLabels, other: SoftLabels) -> Floats:
        """(n_tasks,) the distance between two soft labels of the same tasks."""
        bits = self.distance == "jensen-shannon"
        measure = dispersion.jensen_shannon if bits else dispersion.total_variation
        out = np.zeros(len(one))
        if isinstance(one.body, Dense) and isinstance(other.body, Dense):
            p, q = one.body.prob, other.body.prob
            by_rows(one.body).map(lambda first, last: measure(first, last, p, q, out))
        else:  # some of many labels are listed: a few rows at a time
            for (rows, p), (_, q) in zip(one.rows(), other.rows(), strict=True):
                measure(0, len(p), p, q, out[rows])
        return out / np.log(2) if bits else out


def _like(first: SoftLabels, soft: SoftLabels) -> SoftLabels:
    """The same tasks and labels in the same order; fits of the same votes have them already."""
    if np.array_equal(first.tasks, soft.tasks) and np.array_equal(first.labels, soft.labels):
        return soft
    return soft.on(first.tasks).on_labels(first.labels)
