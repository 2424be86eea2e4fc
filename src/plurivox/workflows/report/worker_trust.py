"""How far each worker can be trusted: agreement with the others beyond chance, with an interval, and a verdict."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import TEXT, Bools, Floats, Names
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.identify._shared.crowd_agreement_coefficients import votes_of_different_people
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group
from plurivox.identify._shared.score_intervals import wilson_interval_95
from plurivox.identify._shared.share_of_others_agreeing_per_vote import share_of_others_agreeing_with_vote

Verdict = Literal["against the others", "near random", "below the others", "few votes", "as the others"]
FEW_VOTES = 10  # fewer votes beside those of others say little about a worker
DROPPED: tuple[Verdict, ...] = ("against the others", "near random")  # reasons to leave somebody out
NEAR_RANDOM = 0.2  # agreement beyond chance below which a worker may be guessing
MAX_INTERVAL_WORKERS = 20_000  # with more workers their estimated accuracies are shown without intervals


@dataclass(frozen=True, eq=False)
class WorkerTrust:
    """Columns of one number per worker; `order` sorts them, those to doubt first.

    beyond_chance = (agreement - chance) / (1 - chance), as in kappa: agreement is the mean share of the others' votes on the
    same task that are for the worker's label, chance its expectation for someone who gives labels as often as the
    worker, but on any task. The interval is Wilson's of the agreement. Workers are ordered by the upper end of the interval:
    first those who hardly agree with the others even if chance was against them.
    """

    workers: Names
    votes: Floats
    agreement: Floats  # NaN: the worker shares no task with others
    chance: Floats
    beyond_chance: Floats
    low: Floats  # 95% interval of beyond_chance
    high: Floats
    accuracy: Floats | None  # the estimated probability that a vote is right
    accuracy_low: Floats | None
    accuracy_high: Floats | None
    verdict: NDArray[np.object_]
    order: NDArray[np.intp]

    def has_verdict(self, *verdicts: Verdict) -> Bools:
        """(n_workers,) whether a worker has one of these verdicts."""
        return np.isin(self.verdict.astype(TEXT), list(verdicts))

    def count(self, *verdicts: Verdict) -> int:
        """Return the number of workers with one of these verdicts."""
        return int(self.has_verdict(*verdicts).sum())

    def names(self, n: int, *verdicts: Verdict) -> list[str]:
        """Return the first n workers in the order, only those with one of these verdicts if any are given."""
        wanted = set(verdicts)
        return [str(self.workers[i]) for i in self.order if not wanted or self.verdict[i] in wanted][:n]

    @property
    def median_beyond_chance(self) -> float:
        """The median over workers of the agreement beyond chance; NaN if none is known."""
        known = self.beyond_chance[np.isfinite(self.beyond_chance)]
        return float(np.median(known)) if len(known) else float("nan")


def worker_trust(votes: Votes, fit: Fit | None) -> WorkerTrust:
    """Return the trust in each worker of these votes; `fit` provides estimated accuracies, if it is given."""
    agreement, n = _agreement_with_others(votes)
    chance = _agreement_by_chance(votes)
    low, high = wilson_interval_95(np.where(np.isfinite(agreement), agreement, 0) * n, n)
    scale = np.where(chance < 1, 1 - chance, np.nan)
    beyond, low, high = ((column - chance) / scale for column in (agreement, low, high))
    accuracy, accuracy_low, accuracy_high = _estimated_accuracy(fit, len(votes.workers))
    verdict = _verdicts(beyond, low, high, n)
    return WorkerTrust(
        workers=votes.workers,
        votes=votes.n_answers_per_worker,
        agreement=agreement,
        chance=chance,
        beyond_chance=beyond,
        low=low,
        high=high,
        accuracy=accuracy,
        accuracy_low=accuracy_low,
        accuracy_high=accuracy_high,
        verdict=verdict,
        order=np.lexsort((np.arange(len(high)), beyond, np.where(np.isfinite(beyond), high, np.inf))),
    )


def _agreement_with_others(votes: Votes) -> tuple[Floats, Floats]:
    """Return (agreement of each worker with the others, number of votes behind it); only first answers to a task count."""
    first = votes_of_different_people(votes, "first")
    share = share_of_others_agreeing_with_vote(first)
    shared = (first.worker >= 0) & ~np.isnan(share)
    worker, weight = first.worker[shared], first.weights[shared]
    n = sum_by_group(worker, votes.n_workers, weight)
    return divide_or_nan(sum_by_group(worker, votes.n_workers, weight * share[shared]), n), n


def _agreement_by_chance(votes: Votes) -> Floats:
    """(n_workers,) sum over labels of the worker's share of votes for it and that of all other workers together."""
    k = votes.n_labels
    total = np.bincount(votes.label, votes.weights, minlength=k)
    chance, mine = np.zeros(votes.n_workers), np.bincount(votes.worker, votes.weights, minlength=votes.n_workers)
    code, row = np.unique(votes.worker.astype(np.int64) * k + votes.label, return_inverse=True)
    cell = np.bincount(row, votes.weights)
    worker, label = code // k, code % k
    rest = np.maximum(total.sum() - mine[worker], 1e-300)
    np.add.at(chance, worker, cell / np.maximum(mine[worker], 1e-300) * (total[label] - cell) / rest)
    return chance


def _estimated_accuracy(fit: Fit | None, n_workers: int) -> tuple[Floats | None, Floats | None, Floats | None]:
    """Return the abilities of a fit with their intervals; without intervals if there are many workers."""
    if fit is None or fit.ability is None:
        return None, None, None
    if n_workers > MAX_INTERVAL_WORKERS:
        return fit.ability, None, None
    return fit.ability, fit.ability_low, fit.ability_high


def _verdicts(beyond: Floats, low: Floats, high: Floats, n: Floats) -> NDArray[np.object_]:
    """Return the verdict on each worker."""
    known = beyond[np.isfinite(beyond) & (n >= FEW_VOTES)]
    middle = float(np.median(known)) if len(known) else np.nan
    found = np.full(len(beyond), "as the others", object)
    found[high < middle] = "below the others"
    found[(beyond < NEAR_RANDOM) & (low <= 0)] = "near random"
    found[high < 0] = "against the others"
    found[~np.isfinite(beyond) | (n < FEW_VOTES)] = "few votes"
    return found
