"""Hide one vote per task, fit methods on the rest, and score how well they predict the hidden votes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plurivox.aggregate import Aggregator
from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.results import Fit
from plurivox.core.votes import Votes

UNIFORM_SHARE = (
    0.01  # of the uniform distribution, mixed into every prediction of a vote: shares of 0 would cost infinitely much
)
PRIOR_VOTES = 1.0  # per row of the crowd's matrix, when a truth posterior is turned into a prediction of votes


@dataclass(frozen=True)
class HiddenVoteLosses:
    """Log loss of the hidden vote of each task, per method; NaN for a method that could not be fitted."""

    loss: Floats  # (n_methods, n_hidden) in nats

    @property
    def mean(self) -> Floats:
        """(n_methods,) the mean log loss."""
        return np.asarray(self.loss.mean(1))

    def differences_to(self, reference: int) -> tuple[Floats, Floats]:
        """Return the mean difference of each method to one of them, and its standard error over tasks."""
        difference = self.loss - self.loss[reference]
        return difference.mean(1), difference.std(1, ddof=1) / np.sqrt(difference.shape[1])


def hide_one_vote_per_task(votes: Votes, seed: int = 0) -> tuple[Votes, Ints, Ints]:
    """Return (the other votes, task codes, label codes of the hidden votes): one random vote of each task with two or more.

    `votes` are plain votes.

    >>> votes = Votes.of(task=["a", "a", "b"], worker=[1, 2, 1], label=["x", "x", "y"])
    >>> rest, task, label = hide_one_vote_per_task(votes)
    >>> len(rest), votes.tasks[task].tolist(), votes.labels[label].tolist()
    (2, ['a'], ['x'])
    """
    start, n = votes.row_offsets_by_task, np.diff(votes.row_offsets_by_task)
    task = np.flatnonzero(n > 1)
    row = start[task] + (np.random.default_rng(seed).random(len(task)) * n[task]).astype(np.int64)
    keep = np.ones(len(votes), bool)
    keep[row] = False
    return votes.where(keep), task, votes.label[row].astype(np.int64)


def hidden_vote_losses(
    votes: Votes, methods: Sequence[Aggregator], *, seed: int = 0, progress: Progress = no_progress
) -> HiddenVoteLosses | None:
    """Return the log loss of hidden votes under each method; None if no task has two votes.

    Labels of what people say predict a vote themselves. A truth posterior p(k) predicts sum_k p(k) M[k, said], where M is the
    mean confusion matrix of the crowd, estimated from the posterior and the votes that are not hidden. One percent of
    the uniform distribution is mixed into each prediction.
    """
    rest, task, label = hide_one_vote_per_task(votes, seed)
    if len(task) < 2:
        return None
    loss = np.full((len(methods), len(task)), np.nan)
    for i, method in enumerate(methods):
        try:
            fit = method.fit(rest)
        except InputError:
            continue
        found = vote_probabilities(fit, rest)[task, label]
        loss[i] = -np.log((1 - UNIFORM_SHARE) * found + UNIFORM_SHARE / votes.n_labels)
        progress(i, len(methods))
    return HiddenVoteLosses(loss)


def vote_probabilities(fit: Fit, votes: Votes) -> Floats:
    """Return (n_tasks, n_labels) the probability of each label for the next vote on each task, by a fit of plain votes."""
    prob = fit.soft.prob
    if fit.soft.estimates != "truth":
        return prob
    counts = votes.counts()
    said = prob.T @ counts  # (true, said)
    overall = counts.sum(0) / counts.sum()
    matrix = (said + PRIOR_VOTES * overall) / (said.sum(1, keepdims=True) + PRIOR_VOTES)
    return np.asarray(prob @ matrix)


def as_plain_votes(votes: Votes) -> Votes:
    """Return the votes with one row per vote: counts are repeated, a soft answer becomes its label with the largest weight."""
    if votes.weight is None:
        return votes
    if votes.answer is None and not np.array_equal(votes.weights, votes.weights.round()):
        raise InputError("counts must be whole numbers here: give the counts of votes, not shares")
    row = (
        _rows_of_top_labels(votes)
        if votes.answer is not None
        else np.repeat(np.arange(len(votes)), votes.weights.round().astype(np.int64))
    )
    return replace(
        votes,
        task=votes.task[row],
        worker=votes.worker[row],
        label=votes.label[row],
        weight=None,
        answer=None,
        when=None,
        seconds=None,
    )


def _rows_of_top_labels(votes: Votes) -> Ints:
    """Return the row of the largest weight of each soft answer, in the order of the rows."""
    assert votes.answer is not None
    order = np.lexsort((-votes.weights, votes.answer))
    first = np.r_[True, np.diff(votes.answer[order]) != 0]
    return np.sort(order[first])
