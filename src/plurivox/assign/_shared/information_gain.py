"""Expected information gain of a vote: the mutual information of a task's true label and the vote."""

import numpy as np

from plurivox.core.array_types import Floats

MAX_CELLS = 2**22  # numbers in memory at a time
MAX_ACCURACY = 0.95  # of the one-coin model
MIN_ABOVE_RANDOM = 0.3  # (accuracy - 1/K) / (1 - 1/K) of the one-coin model is at least this
DEFAULT_ACCURACY = 0.75  # of the one-coin model while no task has two votes


def expected_gain(posterior: Floats, confusion: Floats) -> Floats:
    """(n_tasks,) the expected decrease of each task's entropy, in nats, by one vote of a worker with this confusion matrix.

    `posterior` (n_tasks, K) is the posterior of each task, `confusion` (K, K) the worker's confusion matrix.

    gain = H(truth) + H(vote) - H(truth, vote), with p(truth, vote) = posterior[truth] confusion[truth, vote].

    >>> certain, random = np.eye(2), np.full((2, 2), 0.5)
    >>> posterior = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> expected_gain(posterior, certain).round(3), expected_gain(posterior, random).round(3)
    (array([0.693, 0.   ]), array([0., 0.]))
    """
    n, k = posterior.shape
    gain = np.empty(n)
    step = max(1, MAX_CELLS // (k * k))
    for begin in range(0, n, step):
        block = slice(begin, begin + step)
        joint = posterior[block, :, None] * confusion  # (rows, truth, vote)
        gain[block] = _minus_p_log_p(posterior[block]).sum(1) + _minus_p_log_p(joint.sum(1)).sum(1)
        gain[block] -= _minus_p_log_p(joint).sum((1, 2))
    return np.maximum(gain, 0)


def gain_of_several_votes(one_vote_gain: Floats, entropy: Floats, n_votes: float) -> Floats:
    """(n_tasks,) approximate gain, in nats, of an answer worth `n_votes` votes, given the gain of one vote and the entropy.

    An approximation in which each vote removes the same share of the remaining entropy H: H (1 - (1 - gain / H)^n_votes).
    """
    share = np.divide(one_vote_gain, entropy, out=np.zeros_like(one_vote_gain), where=entropy > 0)
    return np.asarray(entropy * (1 - (1 - np.minimum(share, 1)) ** n_votes))


def entropy_per_task(posterior: Floats) -> Floats:
    """(n_tasks,) the entropy of each task's posterior (n_tasks, K), in nats."""
    return np.asarray(_minus_p_log_p(posterior).sum(1))


def shrink_confusion_towards_mean(matrices: Floats, votes_per_worker: Floats, weight_of_mean_in_votes: float) -> Floats:
    """(n_workers, K, K) each worker's confusion matrix, shrunk towards the mean of all workers if the worker has few votes.

    The matrix of a worker with n votes has weight n / (n + `weight_of_mean_in_votes`), the mean matrix the rest.
    """
    weight = (votes_per_worker / np.maximum(votes_per_worker + weight_of_mean_in_votes, 1e-12))[:, None, None]
    mean = np.average(matrices, axis=0, weights=votes_per_worker) if (votes_per_worker > 0).any() else matrices.mean(0)
    return np.asarray(weight * matrices + (1 - weight) * mean)


def one_coin_posterior_and_confusion(vote_counts: Floats, squared_weight_sums: Floats) -> tuple[Floats, Floats]:
    """Fit one accuracy for all workers from their agreement: return ((n_tasks, K) posterior, (K, K) confusion matrix).

    Two workers who are right with probability a, and otherwise choose each wrong label with equal probability, agree with
    probability a^2 + (1 - a)^2 / (K - 1); a follows from the share of pairs of votes that agree. `vote_counts` (n_tasks, K) is
    the weight of the votes for each label, `squared_weight_sums` (n_tasks,) the sum of the squared weights of single answers.

    >>> posterior, confusion = one_coin_posterior_and_confusion(np.array([[2.0, 0], [1, 1]]), np.array([2.0, 2]))
    >>> confusion.round(2).tolist(), posterior.round(2).tolist()
    ([[0.65, 0.35], [0.35, 0.65]], [[0.78, 0.22], [0.5, 0.5]])
    """
    k, n = vote_counts.shape[1], vote_counts.sum(1)
    pairs = np.maximum(n * n - n, 0)[n > 1].sum()
    agree = ((vote_counts**2).sum(1) - squared_weight_sums)[n > 1].sum()
    accuracy = DEFAULT_ACCURACY if not pairs else 1 / k + np.sqrt(max(agree / pairs - 1 / k, 0) * (k - 1) / k)
    accuracy = float(np.clip(accuracy, 1 / k + MIN_ABOVE_RANDOM * (1 - 1 / k), MAX_ACCURACY))
    confusion = np.full((k, k), (1 - accuracy) / (k - 1)) + np.eye(k) * (accuracy - (1 - accuracy) / (k - 1))
    logs = vote_counts @ np.log(confusion)  # (n_tasks, truth)
    posterior = np.exp(logs - logs.max(1, keepdims=True))
    return posterior / posterior.sum(1, keepdims=True), confusion


def _minus_p_log_p(probability: Floats) -> Floats:
    """Return -p log p of each probability p, elementwise; 0 for p = 0."""
    return -probability * np.log(np.maximum(probability, 1e-300))
