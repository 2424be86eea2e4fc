"""Several scores side by side as ranks, and error rates of workers and tasks as scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from plurivox import identify
from plurivox.core.base import DataType
from plurivox.core.encoding import positions, readonly_names
from plurivox.core.errors import InputError, first_few
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import TEXT, Floats, Names, readonly_copy
from plurivox.core.votes import Votes
from plurivox.identify import Evidence


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(DataType):
    """Several scores of the same tasks or workers: the value and the rank of each, 1 the worst; nan where untold.

    Names that a score gives the same value share the mean of their ranks.
    """

    of: ScoreTarget
    names: Names  # (n,)
    scores: Names  # (n_scores,) the word of each score
    value: Floats  # (n, n_scores) higher is worse
    rank: Floats  # (n, n_scores)

    def __post_init__(self) -> None:
        for name in ("names", "scores"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        shape = len(self.names), len(self.scores)
        for name in ("value", "rank"):
            object.__setattr__(self, name, readonly_copy(getattr(self, name), np.float64))
            if getattr(self, name).shape != shape:
                raise InputError(f"{name} of a ranking has the shape {getattr(self, name).shape}; it needs {shape}")

    @property
    def mean_rank(self) -> Floats:
        """(n,) over the scores that tell something of a name; nan where none does."""
        known = np.isfinite(self.rank)
        n = known.sum(1)
        return np.where(n > 0, np.where(known, self.rank, 0).sum(1) / np.maximum(n, 1), np.nan)

    def worst(self, n: int = 10) -> Names:
        """The names with the lowest mean ranks, worst first; those that no score can tell are left out."""
        return self.names[self._order()[:n]]

    def _order(self) -> NDArray[np.intp]:
        mean = self.mean_rank
        known = np.flatnonzero(np.isfinite(mean))
        return known[np.argsort(mean[known], kind="stable")]

    def likeness(self) -> Floats:
        """(n_scores, n_scores) Spearman's correlation: how alike two scores rank the names that both tell."""
        n = len(self.scores)
        out = np.full((n, n), np.nan)
        for a in range(n):
            for b in range(n):
                both = np.isfinite(self.value[:, a]) & np.isfinite(self.value[:, b])
                left, right = (rankdata(_coarse(self.value[both, k])) for k in (a, b))
                if both.sum() > 1 and np.ptp(left) > 0 and np.ptp(right) > 0:
                    out[a, b] = np.corrcoef(left, right)[0, 1]
        return out

    def columns(self) -> dict[str, NDArray[Any]]:
        """The name, then `value:<score>` and `rank:<score>` of each score, and the mean of the ranks."""
        table: dict[str, NDArray[Any]] = {self.of: self.names}
        for k, word in enumerate(self.scores.tolist()):
            table |= {f"value:{word}": self.value[:, k], f"rank:{word}": self.rank[:, k]}
        return table | {"mean_rank": self.mean_rank}

    def info(self) -> dict[str, object]:
        return {f"{self.of}s": len(self.names), "scores": len(self.scores), "by": ", ".join(self.scores.tolist())}


def rank_of(scores: Sequence[Scores]) -> Ranking:
    """Join scores of one kind by name; a name that a score lacks gets nan there.

    >>> a = Scores("task", np.array(["a", "b", "c"], TEXT), np.array([0.1, 0.9, 0.5]), "one")
    >>> b = Scores("task", np.array(["c", "b"], TEXT), np.array([2.0, 2.0]), "two")
    >>> both = rank_of([a, b])
    >>> both.rank.tolist(), both.worst(2).tolist()
    ([[3.0, nan], [1.0, 1.5], [2.0, 1.5]], ['b', 'c'])
    """
    if not scores:
        raise InputError("a ranking needs at least one score")
    if len(kinds := dict.fromkeys(one.of for one in scores)) > 1:
        told = ", ".join(f"{one.made_by} of a {one.of}" for one in scores)
        raise InputError(f"a ranking joins scores of one kind; these are of a {' and a '.join(kinds)}: {told}")
    words = [one.made_by for one in scores]
    if twice := sorted({word for word in words if words.count(word) > 1}):
        raise InputError(f"a ranking got a score twice: {first_few(twice)}; give each once")
    names = _all_names(scores)
    value = np.full((len(names), len(scores)), np.nan)
    for k, one in enumerate(scores):
        value[positions(names, one.names), k] = one.value
    rank = rankdata(-_coarse(value), axis=0, nan_policy="omit") if len(names) else value
    return Ranking(scores[0].of, names, np.array(words, TEXT), value, rank)


def _coarse(value: Floats) -> Floats:
    """The values to 40 bits, about twelve figures: what differs by rounding alone is the same."""
    mantissa, power = np.frexp(value)
    return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, power)


def _all_names(scores: Sequence[Scores]) -> Names:
    """The names of the first score, then those that only later ones have."""
    names = scores[0].names
    for one in scores[1:]:
        strangers = one.names[positions(names, one.names) < 0]
        if len(strangers):
            if strangers.dtype != names.dtype:
                raise InputError(
                    f"{one.made_by} names {first_few(strangers)}, which {scores[0].made_by} does not know; "
                    "the scores are of different data"
                )
            names = np.concatenate([names, strangers])
    return names


def worker_errors(votes: Votes, gold: SoftLabels) -> Scores:
    """How often each worker is wrong on known tasks."""
    found = identify.methods.make("gold-accuracy").score(Evidence(votes=votes, gold=gold))
    return replace(found, made_by="wrong-votes")


def task_errors(votes: Votes, gold: SoftLabels) -> Scores:
    """The share of a task's votes that are wrong; nan where the truth is unknown."""
    known = gold.shared(votes.tasks)
    place = positions(votes.tasks, known.tasks)
    true = positions(votes.labels, known.labels[known.codes()])
    counts = votes.counts()[place]
    n, right = counts.sum(1), np.where(true >= 0, counts[np.arange(len(true)), true], 0)
    wrong = np.full(votes.n_tasks, np.nan)
    np.divide(n - right, n, out=(found := np.full(len(place), np.nan)), where=n > 0)
    wrong[place] = found
    return Scores("task", votes.tasks, wrong, "wrong-votes")
