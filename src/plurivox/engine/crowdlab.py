"""CROWDLAB: votes and a classifier weighed against each other. What `identify` scores and `train` answers with."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.progress import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints
from plurivox.core.votes import Votes

MIN_WEIGHT = (
    1e-6  # of a weight, and of the error that weights are held against: who is no better than the commonest label
)
BATCH_TASKS = 4096  # tasks


class TrustWeights(NamedTuple):
    """How far each is to be trusted."""

    worker: Floats  # (n_workers,)
    model: float
    hit: float  # P, the chance that a vote is for the label


class CrowdlabVotes:
    """Votes and a classifier over one list of labels: the classifier's."""

    def __init__(self, votes: Votes, prediction: SoftLabels, name: str) -> None:
        place = positions(prediction.tasks, votes.tasks)
        if len(lost := votes.tasks[(place < 0) & (votes.support > 0)]):
            raise InputError(
                f"{name}: the classifier says nothing of {len(lost)} tasks with votes, such as {first_few(lost)}"
            )
        labels = positions(prediction.labels, votes.labels)
        if len(strange := votes.labels[np.unique(votes.label)][labels[np.unique(votes.label)] < 0]):
            raise InputError(f"{name}: the classifier does not know labels {first_few(strange)}, which have votes")
        self.votes, self.body, self.n_labels = votes, prediction.body.take(np.maximum(place, 0)), prediction.n_labels
        self.label = labels[votes.label]  # (n_rows,)

    def batches(self, weight: Floats | None = None) -> Iterator[tuple[slice, Floats, Floats]]:
        """(tasks, the classifier's numbers, the votes' weight on each label), each block (n, n_labels)."""
        votes, k = self.votes, self.n_labels
        for begin in range(0, votes.n_tasks, BATCH_TASKS):
            rows = slice(begin, min(begin + BATCH_TASKS, votes.n_tasks))
            at = slice(votes.start[rows.start], votes.start[rows.stop])
            key = (votes.task[at].astype(np.int64) - begin) * k + self.label[at]
            flat = np.bincount(key, None if weight is None else weight[at], minlength=(rows.stop - begin) * k)
            yield rows, self.body.block(rows), flat.reshape(-1, k).astype(np.float64)

    def most_voted(self) -> Ints:
        """(n_tasks,) the label with most votes; among several the one that the classifier finds likelier."""
        top = np.empty(self.votes.n_tasks, np.int64)
        for rows, model_prob, said in self.batches():
            top[rows] = np.where(said == said.max(1, keepdims=True), model_prob, -1.0).argmax(1)
        return top

    def posterior(self, weights: TrustWeights) -> Floats:
        """(n_tasks, n_labels) q of every label."""
        whole = np.empty((self.votes.n_tasks, self.n_labels))
        for rows, model_prob, trusted in self.batches(weights.worker[self.votes.worker]):
            whole[rows] = _label_probabilities(model_prob, trusted, weights)
        return whole

    def label_quality(self, weights: TrustWeights, label: Ints | None, progress: Progress) -> tuple[Ints, Floats]:
        """(label, its q), each (n_tasks,); without labels given, the best."""
        best, q_of = np.empty(self.votes.n_tasks, np.int64), np.empty(self.votes.n_tasks)
        for rows, model_prob, trusted in self.batches(weights.worker[self.votes.worker]):
            progress(rows.start, self.votes.n_tasks)
            q = _label_probabilities(model_prob, trusted, weights)
            best[rows] = q.argmax(1) if label is None else label[rows]
            q_of[rows] = q[np.arange(len(q)), best[rows]]
        return best, q_of


def consensus_labels(
    table: CrowdlabVotes, consensus: str, name: str, progress: Progress = no_progress
) -> tuple[Ints, TrustWeights]:
    """(n_tasks,) the label of each task, the best by q or the most voted for, and the weights held against it."""
    label = table.most_voted()
    if consensus == "best":
        label, _ = table.label_quality(estimate_weights(table, label, name), None, progress)
    return label, estimate_weights(table, label, name)


def estimate_weights(table: CrowdlabVotes, top: Ints, name: str) -> TrustWeights:
    """How far each worker and the classifier are to be trusted."""
    votes, n = table.votes, table.votes.support
    several = n > 1
    if not several.any():
        raise InputError(f"{name} learns whom to trust from tasks with two votes or more; there are none")
    agree = np.bincount(votes.task, table.label == top[votes.task], minlength=votes.n_tasks)
    hit = float((agree[several] / n[several]).mean())
    common = np.bincount(top[several], minlength=table.n_labels).argmax()
    error = max(float((top[several] != common).mean()), MIN_WEIGHT)
    model_error = float((table.body.top(1)[0][:, 0] != top)[several].mean())
    worker = np.maximum(1 - (1 - _worker_agreement(table)) / error, MIN_WEIGHT)
    model = max(1 - model_error / error, MIN_WEIGHT) * float(np.sqrt(n[n > 0].mean()))
    return TrustWeights(worker, model, hit)


def _worker_agreement(table: CrowdlabVotes) -> Floats:
    """(n_workers,) the share of other votes on a worker's tasks that are for the same label."""
    votes = table.votes
    key = votes.task.astype(np.int64) * table.n_labels + table.label
    _, inverse, times = np.unique(key, return_inverse=True, return_counts=True)
    same, others = times[inverse] - 1.0, votes.support[votes.task] - 1
    met, agreed = (np.bincount(votes.worker, part, minlength=votes.n_workers) for part in (others, same))
    share = np.divide(agreed, met, out=np.full(votes.n_workers, np.nan), where=met > 0)
    gave = votes.workload > 0
    return np.where(np.isnan(share), share[gave & (met > 0)].mean(), share)


def _label_probabilities(model_prob: Floats, trusted: Floats, weights: TrustWeights) -> Floats:
    """(n, n_labels) q, of the classifier's numbers and the workers' weight on each label."""
    total = trusted.sum(1, keepdims=True)
    miss = (1 - weights.hit) / max(model_prob.shape[1] - 1, 1)
    said = weights.hit * trusted + miss * (total - trusted)
    return np.asarray((weights.model * model_prob + said) / (weights.model + total))
