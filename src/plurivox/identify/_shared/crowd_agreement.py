"""Agreement of a whole crowd: each task's votes in a few numbers, sums of them, and the coefficient of the sums."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.types import Floats, Ints
from plurivox.core.votes import Votes
from plurivox.engine.pair_agreement import agreeing_share, disagreement_within_answers, has_pairs
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.intervals import RESAMPLES_HELP, redrawn, spread

DENSE = 2**27  # cells: beyond, counts are kept only where they are not zero
BITS = 62  # a row of counts that fits into so many is one number


class Kinds(NamedTuple):
    """Tasks by how their votes fall: tasks with the same counts are of one kind. Tasks without votes are left out."""

    counts: Any  # sparse (n_kinds, n_labels) the votes each label got
    n: Floats  # (n_kinds,) votes in all
    within: Floats  # (n_kinds,) how much soft answers differ from themselves, see `disagreement_within_answers`
    times: Ints  # (n_kinds,) how many tasks are of this kind
    scale: Floats | None = None  # (n_labels,) where labels stand; None: two labels are the same or not

    @property
    def several(self) -> Any:
        """(n_kinds,) whether there are two votes that can agree."""
        return has_pairs(self.n)

    @property
    def agree(self) -> Floats:
        """(n_kinds,) the share of pairs of votes that agree; for soft answers, the chance that drawn labels do."""
        return agreeing_share(self.n, squares(self.counts), self.within)

    @property
    def shares(self) -> Any:
        """Sparse (n_kinds, n_labels) the share of a task's votes that each label got."""
        return sparse.csr_array(self.counts.multiply(1 / self.n[:, None]))


def kinds(votes: Votes, scale: Floats | None = None) -> Kinds:
    """The kinds of tasks of some votes. `scale` (n_labels,) is where labels stand when their distance matters."""
    within, one = disagreement_within_answers(votes, scale), np.ones(votes.n_tasks, np.int64)
    if votes.n_tasks * votes.n_labels > DENSE or votes.n_labels > BITS:
        tally = votes.tally()
        counts = sparse.csr_array(
            (tally.mass, tally.label.astype(np.int64), tally.start), (votes.n_tasks, votes.n_labels)
        )
        return _of(counts, votes.support, within, one, scale)
    table = votes.counts()
    base = float(table.max(initial=0)) + 1
    if within.any() or votes.n_labels * np.log2(base) >= BITS or (table % 1).any():
        return _of(table, votes.support, within, one, scale)
    key = table.astype(np.int64) @ (int(base) ** np.arange(votes.n_labels, dtype=np.int64))  # a row in one number
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    return _of(table[first], votes.support[first], within[first], times, scale)


def _of(counts: Any, n: Floats, within: Floats, times: Ints, scale: Floats | None) -> Kinds:
    voted = n > 0
    return Kinds(sparse.csr_array(counts[voted]), n[voted], within[voted], times[voted], scale)


@dataclass(frozen=True)
class Agreement(Identifier):
    """A coefficient of agreement: `raw` is the coefficient, value = 1 - raw, with a bootstrap interval over tasks."""

    resamples: int = option(1000, RESAMPLES_HELP, low=0)
    seed: int = option(0, "same seed, same interval", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[ScoreTarget] = "crowd"

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        assert seen.votes is not None
        tasks = self._kinds(seen.votes)
        if not tasks.several.any():
            raise InputError(f"{self.name()} needs a task with two votes or more; no task has two")
        numbers = sparse.csr_array(self._numbers(tasks))
        raw = self._coefficient((tasks.times.astype(np.float64) @ numbers)[None])
        drawn = redrawn(tasks.times, self.resamples, self.seed, progress)
        again = [1 - self._coefficient(times @ numbers) for times in drawn]
        return crowd_scores(self, float(raw[0]), again, float(tasks.times[tasks.several].sum()))

    def _kinds(self, votes: Votes) -> Kinds:
        return kinds(votes)

    @abstractmethod
    def _numbers(self, tasks: Kinds) -> Any:
        """(n_kinds, n_numbers) what is summed over tasks."""

    @abstractmethod
    def _coefficient(self, sums: Floats) -> Floats:
        """(n,) the coefficients of (n, n_numbers) sums; nan where it is not defined."""


def crowd_scores(method: Identifier, raw: float, again: list[Floats], n: float) -> Scores:
    """The one score of a crowd; `again` are the values of resamples, in blocks."""
    if np.isnan(raw):
        warnings.warn(
            f"{method.name()} is undefined: where all votes are for one label, chance alone agrees always",
            PlurivoxWarning,
            stacklevel=4,
        )
    low, high = spread(np.concatenate(again)[:, None]) if again else (None, None)
    names, value = as_names(["crowd"]), np.array([raw])
    return Scores("crowd", names, 1 - value, method.spec, raw=value, low=low, high=high, n=np.array([n]))


def beyond_chance(agree: Floats, chance: Floats) -> Floats:
    """(agree - chance) / (1 - chance); nan where chance is 1."""
    room = 1 - chance
    return np.divide(agree - chance, room, out=np.full(len(room), np.nan), where=room > 1e-12)


def agreement_numbers(tasks: Kinds) -> Any:
    """Columns: agreement, whether there are two votes, one, and the share of each label."""
    front = np.column_stack([tasks.agree, tasks.several, np.ones(len(tasks.n))])
    return sparse.hstack([sparse.csr_array(front), tasks.shares])


def squares(counts: Any) -> Floats:
    """(n_kinds,) the sum of the squared counts of each kind."""
    return np.asarray(counts.multiply(counts).sum(1)).ravel()
