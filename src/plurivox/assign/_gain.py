"""How much an answer is expected to tell."""

import numpy as np

from plurivox.core.names import Floats

CELLS = 2**22  # numbers held at a time


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


def _entropy(p: Floats) -> Floats:
    """-p log p, and 0 where p is."""
    return -p * np.log(np.maximum(p, 1e-300))
