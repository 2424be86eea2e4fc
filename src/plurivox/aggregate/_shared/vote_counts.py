"""Vote shares per task and over all tasks, shared by methods that count votes."""

import numpy as np

from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates, Dense
from plurivox.core.types import Floats
from plurivox.core.votes import Votes


def overall_shares(votes: Votes) -> Floats:
    """(n_labels,) the share of each label among all votes; uniform if there are no votes."""
    total = np.bincount(votes.label, votes.weight, minlength=votes.n_labels).astype(np.float64)
    return total / total.sum() if total.sum() > 0 else np.full(votes.n_labels, 1 / votes.n_labels)


def vote_shares(votes: Votes) -> SoftLabels:
    """Return the vote shares of each task; a task without votes gets the shares of all votes."""
    return fill_unvoted(votes, SoftLabels.of_votes(votes).body)


def fill_unvoted(votes: Votes, body: Dense | Candidates) -> SoftLabels:
    """Return `body` as soft labels of the tasks of `votes`; tasks without votes get the shares of all votes and support 0."""
    unvoted = np.flatnonzero(votes.support == 0)
    if len(unvoted) and isinstance(body, Dense):  # sparse rows stay uniform, to save memory
        prob = body.prob.copy()
        prob[unvoted] = overall_shares(votes)
        body = Dense(prob)
    return SoftLabels(body, votes.tasks, votes.labels, votes.support, votes.scale)
