"""How much an answer is expected to tell."""

import numpy as np

from plurivox.core.types import Floats

CELLS = 2**22  # numbers held at a time
SURE, UNSURE = 0.95, 0.3  # how often the right label is told at most, and at least above chance as a share of the rest
GUESSED = 0.75  # the same before two people have said something about one task


def expected_gain(belief: Floats, channel: Floats) -> Floats:
    """(n,) the expected fall of entropy, in nats, by one vote of a worker: the mutual information of truth and vote.

    gain = H(belief) + H(said) - H(truth, said), with p(truth, said) = belief[truth] channel[truth, said].

    >>> certain, guess = np.eye(2), np.full((2, 2), 0.5)
    >>> belief = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> expected_gain(belief, certain).round(3), expected_gain(belief, guess).round(3)
    (array([0.693, 0.   ]), array([0., 0.]))
    """
    n, k = belief.shape
    told = np.empty(n)
    step = max(1, CELLS // (k * k))
    for begin in range(0, n, step):
        part = slice(begin, begin + step)
        joint = belief[part, :, None] * channel  # (rows, truth, said)
        told[part] = _entropy(belief[part]).sum(1) + _entropy(joint.sum(1)).sum(1) - _entropy(joint).sum((1, 2))
    return np.maximum(told, 0)


def several(gain: Floats, uncertainty: Floats, worth: float) -> Floats:
    """(n,) the gain of an answer worth several votes: each of them removes the same share of what is left.

    An approximation: H (1 - (1 - gain / H)^worth).
    """
    share = np.divide(gain, uncertainty, out=np.zeros_like(gain), where=uncertainty > 0)
    return np.asarray(uncertainty * (1 - (1 - np.minimum(share, 1)) ** worth))


def uncertainty_of(belief: Floats) -> Floats:
    """(n,) entropy in nats."""
    return np.asarray(_entropy(belief).sum(1))


def channels(matrices: Floats, n_votes: Floats, strength: float) -> Floats:
    """(n_workers, K, K) how each worker is expected to answer: few votes are drawn to the mean of the crowd.

    Known from n votes, a matrix counts n / (n + strength), the mean of the crowd's matrices the rest.
    """
    weight = (n_votes / np.maximum(n_votes + strength, 1e-12))[:, None, None]
    seen = n_votes > 0
    mean = np.average(matrices, axis=0, weights=n_votes) if seen.any() else matrices.mean(0)
    return np.asarray(weight * matrices + (1 - weight) * mean)


def one_coin(counts: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """(n_tasks, K) beliefs and a (K, K) channel of a crowd of whom only the agreement is known.

    Two who are right with probability a, and else say any other label, agree with probability a^2 + (1 - a)^2 / (K - 1);
    a is read off the share of pairs that agree. `counts` (n_tasks, K) is the weight on each label, `squares` (n_tasks,)
    the sum of the squared weights of single answers.

    >>> belief, channel = one_coin(np.array([[2.0, 0], [1, 1]]), np.array([2.0, 2]))
    >>> channel.round(2).tolist(), belief.round(2).tolist()
    ([[0.65, 0.35], [0.35, 0.65]], [[0.78, 0.22], [0.5, 0.5]])
    """
    k, n = counts.shape[1], counts.sum(1)
    pairs = np.maximum(n * n - n, 0)[n > 1].sum()
    agree = ((counts**2).sum(1) - squares)[n > 1].sum()
    right = GUESSED if not pairs else 1 / k + np.sqrt(max(agree / pairs - 1 / k, 0) * (k - 1) / k)
    right = float(np.clip(right, 1 / k + UNSURE * (1 - 1 / k), SURE))
    channel = np.full((k, k), (1 - right) / (k - 1)) + np.eye(k) * (right - (1 - right) / (k - 1))
    logs = counts @ np.log(channel)  # (n_tasks, truth)
    belief = np.exp(logs - logs.max(1, keepdims=True))
    return belief / belief.sum(1, keepdims=True), channel


def _entropy(p: Floats) -> Floats:
    """-p log p, and 0 where p is."""
    return -p * np.log(np.maximum(p, 1e-300))
