"""CROWDLAB: consensus labels from votes and a classifier's predictions, each weighted by its estimated accuracy."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

MIN_WEIGHT = 1e-6  # of a worker or the classifier, and the smallest baseline error in the denominator
BATCH_TASKS = 4096  # tasks per batch


class TrustWeights(NamedTuple):
    """CROWDLAB weights of each worker and of the classifier in the consensus label of a task."""

    worker: Floats  # (n_workers,)
    model: float
    hit: float  # P, the probability that a vote is for the consensus label


class CrowdlabVotes:
    """Votes and a classifier's predictions, aligned by task and on the classifier's labels.

    Raise InputError if a task or a label with votes is unknown to the classifier.
    """

    def __init__(self, votes: Votes, prediction: SoftLabels, method_name: str) -> None:
        place = positions(prediction.tasks, votes.tasks)
        if len(lost := votes.tasks[(place < 0) & (votes.support > 0)]):
            raise InputError(
                f"{method_name}: the classifier has no prediction for {len(lost)} tasks with votes, such as {first_few(lost)}"
            )
        labels = positions(prediction.labels, votes.labels)
        if len(unknown := votes.labels[np.unique(votes.label)][labels[np.unique(votes.label)] < 0]):
            raise InputError(
                f"{method_name}: the classifier does not have the labels {first_few(unknown)}, which have votes"
            )
        self.votes, self.body, self.n_labels = votes, prediction.body.take(np.maximum(place, 0)), prediction.n_labels
        self.label = labels[votes.label]  # (n_rows,)

    def task_batches_of_model_prob_and_vote_sums(
        self, vote_weight: Floats | None = None
    ) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield (slice of tasks, (n, n_labels) classifier probabilities, (n, n_labels) total vote
        weight) of each batch of tasks.

        `vote_weight` (n_rows,) is the weight of each vote; None: 1.
        """
        votes, k = self.votes, self.n_labels
        for begin in range(0, votes.n_tasks, BATCH_TASKS):
            rows = slice(begin, min(begin + BATCH_TASKS, votes.n_tasks))
            at = slice(votes.row_offsets_by_task[rows.start], votes.row_offsets_by_task[rows.stop])
            key = (votes.task[at].astype(np.int64) - begin) * k + self.label[at]
            flat = np.bincount(key, None if vote_weight is None else vote_weight[at], minlength=(rows.stop - begin) * k)
            yield rows, self.body.dense_block(rows), flat.reshape(-1, k).astype(np.float64)

    def majority_labels_ties_by_classifier(self) -> Ints:
        """(n_tasks,) the label with most votes on each task; ties go to the label with the highest classifier probability."""
        top = np.empty(self.votes.n_tasks, np.int64)
        for rows, model_prob, said in self.task_batches_of_model_prob_and_vote_sums():
            top[rows] = np.where(said == said.max(1, keepdims=True), model_prob, -1.0).argmax(1)
        return top

    def crowdlab_probabilities_of_all_tasks(self, weights: TrustWeights) -> Floats:
        """(n_tasks, n_labels) the CROWDLAB probability q of every label of every task."""
        whole = np.empty((self.votes.n_tasks, self.n_labels))
        for rows, model_prob, trusted in self.task_batches_of_model_prob_and_vote_sums(
            weights.worker[self.votes.worker]
        ):
            whole[rows] = _crowdlab_label_probabilities(model_prob, trusted, weights)
        return whole

    def given_or_best_labels_and_probabilities(
        self, weights: TrustWeights, given_label: Ints | None, progress: Progress
    ) -> tuple[Ints, Floats]:
        """Return ((n_tasks,) labels, (n_tasks,) their CROWDLAB probability q), for the given labels, or the most
        probable if None.
        """
        best, q_of = np.empty(self.votes.n_tasks, np.int64), np.empty(self.votes.n_tasks)
        for rows, model_prob, trusted in self.task_batches_of_model_prob_and_vote_sums(
            weights.worker[self.votes.worker]
        ):
            progress(rows.start, self.votes.n_tasks)
            q = _crowdlab_label_probabilities(model_prob, trusted, weights)
            best[rows] = q.argmax(1) if given_label is None else given_label[rows]
            q_of[rows] = q[np.arange(len(q)), best[rows]]
        return best, q_of


