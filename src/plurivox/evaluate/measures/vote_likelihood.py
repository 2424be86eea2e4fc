"""Likelihood of the vote counts under a prediction, and the divergence that even a perfect prediction has from few votes.

The shares of n votes are a noisy estimate of the truth. With three votes as reference a perfect model looks wrong,
so the divergence due to the sampling noise of n votes is reported beside KL divergence and cross-entropy.
"""

import numpy as np

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Rows
from plurivox.core.votes import Votes
from plurivox.evaluate.align_tasks_and_labels import (
    align_rows,
    prediction_and_truth_blocks,
    shared_task_positions,
    values_per_task,
)
from plurivox.evaluate.bootstrap_over_tasks import mean_as_task_sums
from plurivox.evaluate.measures.soft_label_measures import CLIP, kl_divergences


@takes_what_users_hold
def shares_of(votes: Votes) -> SoftLabels:
    """Return each voted task's vote shares as soft labels, with its number of votes as `support`.

    >>> shares_of(Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"], tasks=["a", "b"])).prob
    array([[0.5, 0.5]])
    """
    if not len(votes.tasks_with_votes):
        raise InputError("the votes are empty; evaluating against votes needs at least one")
    return SoftLabels.from_vote_shares(
        votes if len(votes.tasks_with_votes) == votes.n_tasks else votes.on(votes.tasks_with_votes)
    )


@takes_what_users_hold
def count_log_likelihood(prediction: SoftLabels, votes: Votes, *, clip: float = CLIP) -> float:
    """Return the mean log-likelihood per task of the vote counts, if votes were drawn from the prediction, in nats.

    log n! - sum_k log c_k! + sum_k c_k log q_k for the counts c of n votes (with the gamma function if soft answers
    give fractions of votes), q at least `clip`. Johnson, Kotz and Balakrishnan (1997), Discrete
    Multivariate Distributions, chapter 35.

    >>> votes = Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"])
    >>> round(count_log_likelihood(SoftLabels.of([[.5, .5]], ["a"], ["x", "y"]), votes), 4)
    -0.6931
    """
    from scipy.special import gammaln  # imported here because it is slow

    left, right, n = _aligned_rows_and_vote_counts(prediction, shares_of(votes))
    found, begin = [], 0
    for q, p in prediction_and_truth_blocks(left, right):
        counts = p * n[begin : begin + len(p), None]
        ways = gammaln(n[begin : begin + len(p)] + 1) - gammaln(counts + 1).sum(1)
        found.append(ways + (counts * np.log(np.maximum(q, clip))).sum(1))
        begin += len(p)
    return mean_as_task_sums(np.concatenate(found)).measure_over_all_tasks


@takes_what_users_hold
def count_deviance(prediction: SoftLabels, votes: Votes, *, clip: float = CLIP) -> float:
    """Return the mean deviance: log-likelihood of the vote counts under their own shares minus that under the prediction.

    It is the mean of n KL(shares || q) in nats, so tasks with many votes weigh more; for a perfect prediction it is about
    (K_eff - 1) / 2. See `count_log_likelihood`.

    >>> votes = Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"])
    >>> round(count_deviance(SoftLabels.of([[.2, .8]], ["a"], ["x", "y"]), votes), 4)
    0.4463
    """
    return mean_as_task_sums(deviances_of_vote_counts(prediction, shares_of(votes), clip)).measure_over_all_tasks


@takes_what_users_hold
def vote_floor(votes: Votes, prediction: SoftLabels | None = None) -> float:
    """Return the expected KL(vote shares || truth) due to sampling noise of n votes: the mean of (K_eff - 1) / (2 n) in nats.

    K_eff is the number of labels that got a vote (Miller and Madow's correction of the entropy of shares: labels without a
    vote by chance are not counted, so with few votes the true floor is higher). With a `prediction` it is exp H(q), and the
    floor is at most H(q): the divergence of that prediction if the votes were drawn from it. Add the mean entropy of the
    shares for the floor of the cross-entropy. Paninski (2003), https://doi.org/10.1162/089976603321780272

    >>> votes = Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"])
    >>> vote_floor(votes)
    0.25
    """
    return mean_as_task_sums(expected_kl_from_vote_noise_per_task(shares_of(votes), prediction)).measure_over_all_tasks


def deviances_of_vote_counts(prediction: SoftLabels, vote_shares: SoftLabels, clip: float = CLIP) -> Floats:
    """Return (n_tasks,) the deviance n KL(vote shares || prediction) of each shared task with n votes."""
    left, right, n = _aligned_rows_and_vote_counts(prediction, vote_shares)
    return n * kl_divergences(left, right, clip)


def expected_kl_from_vote_noise_per_task(vote_shares: SoftLabels, prediction: SoftLabels | None = None) -> Floats:
    """Return (n_tasks,) the expected KL(vote shares || true distribution) of each task due to its few votes, in nats."""
    left, right, n = _aligned_rows_and_vote_counts(vote_shares if prediction is None else prediction, vote_shares)
    if prediction is None:
        return (values_per_task(lambda _, p: (p > 0).sum(1), left, right) - 1) / (2 * n)
    entropy = left.entropy_per_row()
    return np.minimum((np.exp(entropy) - 1) / (2 * n), entropy)


def _aligned_rows_and_vote_counts(prediction: SoftLabels, vote_shares: SoftLabels) -> tuple[Rows, Rows, Floats]:
    """Return the rows of prediction and vote shares on their shared tasks and labels, and (n_tasks,) the number of votes."""
    if vote_shares.support is None:
        raise InputError("the vote shares have no number of votes (support)")
    return *align_rows(prediction, vote_shares), vote_shares.support[shared_task_positions(prediction, vote_shares)[1]]
