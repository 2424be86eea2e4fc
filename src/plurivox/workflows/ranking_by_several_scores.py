"""Ranking: several scores of the same tasks or workers with their ranks; error rates of workers and tasks as scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from plurivox import identify
from plurivox.core.array_types import TEXT, Floats, Names, as_readonly_array
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import positions, readonly_names
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.round_to_40_bits import round_to_40_bits
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(DataType):
    """Several scores of the same tasks or workers: the published numbers and ranks by badness, 1 is the worst.

    Equal badnesses of a score share the mean of their ranks. What a score lacks is NaN.
    """

    version: ClassVar[int] = 2  # version 1 had `value`, the badness, and no `raw`

    of: ScoreTarget
    names: Names  # (n,)
    scores: Names  # (n_scores,) the spec of each score
    badness: Floats  # (n, n_scores) higher is worse
    rank: Floats  # (n, n_scores)
    raw: Floats | None = None  # (n, n_scores) as the papers define them; None in files of version 0.1.0

    def __post_init__(self) -> None:
        for name in ("names", "scores"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        shape = len(self.names), len(self.scores)
        for name in ("badness", "rank", "raw"):
            if (table := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_readonly_array(table, np.float64))
                if table.shape != shape:
                    raise InputError(f"{name} of a ranking has the shape {table.shape}; it needs {shape}")

    @property
    def value(self) -> NoReturn:
        """Raise AttributeError: `raw` and `badness` replaced `value` in version 0.2."""
        raise AttributeError(
            "Ranking has no `value` since version 0.2: use `raw` for the published numbers, and `badness`, higher is worse, "
            "for ranking"
        )

    @classmethod
    def upgrade(cls, saved_version: int, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of version 1, whose `value` was the badness."""
        del saved_version
        return {"badness" if name == "value" else name: one for name, one in fields.items()}

    @property
    def mean_rank_over_scores(self) -> Floats:
        """(n,) the mean rank of each worker (or task) over the scores that rank it; NaN if none does."""
        known = np.isfinite(self.rank)
        n = known.sum(1)
        return np.where(n > 0, np.where(known, self.rank, 0).sum(1) / np.maximum(n, 1), np.nan)

    def worst(self, n: int = 10) -> Names:
        """Return the n workers (or tasks) with the lowest mean rank, worst first; names without a rank are left out."""
        return self.names[self._positions_by_mean_rank_worst_first()[:n]]

    def _positions_by_mean_rank_worst_first(self) -> NDArray[np.intp]:
        """Return the positions of the workers (or tasks) that have a rank, sorted by mean rank, worst first."""
        mean = self.mean_rank_over_scores
        known = np.flatnonzero(np.isfinite(mean))
        return known[np.argsort(mean[known], kind="stable")]

    def rank_correlations(self) -> Floats:
        """Return (n_scores, n_scores) Spearman's rank correlation of each pair of badnesses, over names with both."""
        n = len(self.scores)
        out = np.full((n, n), np.nan)
        for a in range(n):
            for b in range(n):
                both = np.isfinite(self.badness[:, a]) & np.isfinite(self.badness[:, b])
                left, right = (rankdata(round_to_40_bits(self.badness[both, k])) for k in (a, b))
                if both.sum() > 1 and np.ptp(left) > 0 and np.ptp(right) > 0:
                    out[a, b] = np.corrcoef(left, right)[0, 1]
        return out

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns task or worker, `raw:<score>` and `rank:<score>` of each score, and mean_rank.

        A ranking saved by version 0.1.0 has no `raw`; its columns are `badness:<score>` and `rank:<score>`.
        """
        name, numbers = ("badness", self.badness) if self.raw is None else ("raw", self.raw)
        table: dict[str, NDArray[Any]] = {self.of: self.names}
        for k, spec in enumerate(self.scores.tolist()):
            table |= {f"{name}:{spec}": numbers[:, k], f"rank:{spec}": self.rank[:, k]}
        return table | {"mean_rank": self.mean_rank_over_scores}

    def summary_values(self) -> dict[str, object]:
        return {f"{self.of}s": len(self.names), "scores": len(self.scores), "by": ", ".join(self.scores.tolist())}


def join_scores_into_ranking(scores: Sequence[Scores]) -> Ranking:
    """Return the Ranking of several scores of the same tasks (or workers), joined by name; NaN if a score lacks a name.

    >>> share, ease = np.array([0.1, 0.9, 0.5]), np.array([2.0, 2.0])
    >>> a = Scores("task", np.array(["a", "b", "c"], TEXT), raw=share, badness=share, made_by="one")
    >>> b = Scores("task", np.array(["c", "b"], TEXT), raw=ease, badness=-ease, made_by="two")
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
    raw, badness = np.full((2, len(names), len(scores)), np.nan)
    for k, one in enumerate(scores):
        place = positions(names, one.names)
        raw[place, k], badness[place, k] = one.raw, one.badness
    rank = rankdata(-round_to_40_bits(badness), axis=0, nan_policy="omit") if len(names) else badness
    return Ranking(scores[0].of, names, np.array(specs, TEXT), badness, rank, raw)


def scores_without_those_shown_pooled(scores: Sequence[Scores]) -> list[Scores]:
    """Return the scores to rank by: without those whose pooled variant, such as trace-pooled of trace, is also among them."""
    specs = {one.made_by for one in scores}
    return [one for one in scores if f"{one.made_by}-pooled" not in specs]


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
    assert found.low is not None and found.high is not None
    return replace(found, raw=found.badness, low=1 - found.high, high=1 - found.low, made_by="wrong-votes")


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
    return Scores("task", votes.tasks, wrong, wrong, "wrong-votes")
