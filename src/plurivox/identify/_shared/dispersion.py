"""What several scores of tasks share: how the votes, or the soft label, of a task are spread over the labels."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Candidates, Dense
from plurivox.core.types import Floats, Names
from plurivox.core.votes import Votes
from plurivox.engine.kernels import dispersion
from plurivox.engine.threads import Blocks
from plurivox.identify._contract import Evidence

UNIT_HELP = "nats, bits, or share: of the entropy of an even row, 0 to 1"


@dataclass(frozen=True)
class Spread:
    """Of each task's shares p: the largest, the entropy in nats, the sums over labels of (p - 1/K)^2 and (p - 1/K)^4."""

    tasks: Names
    n_labels: int
    support: Floats | None  # (n_tasks,) how many answers stand behind each
    largest: Floats  # (n_tasks,)
    entropy: Floats
    second: Floats
    fourth: Floats

    def told(self, values: Floats) -> Floats:
        """The values, nan for a task that no answer stands behind."""
        return where_told(self.support, values)


def spread_of(seen: Evidence) -> Spread:
    """Of the soft labels that were given, else of the votes."""
    if seen.soft is not None:
        return spread_of_soft(seen.soft)
    assert seen.votes is not None
    return spread_of_votes(seen.votes)


def spread_of_votes(votes: Votes) -> Spread:
    """Without a table of tasks and labels: there may be very many of both."""
    out, label = np.zeros((votes.n_tasks, 4)), votes.label.astype(np.int32)

    def work(first: int, last: int) -> None:
        dispersion.vote_dispersion(first, last, votes.start, label, votes.weight, max(votes.n_labels, 1), out)

    Blocks(votes.start).map(work)
    return Spread(votes.tasks, votes.n_labels, votes.support, *out.T)


def spread_of_soft(soft: SoftLabels) -> Spread:
    """Of rows of soft labels, dense or not."""
    if isinstance(soft.body, Candidates):
        return Spread(soft.tasks, soft.n_labels, soft.support, *_of_candidates(soft.body))
    out, prob = np.zeros((len(soft), 4)), soft.body.prob
    by_rows(soft.body).map(lambda first, last: dispersion.row_dispersion(first, last, prob, out))
    return Spread(soft.tasks, soft.n_labels, soft.support, *out.T)


def by_rows(body: Dense) -> Blocks:
    """Blocks of dense rows, a cell taken for a vote."""
    return Blocks(np.arange(len(body) + 1) * body.n_labels)


def _of_candidates(rows: Candidates) -> tuple[Floats, Floats, Floats, Floats]:
    mean = 1 / max(rows.n_labels, 1)
    largest = np.where(rows.n_unlisted > 0, rows.unlisted_mass, 0.0)
    np.maximum.at(largest, rows.row, rows.mass)
    second, fourth = (_power_sums(rows, mean, power) for power in (2, 4))
    return largest, rows.entropy(), second, fourth


def _power_sums(rows: Candidates, mean: float, power: int) -> Floats:
    """(n_rows,) the sum over all labels of (p - mean)^power."""
    listed = np.bincount(rows.row, (rows.mass - mean) ** power, minlength=len(rows))
    return np.asarray(listed + rows.n_unlisted * (rows.unlisted_mass - mean) ** power, np.float64)


def where_told(support: Floats | None, values: Floats) -> Floats:
    """The values, nan for a task that no answer stands behind."""
    return values if support is None else np.where(support > 0, values, np.nan)


def in_unit(nats: Floats, unit: Literal["nats", "bits", "share"], n_labels: int) -> Floats:
    """Entropies in nats as `unit` says.

    >>> in_unit(np.array([np.log(2)]), "share", 4)
    array([0.5])
    """
    if unit == "nats":
        return nats
    return nats / (np.log(2) if unit == "bits" else np.log(max(n_labels, 2)))
