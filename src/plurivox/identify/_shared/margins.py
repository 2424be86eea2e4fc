"""Margins: by how much a label stood out while a classifier learnt, weighed by how far its worker is trusted there.

AUM and WAUM are the same mean over votes: WAUM weighs each by trust in its worker, AUM takes one vote per task, the label
that the task is given, and weighs all alike.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import softmax

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.results import Confusion, Dynamics, Scores
from plurivox.core.types import Bools, Floats, Ints, Names
from plurivox.core.votes import Votes

Margin = Literal["yang", "pleiss"]
MARGIN_HELP = "less the second largest of all labels (yang), or the largest of the other labels (pleiss)"
TOP_K_HELP = (
    "take the margin to the label one place after the k best, so that a label among them does not count as wrong"
)
SPREAD_HELP = "divide by the sum of the weights, as in peerannot's code, or by the number of votes, as in its paper"
AT_ONCE = 2**16  # votes weighed at a time


@dataclass(frozen=True)
class Margins:
    """How the margins of votes are taken of what a classifier said while it learnt."""

    margin: Margin
    top_k: int
    logits: bool = False  # margins of logits, else of probabilities

    def of(self, votes: Votes, at: Ints, dynamics: Dynamics, trusted: Confusion | None = None) -> tuple[Floats, Floats]:
        """(margin, weight) of the votes `at`, all on recorded tasks; without matrices of whom to trust all weigh 1."""
        row = positions(dynamics.tasks, votes.tasks)[votes.task[at]]
        label, lost = _places(dynamics.labels, votes.labels, votes.label[at])
        if len(lost):
            raise InputError(
                f"the classifier was not trained on labels {first_few(lost)}; it knows {first_few(dynamics.labels, 6)}"
            )
        margin = mean_margins(dynamics, row, label, self.margin, self.top_k, logits=self.logits)
        if trusted is None:
            return margin, np.ones(len(at))
        worker, lost = _places(trusted.workers, votes.workers, votes.worker[at])
        if len(lost):
            raise InputError(
                f"the fit knows nothing of {len(lost)} workers such as {first_few(lost)}; fit the same votes"
            )
        return margin, trust(dynamics, row, trusted, worker)


def weighted_scores(
    votes: Votes, at: Ints, margin: Floats, weight: Floats, made_by: str, *, by_weights: bool = True
) -> Scores:
    """The weighted margins of the votes `at` on each task over their weights, or over their number `n`; low is worse."""
    task, each = votes.task[at], votes.weights[at]
    total, trusted, n = (
        np.bincount(task, part, minlength=votes.n_tasks) for part in (each * weight * margin, each * weight, each)
    )
    below = trusted if by_weights else n
    raw = np.divide(total, below, out=np.full(votes.n_tasks, np.nan), where=below > 0)
    return Scores("task", votes.tasks, -raw, made_by, raw=raw, n=n.astype(np.float64))


def recorded(votes: Votes, dynamics: Dynamics) -> Ints:
    """The rows of the votes on tasks that were recorded; raises where there are none."""
    at = np.flatnonzero(positions(dynamics.tasks, votes.tasks)[votes.task] >= 0)
    if not len(at):
        raise InputError(f"no vote is on a task that was recorded; those are {first_few(dynamics.tasks)}")
    return at


def mean_margins(dynamics: Dynamics, row: Ints, label: Ints, margin: Margin, top_k: int, *, logits: bool) -> Floats:
    """(n,) the margin of `label[i]` on task `row[i]`, a mean over epochs; nan where what was recorded is not finite.

    With a_1 >= a_2 >= ... the outputs for a task, it is a_label - a_[k+1] (yang), or a_label less the k-th largest of the
    others (pleiss): a_[k+1] where the label is among the k best, else a_[k].
    """
    n_labels = len(dynamics.labels)
    if top_k >= n_labels:
        raise InputError(f"top-k of {top_k} needs more labels than that; the dynamics have {n_labels}")
    if not dynamics.n_epochs:
        raise InputError("the dynamics hold no epoch; record them while a classifier is trained")
    finite, total = dynamics.finite(), np.zeros(len(row))
    for epoch in dynamics.logits:  # (n_tasks, n_labels)
        out = np.where(finite[:, None], epoch, 0.0) if logits else probabilities(epoch, finite)
        here = out[row, label]
        order = np.partition(out, (n_labels - top_k - 1, n_labels - top_k), axis=1)
        after = order[row, n_labels - top_k - 1]
        if margin == "pleiss":
            best = order[row, n_labels - top_k]
            after = np.where(here >= best, after, best)
        total += here - after
    return np.where(finite[row], total / dynamics.n_epochs, np.nan)


def probabilities(logits: Floats, finite: Bools) -> Floats:
    """(n_tasks, n_labels) softmax of logits; rows that are not finite come out even."""
    return np.asarray(softmax(np.where(finite[:, None], logits, 0.0).astype(np.float64), axis=1))


def trust(dynamics: Dynamics, row: Ints, confusion: Confusion, worker: Ints) -> Floats:
    """(n,) <softmax at the last epoch, diagonal of the matrix of `worker[i]`>: how likely the worker is right there."""
    last = probabilities(dynamics.logits[-1], dynamics.finite())
    place = positions(confusion.labels, dynamics.labels)
    right = np.where(place >= 0, np.einsum("mkk->mk", confusion.matrices)[:, place], 0.0)  # (n_matrices, n_labels)
    which = worker if confusion.which is None else confusion.which[worker]
    out = np.empty(len(row))
    for begin in range(0, len(row), AT_ONCE):
        at = slice(begin, begin + AT_ONCE)
        out[at] = np.einsum("ik,ik->i", last[row[at]], right[which[at]])
    return out


def _places(names: Names, given: Names, codes: Ints) -> tuple[Ints, Names]:
    """(where the name of each code stands in `names`, the names that are absent there)."""
    place = positions(names, given)[codes]
    return place, given[np.unique(codes[place < 0])]
