"""Agreement of a worker with the other workers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.types import Floats
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.agreement_with_other_workers import rest_agreement_of_votes
from plurivox.identify._shared.evidence_checks import require_known_workers
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group
from plurivox.identify._shared.score_intervals import RESAMPLES_HELP, bootstrap_interval


@dataclass(frozen=True)
class AgreementWithRest(Identifier):
    """Agreement of a worker with the other workers: how often others give the same label to the same task.

    raw = mean over the worker's votes of the share of the others' votes on the same task that are for the same label;
    value = 1 - raw, and nan for a worker who shares no task with others. `n` is the number of the worker's votes on tasks
    with other votes. Soft answers count by their weights: raw is then the probability that a label drawn from the worker's
    answer and one drawn from another worker's agree.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aaabb"), worker=["ann", "bo", "cy", "ann", "bo"], label=list("xxyzz"))
    >>> AgreementWithRest().score(Evidence(votes=votes)).raw
    array([0.75, 0.75, 0.  ])
    """

    resamples: int = option(0, RESAMPLES_HELP, low=0)
    seed: int = option(0, "same seed, same interval", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        assert evidence.votes is not None
        votes = require_known_workers(evidence.votes, self.name())
        share = rest_agreement_of_votes(votes)
        shared = (votes.worker >= 0) & ~np.isnan(share)
        task, worker, share, weight = votes.task[shared], votes.worker[shared], share[shared], votes.weights[shared]

        def score(row_weight: Floats) -> Floats:
            """(n_workers,) the value of each worker when each row has this weight (n_rows,)."""
            agreed = sum_by_group(worker, votes.n_workers, row_weight * share)
            return 1 - divide_or_nan(agreed, sum_by_group(worker, votes.n_workers, row_weight))

        value, n = score(weight), sum_by_group(worker, votes.n_workers, weight)
        low, high = bootstrap_interval(
            task, votes.n_tasks, self.resamples, self.seed, progress, lambda counts: score(counts * weight)
        )
        return Scores("worker", votes.workers, value, self.spec, raw=1 - value, low=low, high=high, n=n)
