"""Pairs of labels that are voted for on the same task, the most used labels with the rest as "other", and their order."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.name_encoding import positions
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class LabelGroups:
    """Labels of their own, and a last group of all others if there are many."""

    labels: Names  # (n_labels,)
    group: Ints  # (n_labels,) group of each label
    n_groups: int
    n_other: int  # labels in the last group; 0: every label is a group

    def sums(self, per_label: Floats) -> Floats:
        """(n_groups,) the sums of numbers per label."""
        return np.bincount(self.group, per_label, minlength=self.n_groups).astype(np.float64)

    def names(self) -> list[str]:
        """Return the name of each group."""
        own = [""] * self.n_groups
        for name, group in zip(self.labels.tolist(), self.group.tolist(), strict=True):
            own[group] = str(name)
        return own if not self.n_other else [*own[:-1], f"other ({self.n_other:,} labels)"]


def most_used_labels(labels: Names, use: Floats, limit: int) -> LabelGroups:
    """Return the `limit` most used labels as groups of their own, most used first, and the rest as the last group.

    >>> from plurivox.core.name_encoding import as_names
    >>> groups = most_used_labels(as_names(["a", "b", "c", "d"]), np.array([1.0, 5.0, 2.0, 0.0]), 2)
    >>> groups.group.tolist(), groups.names()
    ([2, 0, 1, 2], ['b', 'c', 'other (2 labels)'])
    """
    n_own = limit if len(labels) > limit + 1 else len(labels)
    group = np.full(len(labels), n_own)
    group[np.argsort(-use, kind="stable")[:n_own]] = np.arange(n_own)
    n_other = len(labels) - n_own
    return LabelGroups(labels, group, n_own + (n_other > 0), n_other)


@dataclass(frozen=True)
class PairsOfVotes:
    """How often two votes on the same task are for two different labels; every vote counts the same."""

    shares: (
        Floats  # (n_groups, n_groups) symmetric: of the pairs that differ, the share of each unordered pair of labels
    )
    differing: float  # share of all pairs that differ; nan if no task has two votes


def pairs_of_votes(votes: Votes, groups: LabelGroups) -> PairsOfVotes:
    """Return the pairs of votes on the same task, each weighed by 1 / (n - 1), n the number of votes of the task.

    These are the coincidences of Krippendorff's alpha. Two labels of one soft answer are not a pair.
    """
    n = votes.support
    scale = np.where(n > 1, 1 / np.maximum(n - 1, 1), 0.0)
    counts = _table(votes.task, votes, votes.n_tasks)
    coincidences = counts.T @ diags_array(scale) @ counts
    if votes.answer is not None:
        answers, row = np.unique(votes.answer, return_inverse=True)
        own = _table(row, votes, len(answers))
        task_of_answer = np.zeros(len(answers), np.int64)
        task_of_answer[row] = votes.task
        coincidences = coincidences - own.T @ diags_array(scale[task_of_answer]) @ own
    pairs = coincidences.tocoo()
    apart = pairs.row != pairs.col
    place = positions(groups.labels, votes.labels)
    cell = groups.group[place[pairs.row[apart]]] * groups.n_groups + groups.group[place[pairs.col[apart]]]
    sums = np.bincount(cell, np.maximum(pairs.data[apart], 0), minlength=groups.n_groups**2)
    table = sums.reshape(groups.n_groups, groups.n_groups).astype(np.float64)
    total, differing = float(n[n > 1].sum()), float(table.sum())
    shares = (table + table.T) / differing if differing else table
    shares[np.diag_indices_from(shares)] /= 2
    return PairsOfVotes(shares, differing / total if total else np.nan)


def order_by_confusion(shares: Floats) -> Ints:
    """Return an order of labels in which those that are confused are near each other: optimal leaves of average linkage.

    The similarity of two labels is their share of pairs, divided by the geometric mean of all shares of each.

    >>> order_by_confusion(np.array([[0, 0, 0.8, 0], [0, 0, 0, 0.2], [0.8, 0, 0, 0], [0, 0.2, 0, 0]])).tolist()
    [0, 2, 3, 1]
    """
    if len(shares) < 3:
        return np.arange(len(shares))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    total = np.sqrt(np.maximum(shares.sum(1), 1e-12))
    distance = 1 - np.clip(shares / total[:, None] / total, 0, 1)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform((distance + distance.T) / 2, checks=False), "average", optimal_ordering=True)
    order = leaves_list(tree).astype(np.int64)
    return order if order[: len(order) // 2].mean() <= order.mean() else order[::-1]


def _table(row: Ints, votes: Votes, n_rows: int) -> csr_array:
    """(n_rows, n_labels) the weights of the votes, sparse."""
    return csr_array((votes.weights, (row, votes.label.astype(np.int64))), shape=(n_rows, votes.n_labels))
