"""Aggregation method log-pool: a geometric mean of the soft labels of several methods, made less certain. Default for truth."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from plurivox.aggregate._shared.method_with_parts import MethodWithParts
from plurivox.core.array_types import Floats
from plurivox.core.errors import OptionError
from plurivox.core.method import option
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Dense
from plurivox.core.soft_transforms import overlay
from plurivox.core.votes import Votes

MIN_VOTES = 2.0  # per task; with fewer, votes do not determine confusion matrices
MIN_GOLD = 10  # voted tasks with gold labels, per label; with more, these determine them
LEAST_PROB = 1e-30  # probabilities of a part below this are raised to it: a 0 of one part is not final


@dataclass(frozen=True)
class LogPool(MethodWithParts):
    """Logarithmic pool of several methods, flattened: the default for truth.

    p(k | task) = (1 - b) q(k | task) + b / K, with q(k | task) proportional to (prod_m p_m(k | task)^w_m)^power over the parts
    m, the weights w divided by their sum, and K labels. A power below 1 makes labels less certain: models take votes on a task
    for independent, while workers tend to err on the same tasks. The background b is the probability that the votes on a task
    are misleading altogether, as no model of votes can see. It falls with the lead d of the label with most votes over the
    second: b = background / (1 + d / lead).

    Parts, weights, power and background were chosen on 16 public data sets with gold labels, by leaving out one data set at a
    time, and checked on simulated crowds: docs/comparison.md lists what else was tried. They are the same for all data: neither
    held-out votes nor any statistic of the votes predicted the best power of a data set. For a crowd that hardly errs the
    probabilities are too cautious. Abilities and confusion matrices are those of the first part that estimates matrices.

    If tasks have fewer than two votes on average, votes say little about how often workers err: a task with n plain votes has
    a background of at least single / n. Parts that estimate confusion matrices are then left out (`found["parts left out"]`
    is their number), unless ten voted tasks per label have gold labels. A soft answer counts as the sum of its squared
    weights: one of .5 and .5 as half a vote.

    Genest & Zidek (1986) on logarithmic opinion pools, https://doi.org/10.1214/ss/1177013825

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "yes", "yes"])
    >>> fit = LogPool().fit(votes)
    >>> fit.soft.prob.round(2), fit.soft.estimates
    (array([[0.9 , 0.1 ],
           [0.06, 0.94]]), 'truth')
    """

    parts: str = option(
        "wawa[ties=share,pool=1],dawid-skene[pool=4]",
        "comma-separated aggregation methods whose soft labels are pooled",
    )
    weights: str = option("0.7,0.3", "comma-separated weights of the parts; one number: the same for all")
    power: float = option(0.8, "exponent of the pooled probabilities; below 1 gives less certain labels", low=0)
    background: float = option(
        0.14, "probability that the votes on a task are misleading, if labels have equally many", low=0, high=1
    )
    lead: float = option(30.0, "lead of the top label over the second, in votes, that halves the background", low=1e-6)
    single: float = option(
        0.45,
        "least background of a task with one plain vote, if tasks have fewer than two votes on average",
        low=0,
        high=1,
    )

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold"})

    def __post_init__(self) -> None:
        super().__post_init__()
        self.weights_of_parts()

    def weights_of_parts(self) -> Floats:
        """(n_parts,) the weights of the parts, which sum to one; raise OptionError if they are not valid."""
        n_parts = len(self.methods_of_parts())
        try:
            weights = np.array([float(number) for number in self.weights.split(",")])
        except ValueError:
            raise OptionError(f"weights are numbers, such as .7,.3; got {self.weights!r}") from None
        if len(weights) == 1:
            weights = np.repeat(weights, n_parts)
        if len(weights) != n_parts or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
            raise OptionError(
                f"weights must be {n_parts} numbers, 0 or more, one per part, or one for all; got {self.weights!r}"
            )
        return weights / weights.sum()

    def with_parts(self, parts: str) -> "LogPool":
        return replace(self, parts=parts, weights="1")

    def estimated_peak_floats(self, votes: Votes) -> int:
        parts, cells = self.methods_of_parts(), votes.n_tasks * votes.n_labels
        kept = len(parts) * (cells + 12 * len(votes)) + votes.n_workers * votes.n_labels**2
        return max(part.estimated_peak_floats(votes) for part in parts) + kept + cells

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del start
        fitted = self.fit_parts(votes, gold, progress, keep_fits=True)
        has_matrices, weights = np.array([fit.confusion is not None for fit in fitted.fits]), self.weights_of_parts()
        found = {name: n for name, n in fitted.found.items() if name == "parts not converged" and n}
        background = self._background_of_tasks(votes)
        if _votes_per_task(votes) < MIN_VOTES:
            few_gold = _n_voted_tasks(votes, gold) < MIN_GOLD * votes.n_labels
            if few_gold and has_matrices.any() and weights[~has_matrices].any():
                weights = np.where(has_matrices, 0, weights) / weights[~has_matrices].sum()
                found["parts left out"] = int(has_matrices.sum())
            if votes.answer is None:
                background = np.maximum(background, self.single / np.maximum(votes.support, 1)[:, None])
        body = _pool(fitted.softs, self.power * weights, background)
        soft = SoftLabels(body, votes.tasks, votes.labels, votes.support, votes.scale)
        soft = soft if gold is None else overlay(soft, gold)
        whole = next((fit for fit in fitted.fits if fit.confusion is not None), None)
        if whole is None or "parts left out" in found:
            return Fit(soft, votes.workers, self.spec, converged=fitted.converged, found=found)
        return whole.with_soft(soft, self.spec, converged=fitted.converged, found={**whole.found, **found})

    def highest_probability(self, n_votes: float, n_labels: int) -> float:
        """Return the highest probability that a label of a task with this number of votes can get.

        >>> LogPool(background=0.1, lead=10).highest_probability(n_votes=10, n_labels=2)
        0.975
        """
        return 1 - self.background / (1 + n_votes / self.lead) * (1 - 1 / n_labels)

    def _background_of_tasks(self, votes: Votes) -> Floats:
        """(n_tasks, 1) the background of each task; it falls with the lead of its top label over the second, in votes."""
        shares = SoftLabels.from_vote_shares(votes).top(min(2, votes.n_labels))[1]
        lead = votes.support * (shares[:, 0] - (shares[:, 1] if votes.n_labels > 1 else 0))
        return np.asarray(self.background / (1 + lead / self.lead))[:, None]


def _pool(softs: list[SoftLabels], powers: Floats, background: Floats) -> Dense:
    """Return the product of the soft labels to these powers, with background (n_tasks, 1), for one block of tasks at a time."""
    pooled = np.empty((len(softs[0]), softs[0].n_labels))
    for blocks in zip(*(soft.rows() for soft in softs), strict=True):
        log = sum(p * np.log(np.maximum(prob, LEAST_PROB)) for p, (_, prob) in zip(powers, blocks, strict=True))
        prob, where = np.exp(log - np.max(log, axis=1, keepdims=True)), blocks[0][0]
        prob *= (1 - background[where]) / prob.sum(1, keepdims=True)
        pooled[where] = prob + background[where] / pooled.shape[1]
    return Dense(pooled)


def _n_voted_tasks(votes: Votes, gold: SoftLabels | None) -> int:
    """Return the number of tasks with gold labels that have votes."""
    if gold is None:
        return 0
    place = positions(votes.tasks, gold.tasks)
    return int(np.count_nonzero(votes.support[place[place >= 0]] > 0))


def _votes_per_task(votes: Votes) -> float:
    """Return the mean number of votes of tasks with votes; a soft answer counts as the sum of its squared weights."""
    rows = votes.weights if votes.answer is None else votes.weights**2
    return float(rows.sum() / max(np.count_nonzero(votes.support), 1))
