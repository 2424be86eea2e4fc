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
SHRINKAGE = 10  # votes of the median worker that are added to those of each worker
FEW_VOTES = 10  # fewer votes beside those of others say little about a worker
DROPPED: tuple[Verdict, ...] = ("against the others", "near random")  # reasons to leave somebody out
VERDICT_MEANING = (
    "near random: the 95% interval of the agreement beyond chance reaches 0 and stays below the median worker; against "
    "the others: the whole interval is below 0 (neither, if the estimated accuracy is that of the median worker or "
    f"higher); below the others: the whole interval is below the median worker; few votes: fewer than {FEW_VOTES} votes on "
    "tasks that others voted on, too few to say"
)
MAX_INTERVAL_VOTES = 500_000  # with more votes the estimated accuracies are shown without intervals, which take minutes


@dataclass(frozen=True, eq=False)
class WorkerTrust:
    """Columns of one number per worker; `order` sorts them, those to doubt first.

    beyond_chance = (agreement - by chance) / (1 - by chance), as in kappa. Agreement is the mean share of the others' votes
    on the same task that are for the worker's label; by chance is what it would be for someone who gives labels as often as
    the worker, but on any task. The interval is Wilson's of the agreement. Workers are ordered by `shrunken`, the agreement
    beyond chance as if each had given `SHRINKAGE` more votes like those of the median worker: so few votes alone do not make a
    worker doubtful.
    """

    workers: Names
    votes: Floats
    agreement: Floats  # NaN: the worker shares no task with others
    by_chance: Floats
    beyond_chance: Floats
    shrunken: Floats  # beyond_chance, shrunk towards the median worker
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

    def names(self, *verdicts: Verdict) -> list[str]:
        """Return the workers with one of these verdicts, those to doubt first."""
        chosen = self.has_verdict(*verdicts)
        return [str(self.workers[i]) for i in self.order if chosen[i]]

    def first_to_check(self, n: int) -> list[int]:
        """Return the indices of n workers: those to be dropped, then the next in the order, without those with few votes."""
        dropped, little = self.has_verdict(*DROPPED), self.has_verdict("few votes")
        first = [i for i in self.order.tolist() if dropped[i]]
        return (first + [i for i in self.order.tolist() if not dropped[i] and not little[i]])[:n]

    @property
    def median_beyond_chance(self) -> float:
        """The median over workers of the agreement beyond chance; NaN if none is known."""
        known = self.beyond_chance[np.isfinite(self.beyond_chance)]
        return float(np.median(known)) if len(known) else float("nan")


def worker_trust(votes: Votes, fit: Fit | None) -> WorkerTrust:
    """Return the trust in each worker of these votes; `fit` provides estimated accuracies, if it is given."""
    agreement, n = _agreement_with_others(votes)
    by_chance = _agreement_by_chance(votes)
    low, high = wilson_interval_95(np.where(np.isfinite(agreement), agreement, 0) * n, n)
    scale = np.where(by_chance < 1, 1 - by_chance, np.nan)
    beyond, low, high = ((column - by_chance) / scale for column in (agreement, low, high))
    accuracy, accuracy_low, accuracy_high = _estimated_accuracy(fit, len(votes))
    verdict = _verdicts(beyond, low, high, n, accuracy)
    middle = float(np.median(beyond[np.isfinite(beyond)])) if np.isfinite(beyond).any() else 0.0
    shrunken = (n * np.where(np.isfinite(beyond), beyond, middle) + SHRINKAGE * middle) / (n + SHRINKAGE)
    return WorkerTrust(
        workers=votes.workers,
        votes=votes.n_answers_per_worker,
        agreement=agreement,
        by_chance=by_chance,
        beyond_chance=beyond,
        shrunken=shrunken,
        low=low,
        high=high,
        accuracy=accuracy,
        accuracy_low=accuracy_low,
        accuracy_high=accuracy_high,
        verdict=verdict,
        order=np.lexsort((np.arange(len(n)), np.where(np.isfinite(beyond), shrunken, np.inf))),
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
    by_chance, mine = np.zeros(votes.n_workers), np.bincount(votes.worker, votes.weights, minlength=votes.n_workers)
    code, row = np.unique(votes.worker.astype(np.int64) * k + votes.label, return_inverse=True)
    cell = np.bincount(row, votes.weights)
    worker, label = code // k, code % k
    rest = np.maximum(total.sum() - mine[worker], 1e-300)
    np.add.at(by_chance, worker, cell / np.maximum(mine[worker], 1e-300) * (total[label] - cell) / rest)
    return by_chance


def _estimated_accuracy(fit: Fit | None, n_votes: int) -> tuple[Floats | None, Floats | None, Floats | None]:
    """Return the abilities of a fit with their intervals; without intervals if there are many votes."""
    if fit is None or fit.ability is None:
        return None, None, None
    if n_votes > MAX_INTERVAL_VOTES:
        return fit.ability, None, None
    return fit.ability, fit.ability_low, fit.ability_high


def _verdicts(beyond: Floats, low: Floats, high: Floats, n: Floats, accuracy: Floats | None) -> NDArray[np.object_]:
    """Return the verdict on each worker; whoever is estimated as accurate as the median worker is not to be dropped.

    Labels of very unequal frequency make agreement beyond chance small for good workers too; their accuracy shows it.
    """
    known = np.isfinite(beyond) & (n >= FEW_VOTES)
    middle = float(np.median(beyond[known])) if known.any() else np.nan
    good = (
        np.zeros(len(beyond), bool)
        if accuracy is None
        else accuracy >= np.median(accuracy[known] if known.any() else 0)
    )
    found = np.full(len(beyond), "as the others", object)
    found[high < middle] = "below the others"
    found[(low <= 0) & (high < middle) & ~good] = "near random"
    found[(high < 0) & ~good] = "against the others"
    found[~known] = "few votes"
    return found
