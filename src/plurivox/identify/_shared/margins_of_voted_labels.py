"""Margins of votes: how far a classifier's output for the voted label exceeds that of other labels, averaged over epochs.

AUM and WAUM are the same mean over votes: WAUM weights each vote by the trust in its worker, AUM takes one vote per task,
for the label that the task is given, with equal weights.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import softmax

from plurivox.core.array_types import Bools, Floats, Ints, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import positions
from plurivox.core.results import Confusion, Dynamics, Scores
from plurivox.core.votes import Votes

Margin = Literal["yang", "pleiss"]
MARGIN_HELP = "subtract the second largest of all labels (yang), or the largest of the other labels (pleiss)"
TOP_K_HELP = "subtract the label ranked after the k largest, so that a label among these k does not count as wrong"
DIVIDE_BY_HELP = "divide by the sum of the weights, as in peerannot's code, or by the number of votes, as in its paper"
BATCH_VOTES = 2**16  # votes whose trust is computed per batch


@dataclass(frozen=True)
class MarginOptions:
    """Options of the margins that are computed from a classifier's recorded training dynamics."""

    margin: Margin
    top_k: int
    logits: bool = False  # margins of logits, else of probabilities

    def margins_and_trust_weights_of_votes(
        self, votes: Votes, vote_rows: Ints, dynamics: Dynamics, confusion: Confusion | None = None
    ) -> tuple[Floats, Floats]:
        """Return (margin, weight), each (n,), of these votes: the margin of the voted label, and the trust in the worker.

        All votes are on recorded tasks. The trust is `probability_worker_is_right_per_vote`; without `confusion` every weight
        is 1.
        """
        row = positions(dynamics.tasks, votes.tasks)[votes.task[vote_rows]]
        label, missing = _positions_and_missing_names_of_codes(dynamics.labels, votes.labels, votes.label[vote_rows])
        if len(missing):
            raise InputError(
                f"the classifier was not trained on labels {first_few(missing)}; it has {first_few(dynamics.labels, 6)}"
            )
        margin = mean_margins_over_epochs(dynamics, row, label, self.margin, self.top_k, use_logits=self.logits)
        if confusion is None:
            return margin, np.ones(len(vote_rows))
        worker, missing = _positions_and_missing_names_of_codes(
            confusion.workers, votes.workers, votes.worker[vote_rows]
        )
        if len(missing):
            raise InputError(
                f"the fit has no confusion matrix of {len(missing)} workers such as {first_few(missing)}; fit the same votes"
            )
        return margin, probability_worker_is_right_per_vote(dynamics, row, confusion, worker)


def task_scores_from_weighted_margins(
    votes: Votes, vote_rows: Ints, margin: Floats, weight: Floats, method_spec: str, *, by_weights: bool = True
) -> Scores:
    """Return one score per task: the weighted mean of its votes' margins, or their weighted sum / number of votes.

    `margin` and `weight` belong to the votes in `vote_rows`. A low margin is worse: badness = -raw.
    """
    task, vote_weight = votes.task[vote_rows], votes.weights[vote_rows]
    total, weights, n = (
        np.bincount(task, values, minlength=votes.n_tasks)
        for values in (vote_weight * weight * margin, vote_weight * weight, vote_weight)
    )
    denominator = weights if by_weights else n
    raw = np.divide(total, denominator, out=np.full(votes.n_tasks, np.nan), where=denominator > 0)
    return Scores("task", votes.tasks, raw, -raw, method_spec, n=n.astype(np.float64))


def indices_of_votes_on_recorded_tasks(votes: Votes, dynamics: Dynamics) -> Ints:
    """Return the row numbers of the votes whose task is in the training dynamics; raise InputError if there are none."""
    index = np.flatnonzero(positions(dynamics.tasks, votes.tasks)[votes.task] >= 0)
    if not len(index):
        raise InputError(f"no vote is on a task that was recorded; recorded tasks are {first_few(dynamics.tasks)}")
    return index


def mean_margins_over_epochs(
    dynamics: Dynamics, task_row: Ints, label: Ints, margin_kind: Margin, top_k: int, *, use_logits: bool
) -> Floats:
    """Return (n,) the margin of `label[i]` on task `task_row[i]`, averaged over epochs; nan where outputs are not finite.

    With a_1 >= a_2 >= ... the outputs for a task, it is a_label - a_[k+1] (yang), or a_label less the k-th largest of the
    others (pleiss): a_[k+1] if the label is among the k largest, else a_[k].
    """
    n_labels = len(dynamics.labels)
    if top_k >= n_labels:
        raise InputError(f"top-k of {top_k} needs more labels than that; the dynamics have {n_labels}")
    if not dynamics.n_epochs:
        raise InputError("the dynamics contain no epoch; record them while a classifier is trained")
    finite_tasks, total = dynamics.mask_tasks_with_finite_logits(), np.zeros(len(task_row))
    for epoch in dynamics.logits:  # (n_tasks, n_labels)
        output = (
            np.where(finite_tasks[:, None], epoch, 0.0) if use_logits else softmax_or_uniform_rows(epoch, finite_tasks)
        )
        of_label = output[task_row, label]
        ranked = np.partition(output, (n_labels - top_k - 1, n_labels - top_k), axis=1)
        subtracted = ranked[task_row, n_labels - top_k - 1]
        if margin_kind == "pleiss":
            kth = ranked[task_row, n_labels - top_k]
            subtracted = np.where(of_label >= kth, subtracted, kth)
        total += of_label - subtracted
    return np.where(finite_tasks[task_row], total / dynamics.n_epochs, np.nan)


def softmax_or_uniform_rows(logits: Floats, is_finite_row: Bools) -> Floats:
    """Return (n_tasks, n_labels) softmax of each row of logits, uniform where `is_finite_row` (n_tasks,) is False."""
    return np.asarray(softmax(np.where(is_finite_row[:, None], logits, 0.0).astype(np.float64), axis=1))


def probability_worker_is_right_per_vote(
    dynamics: Dynamics, task_row: Ints, confusion: Confusion, worker: Ints
) -> Floats:
    """Return (n,) the probability that `worker[i]` is right on task `task_row[i]`, from confusion matrix and last softmax."""
    last = softmax_or_uniform_rows(dynamics.logits[-1], dynamics.mask_tasks_with_finite_logits())
    place = positions(confusion.labels, dynamics.labels)
    right = np.where(place >= 0, np.einsum("mkk->mk", confusion.matrices)[:, place], 0.0)  # (n_matrices, n_labels)
    which = worker if confusion.which is None else confusion.which[worker]
    out = np.empty(len(task_row))
    for begin in range(0, len(task_row), BATCH_VOTES):
        batch = slice(begin, begin + BATCH_VOTES)
        out[batch] = np.einsum("ik,ik->i", last[task_row[batch]], right[which[batch]])
    return out


def _positions_and_missing_names_of_codes(names: Names, coded_names: Names, codes: Ints) -> tuple[Ints, Names]:
    """Return (n,) the position in `names` of each coded_names[codes[i]], -1 if missing, and the missing names."""
    place = positions(names, coded_names)[codes]
    return place, coded_names[np.unique(codes[place < 0])]
