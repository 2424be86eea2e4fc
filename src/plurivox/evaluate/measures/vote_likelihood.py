"""A prediction against the votes themselves, and how far even a perfect prediction must be from few of them.

The shares of n votes are no truth: they scatter around it. A reference of three votes makes a perfect model look wrong,
so what n votes alone leave open stands beside every divergence.
"""

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Rows
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.evaluate.alignment import blocks, each, meet, places
from plurivox.evaluate.measures.soft import CLIP, relative_entropies
from plurivox.evaluate.resampling import mean


def shares_of(votes: Votes) -> SoftLabels:
    """The vote shares of the tasks that have a vote, with the number of votes as their support.

    >>> shares_of(Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"], tasks=["a", "b"])).prob
    array([[0.5, 0.5]])
    """
    if not len(votes.voted):
        raise InputError("there are no votes to compare with")
    return SoftLabels.of_votes(votes if len(votes.voted) == votes.n_tasks else votes.on(votes.voted))


def count_log_likelihood(prediction: SoftLabels, votes: Votes, *, clip: float = CLIP) -> float:
    """The mean over tasks of the log chance of their vote counts when every vote is drawn from the prediction, in nats.

    log n! - sum_k log c_k! + sum_k c_k log q_k for the counts c of n votes (with the gamma function where soft answers
    give parts of votes), q at least `clip`. Johnson, Kotz and Balakrishnan (1997), Discrete
    Multivariate Distributions, chapter 35.

    >>> votes = Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"])
    >>> round(count_log_likelihood(SoftLabels.of([[.5, .5]], ["a"], ["x", "y"]), votes), 4)
    -0.6931
    """
    from scipy.special import gammaln  # here: it takes a while to import

    left, right, n = _met(prediction, shares_of(votes))
    found, begin = [], 0
    for q, p in blocks(left, right):
        counts = p * n[begin : begin + len(p), None]
        ways = gammaln(n[begin : begin + len(p)] + 1) - gammaln(counts + 1).sum(1)
        found.append(ways + (counts * np.log(np.maximum(q, clip))).sum(1))
        begin += len(p)
    return mean(np.concatenate(found)).value


def count_deviance(prediction: SoftLabels, votes: Votes, *, clip: float = CLIP) -> float:
    """What the prediction loses on the counts: their log likelihood under their own shares less that under the prediction.

    It is the mean of n KL(shares || q) in nats, so a task with many votes weighs more; of a perfect prediction it is about
    (K_eff - 1) / 2. See `count_log_likelihood`.

    >>> votes = Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"])
    >>> round(count_deviance(SoftLabels.of([[.2, .8]], ["a"], ["x", "y"]), votes), 4)
    0.4463
    """
    return mean(count_deviances(prediction, shares_of(votes), clip)).value


def vote_floor(votes: Votes, prediction: SoftLabels | None = None) -> float:
    """The KL(shares || truth) that the scatter of n votes gives by itself: the mean of (K_eff - 1) / (2 n) in nats.

    K_eff is the number of labels that got a vote (Miller and Madow's correction of the entropy of shares: labels that could
    have got one are not seen, so with few votes the floor lies higher). With a `prediction` it is exp H(q), and the floor is at
    most H(q): what that prediction would score if the votes were drawn from it. Add the mean entropy of the shares for the
    floor of the cross-entropy. Paninski (2003), https://doi.org/10.1162/089976603321780272

    >>> votes = Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"])
    >>> vote_floor(votes)
    0.25
    """
    return mean(floors(shares_of(votes), prediction)).value


def count_deviances(prediction: SoftLabels, shares: SoftLabels, clip: float = CLIP) -> Floats:
    """(n_tasks,) n KL(shares || q) of the tasks that both have."""
    left, right, n = _met(prediction, shares)
    return n * relative_entropies(left, right, clip)


def floors(shares: SoftLabels, prediction: SoftLabels | None = None) -> Floats:
    """(n_tasks,) see `vote_floor`."""
    left, right, n = _met(shares if prediction is None else prediction, shares)
    if prediction is None:
        return (each(lambda _, p: (p > 0).sum(1), left, right) - 1) / (2 * n)
    entropy = left.entropy()
    return np.minimum((np.exp(entropy) - 1) / (2 * n), entropy)


def _met(prediction: SoftLabels, shares: SoftLabels) -> tuple[Rows, Rows, Floats]:
    """The rows of both where they meet, and how many votes stand behind each."""
    if shares.support is None:
        raise InputError("vote shares must say how many votes stand behind them")
    return *meet(prediction, shares), shares.support[places(prediction, shares)[1]]
