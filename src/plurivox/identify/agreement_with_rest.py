"""Agreement of a worker with the other workers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.crowd_agreement_coefficients import REPEATED_HELP, votes_of_different_people
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group
from plurivox.identify._shared.score_intervals import RESAMPLES_HELP, bootstrap_interval_95_over_tasks
from plurivox.identify._shared.share_of_others_agreeing_per_vote import share_of_others_agreeing_with_vote
from plurivox.identify._shared.workers_gold_times_from_evidence import require_some_worker_names


@dataclass(frozen=True)
class AgreementWithRest(Identifier):
    """Agreement of a worker with the other workers: how often others give the same label to the same task.

    raw = mean over the worker's votes of the share of the others' votes on the same task that are for the same label;
    badness = 1 - raw, and nan for a worker who shares no task with others. `n` is the number of the worker's votes on tasks
    with other votes. Soft answers count by their weights: raw is then the probability that a label drawn from the worker's
    answer and one drawn from another worker's agree.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aaabb"), worker=["ann", "bo", "cy", "ann", "bo"], label=list("xxyzz"))
    >>> AgreementWithRest().score(Evidence(votes=votes)).raw
    array([0.75, 0.75, 0.  ])
    """

    repeated: Literal["first", "all"] = option("first", REPEATED_HELP)
    resamples: int = option(0, RESAMPLES_HELP, low=0)
    seed: int = option(0, "seed of the bootstrap; the same seed gives the same interval", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        assert evidence.votes is not None
        votes = votes_of_different_people(require_some_worker_names(evidence.votes, self.name()), self.repeated)
        share = share_of_others_agreeing_with_vote(votes)
        shared = (votes.worker >= 0) & ~np.isnan(share)
        task, worker, share, weight = votes.task[shared], votes.worker[shared], share[shared], votes.weights[shared]

        def agreement_per_worker(row_weight: Floats) -> Floats:
            """Return (n_workers,) the agreement of each worker with the others, with `row_weight` (n_rows,) as weights."""
            agreed = sum_by_group(worker, votes.n_workers, row_weight * share)
            return divide_or_nan(agreed, sum_by_group(worker, votes.n_workers, row_weight))

        raw, n = agreement_per_worker(weight), sum_by_group(worker, votes.n_workers, weight)
        low, high = bootstrap_interval_95_over_tasks(
            task,
            votes.n_tasks,
            self.resamples,
            self.seed,
            progress,
            lambda counts: agreement_per_worker(counts * weight),
        )
        return Scores("worker", votes.workers, raw, 1 - raw, self.spec, low=low, high=high, n=n)
