"""Krippendorff's alpha."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.identify._contract import Evidence  # noqa: F401, for the example
from plurivox.identify._shared.crowd_agreement import Agreement, Kinds, kinds, squares


@dataclass(frozen=True)
class KrippendorffAlpha(Agreement):
    """Krippendorff's alpha: one minus the disagreement seen over the disagreement that chance would give.

    alpha = 1 - D_seen / D_chance: the mean difference of two votes on one task, over that of two votes anywhere; tasks
    with one vote are left out, and a task counts by its votes. Two labels differ by 1 (nominal), by the square of how
    far they lie apart on the scale (interval), or by the square of how many votes lie between them (ordinal; the
    ranks are those of the whole crowd in every resample). Not defined (nan, and a warning) where all votes are for one
    label. `raw` is alpha, value = 1 - alpha.

    Krippendorff (2011), Computing Krippendorff's alpha-reliability; Hayes & Krippendorff (2007),
    https://doi.org/10.1080/19312450709336664

    >>> votes = Votes.of(task=list("aabbcc"), worker=[1, 2] * 3, label=[1, 1, 2, 3, 3, 3], ordered=True)
    >>> for level in ("nominal", "ordinal", "interval"):
    ...     print(KrippendorffAlpha(level=level, resamples=0).score(Evidence(votes=votes)).raw.round(3))
    [0.545]
    [0.778]
    [0.828]
    """

    level: Literal["nominal", "ordinal", "interval"] = option("nominal", "how far apart two labels are")

    def _kinds(self, votes: Votes) -> Kinds:
        return kinds(votes, self._scale(votes))

    def _scale(self, votes: Votes) -> Floats | None:
        """(n_labels,) where each label stands, the middle of the crowd at 0; None: labels have no order."""
        if self.level == "nominal":
            return None
        if votes.scale is None:
            raise InputError(
                f"{self.name()}: labels have no order, so the level cannot be {self.level}; say that they have one "
                "(ordered), or take nominal"
            )
        several = votes.support[votes.task] > 1.5
        n = np.bincount(votes.label[several], votes.weights[several], minlength=votes.n_labels)
        at = votes.scale
        if self.level == "ordinal":
            order = np.argsort(votes.scale, kind="stable")
            at = np.empty(votes.n_labels)
            at[order] = np.cumsum(n[order]) - n[order] / 2  # as many votes lie below
        return (at - at @ n / max(n.sum(), 1)) / max(float(np.ptp(at)), 1e-300)

    def _numbers(self, tasks: Kinds) -> Any:
        """Columns: differences over n - 1, votes, differences within soft answers; then what chance needs."""
        n, several = tasks.n, tasks.several
        if tasks.scale is None:
            rest = tasks.counts
            apart = n**2 - squares(tasks.counts) - tasks.within
        else:
            sums = np.column_stack([tasks.counts @ tasks.scale, tasks.counts @ tasks.scale**2])
            rest = sparse.csr_array(sums)
            apart = 2 * (n * sums[:, 1] - sums[:, 0] ** 2) - tasks.within
        front = np.column_stack([apart / np.where(several, n - 1, 1), n, tasks.within])
        return sparse.hstack([sparse.csr_array(front), rest]).multiply(several[:, None])

    def _coefficient(self, sums: Floats) -> Floats:
        seen, n, within, rest = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3:]
        if self.level == "nominal":
            by_chance = n**2 - (rest**2).sum(1) - within
        else:
            by_chance = 2 * (n * rest[:, 1] - rest[:, 0] ** 2) - within
        known = by_chance > 1e-12 * n**2
        return 1 - np.divide((n - 1) * seen, by_chance, out=np.full(len(n), np.nan), where=known)
