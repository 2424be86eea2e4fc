"""Dispersion of tasks: the spread of a task's votes, or of its soft label, over the labels."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from plurivox.core.array_types import Floats, Names
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates, Dense
from plurivox.core.votes import Votes
from plurivox.engine.kernels import entropy_moments_distances
from plurivox.engine.parallel_task_blocks import Blocks
from plurivox.identify._contract import Evidence
from plurivox.identify._shared.crowd_agreement_coefficients import votes_of_different_people

UNIT_HELP = "nats, bits, or the share (0 to 1) of the largest possible entropy"


@dataclass(frozen=True)
class Dispersion:
    """Per task, of its label shares p: the largest share, the entropy in nats, and the sums of (p - 1/K)^2 and (p - 1/K)^4."""

    tasks: Names
    n_labels: int
    support: Floats | None  # (n_tasks,) number of answers of each task
    largest: Floats  # (n_tasks,)
    entropy: Floats
    second: Floats
    fourth: Floats

    def nan_for_tasks_without_answers(self, values: Floats) -> Floats:
        """Return the values (n_tasks,) with nan for tasks without answers."""
        return nan_for_tasks_without_answers(self.support, values)


def dispersion_of_soft_labels_or_votes(evidence: Evidence, repeated: str) -> Dispersion:
    """Return the dispersion (largest share, entropy, moments) of each task's soft label, else of its votes.

    Of a worker's repeated answers to a task the first counts (`repeated` = first), or all do (all).
    """
    if evidence.soft is not None:
        return dispersion_of_soft_labels(evidence.soft)
    assert evidence.votes is not None
    return dispersion_of_vote_shares(votes_of_different_people(evidence.votes, repeated))


def dispersion_of_vote_shares(votes: Votes) -> Dispersion:
    """Return the dispersion (largest share, entropy, moments) of the vote shares of each task."""
    out, label, weight = np.zeros((votes.n_tasks, 4)), votes.label.astype(np.int32), votes.weight
    if votes.answer is not None and weight is not None:  # sums with the same bits whoever gave which of the answers
        order = np.lexsort((weight, votes.task))
        label, weight = label[order], weight[order]

    def fill_dispersion_of_task_range(first_task: int, end_task: int) -> None:
        """Write the dispersion of the votes of tasks first_task:end_task to `out`."""
        entropy_moments_distances.fill_vote_max_entropy_and_moments(
            first_task, end_task, votes.row_offsets_by_task, label, weight, max(votes.n_labels, 1), out
        )

    Blocks(votes.row_offsets_by_task).map_over_task_blocks(fill_dispersion_of_task_range)
    return Dispersion(votes.tasks, votes.n_labels, votes.support, *out.T)


def dispersion_of_soft_labels(soft: SoftLabels) -> Dispersion:
    """Return the dispersion (largest probability, entropy, moments) of each task's soft label."""
    if isinstance(soft.body, Candidates):
        return Dispersion(soft.tasks, soft.n_labels, soft.support, *_top_share_entropy_2nd_4th_moments(soft.body))
    out, prob = np.zeros((len(soft), 4)), soft.body.prob
    dense_row_thread_blocks(soft.body).map_over_task_blocks(
        lambda first, last: entropy_moments_distances.fill_max_entropy_and_moments(first, last, prob, out)
    )
    return Dispersion(soft.tasks, soft.n_labels, soft.support, *out.T)


def dense_row_thread_blocks(dense: Dense) -> Blocks:
    """Return the division of dense rows into blocks for threads, with about as many numbers in each."""
    return Blocks(np.arange(len(dense) + 1) * dense.n_labels)


def _top_share_entropy_2nd_4th_moments(rows: Candidates) -> tuple[Floats, Floats, Floats, Floats]:
    """Return (largest, entropy, second, fourth) of `Dispersion` for rows stored as candidates plus rest mass."""
    mean = 1 / max(rows.n_labels, 1)
    largest = np.where(rows.n_unlisted_labels_per_row > 0, rows.prob_of_each_unlisted_label, 0.0)
    np.maximum.at(largest, rows.row_of_each_candidate, rows.mass)
    second, fourth = (_central_power_sums(rows, mean, power) for power in (2, 4))
    return largest, rows.entropy_per_row(), second, fourth


def _central_power_sums(rows: Candidates, mean: float, power: int) -> Floats:
    """Return (n_rows,) the sum of (p - mean)^power over the probabilities p of all labels of each row."""
    listed = rows.sum_candidates_in_order_of_size((rows.mass - mean) ** power)
    return np.asarray(
        listed + rows.n_unlisted_labels_per_row * (rows.prob_of_each_unlisted_label - mean) ** power, np.float64
    )


def nan_for_tasks_without_answers(support: Floats | None, values: Floats) -> Floats:
    """Return the values (n_tasks,) with nan for tasks without answers (`support` 0)."""
    return values if support is None else np.where(support > 0, values, np.nan)


def convert_entropy(nats: Floats, unit: Literal["nats", "bits", "share"], n_labels: int) -> Floats:
    """Return entropies in nats converted to `unit`; "share" divides by the largest possible entropy.

    >>> convert_entropy(np.array([np.log(2)]), "share", 4)
    array([0.5])
    """
    if unit == "nats":
        return nats
    return nats / (np.log(2) if unit == "bits" else np.log(max(n_labels, 2)))
