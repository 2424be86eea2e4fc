"""Disagreement between several aggregators on each task."""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import Dense
from plurivox.engine.kernels import entropy_moments_distances
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.task_dispersion import dense_row_thread_blocks, nan_for_tasks_without_answers


@dataclass(frozen=True)
class AggregatorDisagreement(Identifier):
    """Mean distance between the soft labels that several aggregators give a task.

    raw(task) = mean over pairs of methods of TV(p, q) = 1/2 sum_k |p_k - q_k|, or of the Jensen-Shannon divergence in bits,
    H((p + q) / 2) - (H(p) + H(q)) / 2; both are 0 to 1. If methods with different assumptions about the workers agree, the
    label does not depend on these assumptions. badness = raw; a task without votes gets nan. Called method-distance before
    version 0.2.

    Total variation: Levin, Peres & Wilmer (2009), section 4.1, https://doi.org/10.1090/mbk/058; Jensen-Shannon: Lin
    (1991), https://doi.org/10.1109/18.61115

    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aab"), worker=[1, 2, 1], label=list("xyx"))
    >>> fits = pv.fit(votes, "vote-shares"), pv.fit(votes, "majority-vote")
    >>> AggregatorDisagreement().score(Evidence(fits=fits)).raw
    array([0.5, 0. ])
    """

    distance: Literal["total-variation", "jensen-shannon"] = option(
        "total-variation", "distance between the soft labels of two aggregators"
    )

    former_names: ClassVar[tuple[str, ...]] = ("method-distance",)
    of: ClassVar[ScoreTarget] = "task"
    estimates: ClassVar[Estimand] = "truth"
    needs: ClassVar[tuple[str, ...]] = ("fits",)
    fitted_by: ClassVar[tuple[str, ...]] = ("vote-shares", "dawid-skene", "glad")

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        if len(evidence.fits) < 2:
            raise InputError(
                f"{self.name()} compares fits of several aggregators; it needs two or more, and there is one"
            )
        first = evidence.fits[0].soft
        softs = [first, *(_align_soft_labels(first, fit.soft) for fit in evidence.fits[1:])]
        pairs = list(combinations(softs, 2))
        raw: Floats = np.zeros(len(first))
        for step, (a, b) in enumerate(pairs):
            raw += self._soft_label_distance_per_task(a, b) / len(pairs)
            progress(step, len(pairs))
        raw = nan_for_tasks_without_answers(first.support, raw)
        return Scores("task", first.tasks, raw, raw, self.spec, n=first.support)

    def _soft_label_distance_per_task(self, a: SoftLabels, b: SoftLabels) -> Floats:
        """Return (n_tasks,) the distance between the soft labels a and b of each task; their tasks and labels are equal."""
        bits = self.distance == "jensen-shannon"
        measure = (
            entropy_moments_distances.add_jensen_shannon if bits else entropy_moments_distances.add_total_variation
        )
        out = np.zeros(len(a))
        if isinstance(a.body, Dense) and isinstance(b.body, Dense):
            p, q = a.body.prob, b.body.prob
            dense_row_thread_blocks(a.body).map_over_task_blocks(lambda first, last: measure(first, last, p, q, out))
        else:  # stored as candidates: a few dense rows at a time
            for (rows, p), (_, q) in zip(a.rows(), b.rows(), strict=True):
                measure(0, len(p), p, q, out[rows])
        return out / np.log(2) if bits else out


def _align_soft_labels(reference: SoftLabels, soft_to_reorder: SoftLabels) -> SoftLabels:
    """Return `soft_to_reorder` with its tasks and labels in the order of `reference`; unchanged if it is equal already."""
    if np.array_equal(reference.tasks, soft_to_reorder.tasks) and np.array_equal(
        reference.labels, soft_to_reorder.labels
    ):
        return soft_to_reorder
    return soft_to_reorder.on(reference.tasks).on_labels(reference.labels)
