"""Accuracy of a worker on tasks with known labels."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group
from plurivox.identify._shared.score_intervals import wilson_interval_95
from plurivox.identify._shared.workers_gold_times_from_evidence import gold_label_codes, require_some_worker_names


@dataclass(frozen=True)
class GoldAccuracy(Identifier):
    """Accuracy of a worker on tasks with known labels, with Wilson's interval.

    `raw` is the share of the worker's votes on tasks with a known label that are right, badness = 1 - raw, `n` the number of
    such votes; nan for a worker without any. A soft answer counts as right by the weight it puts on the known label.

    Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aabb"), worker=["ann", "bo", "ann", "bo"], label=list("xxxy"))
    >>> scores = GoldAccuracy().score(Evidence(votes=votes, gold=SoftLabels.gold(["a", "b"], ["x", "y"])))
    >>> scores.raw, scores.low.round(3)
    (array([0.5, 1. ]), array([0.095, 0.342]))
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("votes", "gold")

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        assert evidence.votes is not None and evidence.gold is not None
        votes = require_some_worker_names(evidence.votes, self.name())
        true = gold_label_codes(evidence.gold, votes.tasks, votes.labels, self.name())[votes.task]  # (n_rows,)
        known = (votes.worker >= 0) & (true != -1)
        worker, weight = votes.worker[known], votes.weights[known]
        n = sum_by_group(worker, votes.n_workers, weight)
        right = sum_by_group(worker, votes.n_workers, weight * (votes.label[known] == true[known]))
        raw = divide_or_nan(right, n)
        low, high = wilson_interval_95(right, n)
        return Scores("worker", votes.workers, raw, 1 - raw, self.spec, low=low, high=high, n=n)
