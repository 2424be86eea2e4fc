"""Cohen's kappa of two workers, or the mean over pairs of workers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, OptionError, unknown_name
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.kernels.agreement import pack_votes, sum_kappas
from plurivox.engine.kernels.group_by import group_rows
from plurivox.engine.threads import parallel_map
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.crowd_agreement import crowd_scores
from plurivox.identify._shared.group_sums import quotient
from plurivox.identify._shared.intervals import RESAMPLES_HELP, redrawn
from plurivox.identify._shared.requirements import known_workers

POWERS = {"none": 0, "linear": 1, "quadratic": 2}  # of the distance on the scale
PIECES = 64  # a fixed cut of the workers, so that the sums have the same bits for any number of threads


@dataclass(frozen=True)
class CohenKappa(Identifier):
    """Cohen's kappa of two workers, or its mean over all pairs of workers who share tasks (Light's kappa).

    kappa = 1 - D_seen / D_chance over the tasks that both answered: the mean distance of their labels, over that of a
    label drawn from the one's and a label drawn from the other's. Two labels are 1 apart (none), or as far as on their
    scale (linear), or the square of that (quadratic). A pair counts where it shares `least` tasks, and is left out where
    both always say the same one label; `n` is how many pairs count. `raw` is kappa, value = 1 - kappa. Kappas of pairs
    that share few tasks lean down and vary much, and the interval (of resamples, moved to lie about the value) is rough
    there. It goes through all pairs for every resample: leave it out (0) where there are millions of votes.

    Cohen (1960), https://doi.org/10.1177/001316446002000104; weights: Cohen (1968), https://doi.org/10.1037/h0026256;
    pairs: Light (1971), https://doi.org/10.1037/h0031643

    >>> votes = Votes.of(task=list("aabbccdd"), worker=["ann", "bo"] * 4, label=list("xxxyyyyy"))
    >>> CohenKappa(least=4, resamples=0).score(Evidence(votes=votes)).raw
    array([0.5])
    """

    first: str | None = option(None, "a worker; none: all pairs")
    second: str | None = option(None, "the worker to compare with")
    weights: Literal["none", "linear", "quadratic"] = option("none", "how far apart two labels are")
    least: int = option(5, "tasks that two workers must share to count as a pair", low=1)
    average: Literal["pairs", "tasks"] = option("pairs", "the mean takes every pair alike, or by the tasks it shares")
    resamples: int = option(1000, RESAMPLES_HELP, low=0)
    seed: int = option(0, "same seed, same interval", low=0)

    of: ClassVar[ScoreTarget] = "crowd"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.first is None) != (self.second is None) or (self.first is not None and self.first == self.second):
            raise OptionError(f"{self.name()}: name two different workers, first and second, or none")

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        assert seen.votes is not None
        votes = self._pair(self._plain(seen.votes))
        told = np.bincount(votes.task[votes.worker >= 0], minlength=votes.n_tasks) > 1  # tasks where two may meet
        mean = _mean_kappa(votes, self._scale(votes), POWERS[self.weights], self.least, self.average == "tasks")
        sums = mean(told.astype(np.float64), True)
        if not sums[2] and not sums[3]:
            raise self._too_few()
        whole, again = quotient(sums[:1], sums[1:2]), []
        for block in redrawn(np.ones(int(told.sum()), np.int64), self.resamples, self.seed, progress):
            times = np.zeros((len(block), votes.n_tasks))
            times[:, told] = block
            drawn = np.array(parallel_map(lambda i, times=times: mean(times[i], False), len(block)))  # type: ignore[misc]
            again.append(1 - quotient(drawn[:, 0], drawn[:, 1]))
        return crowd_scores(self, float(whole[0]), _centred(again, 1 - whole), float(sums[2]))

    def _plain(self, votes: Votes) -> Votes:
        if votes.weight is not None and bool((votes.weight != 1).any()):
            raise InputError(f"{self.name()} takes plain votes only; some of these weigh more or less than 1")
        return known_workers(votes, self.name())

    def _pair(self, votes: Votes) -> Votes:
        """The votes of the two workers named, or all."""
        if self.first is None or self.second is None:
            return votes
        place = positions(votes.workers, as_names([self.first, self.second]))
        for name, at in zip((self.first, self.second), place.tolist(), strict=True):
            if at < 0:
                raise unknown_name("worker", name, map(str, votes.workers.tolist()))
        return votes.where(np.isin(votes.worker, place))

    def _scale(self, votes: Votes) -> Floats:
        """(n_labels,) where each label stands; zeros where that does not matter."""
        if self.weights == "none":
            return np.zeros(votes.n_labels)
        if votes.scale is None:
            raise InputError(
                f"{self.name()}: labels have no order, so weights cannot be {self.weights}; say that they have one "
                "(ordered), or take none"
            )
        return votes.scale

    def _too_few(self) -> InputError:
        """The error where no pair shares enough tasks."""
        who = "no two workers" if self.first is None else f"{self.first} and {self.second} do not"
        shared = "" if self.least == 1 else f"{self.least} tasks; lower least, or take fleiss-kappa"
        return InputError(f"{self.name()}: {who} share {shared or 'a task; take fleiss-kappa'}")


def _mean_kappa(
    votes: Votes, scale: Floats, power: int, least: int, by_tasks: bool
) -> Callable[[Floats, bool], Floats]:
    """A function of how often each task counts: (kappas, their weights, pairs, undefined pairs), in pieces or in one."""
    order, begin = group_rows(votes.worker, votes.n_workers)
    rows, n = (order, begin, pack_votes(votes.task, votes.worker, votes.label), votes.task[order]), votes.n_workers

    def piece(times: Floats, first: int, last: int) -> Floats:
        sums = np.zeros(4)
        sum_kappas(first, last, *rows, times, scale, power, least, by_tasks, sums)
        return sums

    def whole(times: Floats, in_pieces: bool) -> Floats:
        if not in_pieces:  # resamples run side by side instead
            return piece(times, 0, n)
        cut = np.unique(np.searchsorted(begin, np.linspace(0, begin[-1], min(PIECES, n) + 1)[1:-1]))
        edges = [0, *cut.tolist(), n]
        return np.sum(parallel_map(lambda i: piece(times, edges[i], edges[i + 1]), len(edges) - 1), axis=0)

    return whole


def _centred(again: list[Floats], value: Floats) -> list[Floats]:
    """Resamples about the value: with a task drawn twice a pair shares fewer tasks, and such kappas are biased."""
    known = np.concatenate([*again, value])
    known = known[~np.isnan(known)]
    return [block - known.mean() + value for block in again] if len(known) else again
