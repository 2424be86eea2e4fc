"""Decline of a worker's agreement with the others over time."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.engine.kernels.group_by import row_order_and_offsets_by_group
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.crowd_agreement_coefficients import REPEATED_HELP, votes_of_different_people
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group
from plurivox.identify._shared.share_of_others_agreeing_per_vote import agreement_minus_task_mean_of_dated_answers
from plurivox.identify._shared.workers_gold_times_from_evidence import require_some_worker_names

MIN_ANSWERS = 3  # fewer answers have no trend to test


@dataclass(frozen=True)
class Drift(Identifier):
    """Decline of a worker's agreement with the others over time, for example from fatigue.

    For each answer, take the share of the others' votes on its task that give the same label, minus the mean of that share
    over all answers to the task, so that hard tasks at the end do not look like fatigue. `raw` is the change along a line
    fitted to these numbers in the order of `when`, from the worker's first answer to the last. badness = z, the decline in
    units of its standard deviation under a random order, exact over all orders of the worker's own answers: one above 2 is
    a marked decline, one below -2 a marked improvement. It is not a monotone function of raw, because the same change is
    weaker evidence if it comes from fewer or more variable answers. nan with fewer than three answers on
    tasks shared with others.

    Mantel (1963), https://doi.org/10.1080/01621459.1963.10500879

    >>> from plurivox.core.votes import Votes
    >>> ann = [1, 1, 1, 1, 1, 0, 0, 0]  # the others always say 1
    >>> votes = Votes.of(list("abcdefgh") * 3, ["ann"] * 8 + ["bo"] * 8 + ["cy"] * 8, [*ann, *[1] * 16], when=[*range(8)] * 3)
    >>> Drift().score(Evidence(votes=votes)).badness[0].round(2)
    np.float64(2.24)
    """

    repeated: Literal["first", "all"] = option("first", REPEATED_HELP)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    is_badness_monotone_in_raw: ClassVar[bool] = False

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        assert evidence.votes is not None
        votes = require_some_worker_names(evidence.votes, self.name())
        if votes.when is None or not np.isfinite(votes.when).any():
            raise InputError("drift needs the order of the answers: give votes with a column when")
        votes = votes_of_different_people(votes, self.repeated)
        worker, when, agreed = agreement_minus_task_mean_of_dated_answers(votes)
        order, start = row_order_and_offsets_by_group(
            worker[(early := np.argsort(when, kind="stable"))], votes.n_workers
        )
        order = early[order]  # by worker, then by time
        n = np.diff(start).astype(np.float64)
        middle, mean = start[:-1] + (n - 1) / 2, divide_or_nan(sum_by_group(worker, votes.n_workers, agreed), n)
        place = np.arange(len(order)) - np.repeat(middle, np.diff(start))  # centred at 0 for each worker
        agreed = agreed[order] - np.repeat(mean, np.diff(start))
        mine = worker[order]
        covariance = sum_by_group(mine, votes.n_workers, place * agreed)
        place_squares, agreed_squares = n * (n * n - 1) / 12, sum_by_group(mine, votes.n_workers, agreed * agreed)
        enough = n >= MIN_ANSWERS
        change = np.where(enough, divide_or_nan(covariance * (n - 1), place_squares), np.nan)
        deviation = np.sqrt(np.where(enough, place_squares * agreed_squares, 0) / np.maximum(n - 1, 1))
        varies = deviation > 1e-12 * np.maximum(place_squares, 1)
        z = np.divide(-covariance, deviation, out=np.zeros(len(n)), where=varies)
        return Scores("worker", votes.workers, change, np.where(enough, z, np.nan), self.spec, n=n)