def consensus_labels_and_trust_weights(
    crowdlab_votes: CrowdlabVotes, consensus: str, method_name: str, progress: Progress = no_progress
) -> tuple[Ints, TrustWeights]:
    """Return ((n_tasks,) consensus labels, CROWDLAB weights estimated from them); `consensus` is "best" or "majority".

    `method_name` is the method's name in error messages.
    """
    label = crowdlab_votes.majority_labels_ties_by_classifier()
    if consensus == "best":
        label, _ = crowdlab_votes.given_or_best_labels_and_probabilities(
            estimate_trust_weights(crowdlab_votes, label, method_name), None, progress
        )
    return label, estimate_trust_weights(crowdlab_votes, label, method_name)


def estimate_trust_weights(crowdlab_votes: CrowdlabVotes, consensus_label: Ints, method_name: str) -> TrustWeights:
    """Estimate the CROWDLAB weights of workers and classifier from their agreement with consensus labels (n_tasks,).

    Raise InputError if no task has two votes.
    """
    votes, n = crowdlab_votes.votes, crowdlab_votes.votes.support
    several = n > 1
    if not several.any():
        raise InputError(f"{method_name} needs tasks with two votes or more to estimate worker weights; there are none")
    agree = np.bincount(votes.task, crowdlab_votes.label == consensus_label[votes.task], minlength=votes.n_tasks)
    hit = float((agree[several] / n[several]).mean())
    common = np.bincount(consensus_label[several], minlength=crowdlab_votes.n_labels).argmax()
    error = max(float((consensus_label[several] != common).mean()), MIN_WEIGHT)
    model_error = float((crowdlab_votes.body.top_label_codes_and_probs(1)[0][:, 0] != consensus_label)[several].mean())
    worker = np.maximum(1 - (1 - _share_of_other_votes_agreeing_per_worker(crowdlab_votes)) / error, MIN_WEIGHT)
    model = max(1 - model_error / error, MIN_WEIGHT) * float(np.sqrt(n[n > 0].mean()))
    return TrustWeights(worker, model, hit)


def _share_of_other_votes_agreeing_per_worker(crowdlab_votes: CrowdlabVotes) -> Floats:
    """(n_workers,) the share of the other votes on each worker's tasks that agree with the worker;
    the mean if there are none.
    """
    votes = crowdlab_votes.votes
    key = votes.task.astype(np.int64) * crowdlab_votes.n_labels + crowdlab_votes.label
    _, inverse, times = np.unique(key, return_inverse=True, return_counts=True)
    same, others = times[inverse] - 1.0, votes.support[votes.task] - 1
    met, agreed = (np.bincount(votes.worker, part, minlength=votes.n_workers) for part in (others, same))
    share = np.divide(agreed, met, out=np.full(votes.n_workers, np.nan), where=met > 0)
    gave = votes.n_answers_per_worker > 0
    return np.where(np.isnan(share), share[gave & (met > 0)].mean(), share)


def _crowdlab_label_probabilities(model_prob: Floats, worker_weight_on_label: Floats, weights: TrustWeights) -> Floats:
    """(n, n_labels) the CROWDLAB probability q, from classifier probabilities and the workers' weight on each label."""
    total = worker_weight_on_label.sum(1, keepdims=True)
    miss = (1 - weights.hit) / max(model_prob.shape[1] - 1, 1)
    said = weights.hit * worker_weight_on_label + miss * (total - worker_weight_on_label)
    return np.asarray((weights.model * model_prob + said) / (weights.model + total))
