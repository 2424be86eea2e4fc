"""What several scores of tasks share: soft labels to look at, and which of them rest on nothing."""

from typing import Literal

import numpy as np

from plurivox.core.labels import SoftLabels
from plurivox.core.names import Floats
from plurivox.core.rows import DENSE_CELLS
from plurivox.core.votes import Votes
from plurivox.identify._contract import Evidence

Unit = Literal["nats", "bits", "share"]
UNIT_HELP = "nats, bits, or share: of the entropy of an even row, 0 to 1"


def beliefs(seen: Evidence) -> SoftLabels:
    """The soft labels that were given, else the shares of the votes."""
    if seen.soft is not None:
        return seen.soft
    assert seen.votes is not None
    return vote_shares(seen.votes)


def vote_shares(votes: Votes) -> SoftLabels:
    """The share of a task's votes that each label got; few labels a row where the table would be large."""
    many = votes.n_tasks * votes.n_labels > DENSE_CELLS
    counts = votes.tally() if many else votes.counts()
    return SoftLabels.shares(counts, votes.tasks, votes.labels, support=votes.support)


def where_told(soft: SoftLabels, values: Floats) -> Floats:
    """The values, nan for a task that no answer stands behind."""
    return values if soft.support is None else np.where(soft.support > 0, values, np.nan)


def in_unit(nats: Floats, unit: Unit, n_labels: int) -> Floats:
    """Entropies in nats as `unit` says.

    >>> in_unit(np.array([np.log(2)]), "share", 4)
    array([0.5])
    """
    if unit == "nats":
        return nats
    return nats / (np.log(2) if unit == "bits" else np.log(max(n_labels, 2)))
