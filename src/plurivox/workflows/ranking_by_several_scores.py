"""Ranking: several scores of the same tasks or workers with their ranks; error rates of workers and tasks as scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from plurivox import identify
from plurivox.core.array_types import TEXT, Floats, Names, as_readonly_array
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import positions, readonly_names
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(DataType):
    """Several scores of the same tasks or workers: values and ranks, 1 is the worst; NaN if a score has no value.

    Equal values of a score share the mean of their ranks.
    """

    of: ScoreTarget
    names: Names  # (n,)
    scores: Names  # (n_scores,) the spec of each score
    value: Floats  # (n, n_scores) higher is worse
    rank: Floats  # (n, n_scores)

    def __post_init__(self) -> None:
        for name in ("names", "scores"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        shape = len(self.names), len(self.scores)
        for name in ("value", "rank"):
            object.__setattr__(self, name, as_readonly_array(getattr(self, name), np.float64))
            if getattr(self, name).shape != shape:
                raise InputError(f"{name} of a ranking has the shape {getattr(self, name).shape}; it needs {shape}")

    @property
    def mean_rank_over_scores(self) -> Floats:
        """(n,) the mean rank of each worker (or task) over the scores that have a value for it; NaN if none has."""
        known = np.isfinite(self.rank)
        n = known.sum(1)
        return np.where(n > 0, np.where(known, self.rank, 0).sum(1) / np.maximum(n, 1), np.nan)

    def worst(self, n: int = 10) -> Names:
        """Return the n workers (or tasks) with the lowest mean rank, worst first; names without a value are left out."""
        return self.names[self._positions_by_mean_rank_worst_first()[:n]]

    def _positions_by_mean_rank_worst_first(self) -> NDArray[np.intp]:
        """Return the positions of the workers (or tasks) that have a value, sorted by mean rank, worst first."""
        mean = self.mean_rank_over_scores
        known = np.flatnonzero(np.isfinite(mean))
        return known[np.argsort(mean[known], kind="stable")]

    def rank_correlations(self) -> Floats:
        """Return (n_scores, n_scores) Spearman's rank correlation of each pair of scores, over names with both values."""
        n = len(self.scores)
        out = np.full((n, n), np.nan)
        for a in range(n):
            for b in range(n):
                both = np.isfinite(self.value[:, a]) & np.isfinite(self.value[:, b])
                left, right = (rankdata(_round_scores_to_40_bits(self.value[both, k])) for k in (a, b))
                if both.sum() > 1 and np.ptp(left) > 0 and np.ptp(right) > 0:
                    out[a, b] = np.corrcoef(left, right)[0, 1]
        return out

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns task or worker, `value:<score>` and `rank:<score>` of each score, and mean_rank."""
        table: dict[str, NDArray[Any]] = {self.of: self.names}
        for k, spec in enumerate(self.scores.tolist()):
            table |= {f"value:{spec}": self.value[:, k], f"rank:{spec}": self.rank[:, k]}
        return table | {"mean_rank": self.mean_rank_over_scores}

    def summary_values(self) -> dict[str, object]:
        return {f"{self.of}s": len(self.names), "scores": len(self.scores), "by": ", ".join(self.scores.tolist())}


def join_scores_into_ranking(scores: Sequence[Scores]) -> Ranking:
    """Return the Ranking of several scores of the same tasks (or workers), joined by name; NaN if a score lacks a name.

    >>> a = Scores("task", np.array(["a", "b", "c"], TEXT), np.array([0.1, 0.9, 0.5]), "one")
    >>> b = Scores("task", np.array(["c", "b"], TEXT), np.array([2.0, 2.0]), "two")
    >>> both = join_scores_into_ranking([a, b])
    >>> both.rank.tolist(), both.worst(2).tolist()
    ([[3.0, nan], [1.0, 1.5], [2.0, 1.5]], ['b', 'c'])
    """
    if not scores:
        raise InputError("a ranking needs at least one score")
    if len({one.of for one in scores}) > 1:
        kinds_text = ", ".join(f"{one.made_by} of a {one.of}" for one in scores)
        raise InputError(f"a ranking needs scores of tasks only or of workers only; got {kinds_text}")
    specs = [one.made_by for one in scores]
    if twice := sorted({spec for spec in specs if specs.count(spec) > 1}):
        raise InputError(f"a score is given twice: {first_few(twice)}; give each score once")
    names = _union_of_scored_names(scores)
    value = np.full((len(names), len(scores)), np.nan)
    for k, one in enumerate(scores):
        value[positions(names, one.names), k] = one.value
    rank = rankdata(-_round_scores_to_40_bits(value), axis=0, nan_policy="omit") if len(names) else value
    return Ranking(scores[0].of, names, np.array(specs, TEXT), value, rank)


def _round_scores_to_40_bits(score_values: Floats) -> Floats:
    """Return score values rounded to 40 bits (about twelve digits), so that numerical noise does not break ties."""
    mantissa, power = np.frexp(score_values)
    return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, power)


def _union_of_scored_names(scores: Sequence[Scores]) -> Names:
    """Return the worker (or task) names of the first score, then those only in later ones; raise InputError if types differ."""
    names = scores[0].names
    for one in scores[1:]:
        new_names = one.names[positions(names, one.names) < 0]
        if len(new_names):
            if new_names.dtype != names.dtype:
                raise InputError(
                    f"{one.made_by} has the names {first_few(new_names)}, which {scores[0].made_by} does not have; "
                    "the scores are from different data"
                )
            names = np.concatenate([names, new_names])
    return names


def worker_error_rates(votes: Votes, gold: SoftLabels) -> Scores:
    """Return the share of wrong votes of each worker on tasks with gold labels, as Scores."""
    found = identify.methods.make("gold-accuracy").score(Evidence(votes=votes, gold=gold))
    return replace(found, made_by="wrong-votes")


def task_error_rates(votes: Votes, gold: SoftLabels) -> Scores:
    """Return the share of wrong votes of each task, as Scores; NaN if the task has no gold label."""
    known = gold.shared(votes.tasks)
    place = positions(votes.tasks, known.tasks)
    true = positions(votes.labels, known.labels[known.most_probable_label_codes()])
    counts = votes.counts()[place]
    n, right = counts.sum(1), np.where(true >= 0, counts[np.arange(len(true)), true], 0)
    wrong = np.full(votes.n_tasks, np.nan)
    np.divide(n - right, n, out=(found := np.full(len(place), np.nan)), where=n > 0)
    wrong[place] = found
    return Scores("task", votes.tasks, wrong, "wrong-votes")
