"""How often a worker is right where the label is known."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import quotient, sum_by
from plurivox.identify._shared.intervals import wilson
from plurivox.identify._shared.requirements import known_workers, true_codes


@dataclass(frozen=True)
class GoldAccuracy(Identifier):
    """How often a worker is right where the label is known, with Wilson's interval.

    `raw` is the share of the worker's votes on tasks with a known label that are right, value = 1 - raw, `n` how many
    such votes there are; nan for who has none. A soft answer is right by the weight it puts on the known label.

    Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aabb"), worker=["ann", "bo", "ann", "bo"], label=list("xxxy"))
    >>> scores = GoldAccuracy().score(Evidence(votes=votes, gold=SoftLabels.gold(["a", "b"], ["x", "y"])))
    >>> scores.raw, scores.high.round(3)
    (array([0.5, 1. ]), array([0.905, 0.658]))
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("votes", "gold")

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        assert seen.votes is not None and seen.gold is not None
        votes = known_workers(seen.votes, self.name())
        true = true_codes(seen.gold, votes.tasks, votes.labels, self.name())[votes.task]  # (n_rows,)
        told = (votes.worker >= 0) & (true != -1)
        worker, weight = votes.worker[told], votes.weights[told]
        n = sum_by(worker, votes.n_workers, weight)
        right = sum_by(worker, votes.n_workers, weight * (votes.label[told] == true[told]))
        raw = quotient(right, n)
        low, high = wilson(n - right, n)
        return Scores("worker", votes.workers, 1 - raw, self.spec, raw=raw, low=low, high=high, n=n)
