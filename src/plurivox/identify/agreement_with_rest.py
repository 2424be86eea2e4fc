"""How often the rest of the crowd says what a worker says."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.types import Floats
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import quotient, sum_by
from plurivox.identify._shared.intervals import RESAMPLES_HELP, worker_spread
from plurivox.identify._shared.requirements import known_workers
from plurivox.identify._shared.rest_agreement import share_of_rest_of


@dataclass(frozen=True)
class AgreementWithRest(Identifier):
    """How often the rest of the crowd says what a worker says, the worker's own votes left out.

    raw = mean over the worker's votes of the share of the others' votes on the same task that are for the same label;
    value = 1 - raw, and nan for who never met anybody. `n` is how many of the worker's votes stand beside others. Soft
    answers count by their weights: it is the chance that labels drawn from an answer and from another's agree.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aaabb"), worker=["ann", "bo", "cy", "ann", "bo"], label=list("xxyzz"))
    >>> AgreementWithRest().score(Evidence(votes=votes)).raw
    array([0.75, 0.75, 0.  ])
    """

    resamples: int = option(0, RESAMPLES_HELP, low=0)
    seed: int = option(0, "same seed, same interval", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        assert seen.votes is not None
        votes = known_workers(seen.votes, self.name())
        share = share_of_rest_of(votes)
        met = (votes.worker >= 0) & ~np.isnan(share)
        task, worker, share, weight = votes.task[met], votes.worker[met], share[met], votes.weights[met]

        def value(drawn: Floats) -> Floats:
            """(n_workers,) when each row came so often."""
            agreed = sum_by(worker, votes.n_workers, drawn * share)
            return 1 - quotient(agreed, sum_by(worker, votes.n_workers, drawn))

        whole, n = value(weight), sum_by(worker, votes.n_workers, weight)
        low, high = worker_spread(
            task, votes.n_tasks, self.resamples, self.seed, progress, lambda times: value(times * weight)
        )
        return Scores("worker", votes.workers, whole, self.spec, raw=1 - whole, low=low, high=high, n=n)
