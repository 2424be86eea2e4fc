"""Vote shares of each task and of all votes together, used by several aggregation methods."""

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates, Dense
from plurivox.core.votes import Votes


def overall_vote_shares(votes: Votes) -> Floats:
    """(n_labels,) the share of each label among all votes; uniform if there are no votes."""
    total = np.bincount(votes.label, votes.weight, minlength=votes.n_labels).astype(np.float64)
    return total / total.sum() if total.sum() > 0 else np.full(votes.n_labels, 1 / votes.n_labels)


def vote_shares_per_task(votes: Votes) -> SoftLabels:
    """Return soft labels with the vote shares of each task; a task without votes gets the label shares of all votes."""
    return soft_labels_unvoted_get_overall_shares(votes, SoftLabels.from_vote_shares(votes).body)


def soft_labels_unvoted_get_overall_shares(votes: Votes, task_shares: Dense | Candidates) -> SoftLabels:
    """Return `task_shares` as soft labels; if they are dense, tasks without votes get the label shares of all votes."""
    unvoted = np.flatnonzero(votes.support == 0)
    if len(unvoted) and isinstance(task_shares, Dense):  # sparse rows stay uniform, to save memory
        prob = task_shares.prob.copy()
        prob[unvoted] = overall_vote_shares(votes)
        task_shares = Dense(prob)
    return SoftLabels(task_shares, votes.tasks, votes.labels, votes.support, votes.scale)
