"""How far apart several aggregators are on a task."""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.names import Floats
from plurivox.core.results import Of, Scores
from plurivox.core.watch import Watch
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shares import where_told

AT_ONCE = 4096  # tasks


@dataclass(frozen=True)
class MethodDistance(Identifier):
    """How far apart several aggregators are on a task: the mean distance between their soft labels.

    raw(task) = mean over pairs of methods of TV(p, q) = 1/2 sum_k |p_k - q_k|, or of the Jensen-Shannon divergence in bits,
    H((p + q) / 2) - (H(p) + H(q)) / 2; both are 0 to 1. Where methods that trust different things agree, the label
    is safe whatever one believes of the crowd. `value` is the same number; a task without votes gets nan.

    Total variation: Levin, Peres & Wilmer (2009), section 4.1, https://doi.org/10.1090/mbk/058; Jensen-Shannon: Lin
    (1991), https://doi.org/10.1109/18.61115

    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aab"), worker=[1, 2, 1], label=list("xyx"))
    >>> fits = pv.fit(votes, "vote-shares"), pv.fit(votes, "majority-vote")
    >>> MethodDistance().score(Evidence(fits=fits)).value
    array([0.5, 0. ])
    """

    distance: Literal["total-variation", "jensen-shannon"] = option("total-variation", "between two soft labels")

    of: ClassVar[Of] = "task"
    needs: ClassVar[tuple[str, ...]] = ("fits",)
    fitted_by: ClassVar[tuple[str, ...]] = ("vote-shares", "dawid-skene", "glad")

    def _score(self, seen: Evidence, watch: Watch) -> Scores:
        if len(seen.fits) < 2:
            raise InputError(f"{self.name()} holds fits against each other; it needs two or more, and there is one")
        first = seen.fits[0].soft
        others = [fit.soft.on(first.tasks).on_labels(first.labels) for fit in seen.fits[1:]]
        between = _total_variation if self.distance == "total-variation" else _jensen_shannon
        raw: Floats = np.zeros(len(first))
        for begin in range(0, len(first), AT_ONCE):
            rows = slice(begin, begin + AT_ONCE)
            blocks = [one.body.block(rows) for one in (first, *others)]
            raw[rows] = np.mean([between(p, q) for p, q in combinations(blocks, 2)], axis=0)
            watch(begin, len(first))
        raw = where_told(first, raw)
        return Scores("task", first.tasks, raw, self.word, raw=raw, n=first.support)


def _total_variation(p: Floats, q: Floats) -> Floats:
    return np.asarray(np.abs(p - q).sum(1) / 2)


def _jensen_shannon(p: Floats, q: Floats) -> Floats:
    """In bits; rounding never makes it negative."""
    return np.maximum(_entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2, 0)


def _entropy(p: Floats) -> Floats:
    return np.asarray(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(1))
