"""Margins of votes: how far a classifier's output for the voted label exceeds that of other labels, averaged over epochs.

AUM and WAUM are the same mean over votes: WAUM weights each vote by the trust in its worker, AUM takes one vote per task,
for the label that the task is given, with equal weights.
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
MARGIN_HELP = "subtract the second largest of all labels (yang), or the largest of the other labels (pleiss)"
TOP_K_HELP = "subtract the label ranked after the k largest, so that a label among these k does not count as wrong"
DIVIDE_BY_HELP = "divide by the sum of the weights, as in peerannot's code, or by the number of votes, as in its paper"
BATCH_VOTES = 2**16  # votes whose trust is computed per batch


@dataclass(frozen=True)
class Margins:
    """Options of the margins that are computed from a classifier's recorded training dynamics."""

    margin: Margin
    top_k: int
    logits: bool = False  # margins of logits, else of probabilities

    def vote_margins(
        self, votes: Votes, index: Ints, dynamics: Dynamics, confusion: Confusion | None = None
    ) -> tuple[Floats, Floats]:
        """Return (margin, weight) of the votes in `index`, all on recorded tasks; without `confusion` each weight is 1.

        With the workers' confusion matrices, the weight is the trust in the worker, see `trust_weights`.
        """
        row = positions(dynamics.tasks, votes.tasks)[votes.task[index]]
        label, missing = _match_names(dynamics.labels, votes.labels, votes.label[index])
        if len(missing):
            raise InputError(
                f"the classifier was not trained on labels {first_few(missing)}; it has {first_few(dynamics.labels, 6)}"
            )
        margin = mean_margins(dynamics, row, label, self.margin, self.top_k, logits=self.logits)
        if confusion is None:
            return margin, np.ones(len(index))
        worker, missing = _match_names(confusion.workers, votes.workers, votes.worker[index])
        if len(missing):
            raise InputError(
                f"the fit has no confusion matrix of {len(missing)} workers such as {first_few(missing)}; fit the same votes"
            )
        return margin, trust_weights(dynamics, row, confusion, worker)


def weighted_margin_scores(
    votes: Votes, index: Ints, margin: Floats, weight: Floats, made_by: str, *, by_weights: bool = True
) -> Scores:
    """Return task scores: the weighted sum of each task's margins over its weights, or over its number of votes.

    `margin` and `weight` belong to the votes in `index`. A low margin is worse: value = -raw.
    """
    task, vote_weight = votes.task[index], votes.weights[index]
    total, weights, n = (
        np.bincount(task, values, minlength=votes.n_tasks)
        for values in (vote_weight * weight * margin, vote_weight * weight, vote_weight)
    )
    denominator = weights if by_weights else n
    raw = np.divide(total, denominator, out=np.full(votes.n_tasks, np.nan), where=denominator > 0)
    return Scores("task", votes.tasks, -raw, made_by, raw=raw, n=n.astype(np.float64))


def recorded_votes(votes: Votes, dynamics: Dynamics) -> Ints:
    """Return the row numbers of the votes on recorded tasks; raise InputError if there are none."""
    index = np.flatnonzero(positions(dynamics.tasks, votes.tasks)[votes.task] >= 0)
    if not len(index):
        raise InputError(f"no vote is on a task that was recorded; recorded tasks are {first_few(dynamics.tasks)}")
    return index


def mean_margins(dynamics: Dynamics, row: Ints, label: Ints, margin: Margin, top_k: int, *, logits: bool) -> Floats:
    """(n,) the margin of `label[i]` on task `row[i]`, a mean over epochs; nan where the recorded outputs are not finite.

    With a_1 >= a_2 >= ... the outputs for a task, it is a_label - a_[k+1] (yang), or a_label less the k-th largest of the
    others (pleiss): a_[k+1] if the label is among the k largest, else a_[k].
    """
    n_labels = len(dynamics.labels)
    if top_k >= n_labels:
        raise InputError(f"top-k of {top_k} needs more labels than that; the dynamics have {n_labels}")
    if not dynamics.n_epochs:
        raise InputError("the dynamics contain no epoch; record them while a classifier is trained")
    finite, total = dynamics.finite_tasks(), np.zeros(len(row))
    for epoch in dynamics.logits:  # (n_tasks, n_labels)
        output = np.where(finite[:, None], epoch, 0.0) if logits else softmax_rows(epoch, finite)
        of_label = output[row, label]
        ranked = np.partition(output, (n_labels - top_k - 1, n_labels - top_k), axis=1)
        subtracted = ranked[row, n_labels - top_k - 1]
        if margin == "pleiss":
            kth = ranked[row, n_labels - top_k]
            subtracted = np.where(of_label >= kth, subtracted, kth)
        total += of_label - subtracted
    return np.where(finite[row], total / dynamics.n_epochs, np.nan)


def softmax_rows(logits: Floats, finite: Bools) -> Floats:
    """(n_tasks, n_labels) the softmax of each row of logits; rows that are not finite become uniform."""
    return np.asarray(softmax(np.where(finite[:, None], logits, 0.0).astype(np.float64), axis=1))


def trust_weights(dynamics: Dynamics, row: Ints, confusion: Confusion, worker: Ints) -> Floats:
    """(n,) the probability that `worker[i]` is right on task `row[i]`: <softmax at the last epoch, the matrix's diagonal>."""
    last = softmax_rows(dynamics.logits[-1], dynamics.finite_tasks())
    place = positions(confusion.labels, dynamics.labels)
    right = np.where(place >= 0, np.einsum("mkk->mk", confusion.matrices)[:, place], 0.0)  # (n_matrices, n_labels)
    which = worker if confusion.which is None else confusion.which[worker]
    out = np.empty(len(row))
    for begin in range(0, len(row), BATCH_VOTES):
        batch = slice(begin, begin + BATCH_VOTES)
        out[batch] = np.einsum("ik,ik->i", last[row[batch]], right[which[batch]])
    return out


def _match_names(names: Names, given: Names, codes: Ints) -> tuple[Ints, Names]:
    """Return (the position in `names` of each given[codes[i]], the given names that are missing there)."""
    place = positions(names, given)[codes]
    return place, given[np.unique(codes[place < 0])]
