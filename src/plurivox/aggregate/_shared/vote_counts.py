"""What the counting methods share."""

import numpy as np

from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Candidates, Dense
from plurivox.core.types import Floats
from plurivox.core.votes import Votes


def prior(votes: Votes) -> Floats:
    """(n_labels,) the share of all votes each label got; even where there are none."""
    total = np.bincount(votes.label, votes.weight, minlength=votes.n_labels).astype(np.float64)
    return total / total.sum() if total.sum() > 0 else np.full(votes.n_labels, 1 / votes.n_labels)


def shares(votes: Votes) -> SoftLabels:
    """The votes of each task divided by their number; tasks without a vote get the prior."""
    return fill_unseen(votes, SoftLabels.of_votes(votes).body)


def fill_unseen(votes: Votes, body: Dense | Candidates) -> SoftLabels:
    """Soft labels for the tasks of `votes`; a task nobody voted on gets the prior and a support of 0."""
    unseen = np.flatnonzero(votes.support == 0)
    if len(unseen) and isinstance(body, Dense):  # among very many labels it stays even, to spare memory
        prob = body.prob.copy()
        prob[unseen] = prior(votes)
        body = Dense(prob)
    return SoftLabels(body, votes.tasks, votes.labels, votes.support, votes.scale)
