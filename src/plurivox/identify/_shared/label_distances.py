"""Distances between labels: those of the kappa weights none, linear, quadratic and ordinal, and of sets of labels."""

from typing import Literal

import numpy as np
from scipy import sparse

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names
from plurivox.core.votes import Votes

Weights = Literal["none", "linear", "quadratic", "ordinal"]
WEIGHTS_HELP = (
    "weight of a disagreement: 1 (none), or by the distance of the two labels: linear, quadratic (squared), or ordinal "
    "(by the number of labels between them)"
)
MAX_LABELS = 5000  # with distances, which are a (n_labels, n_labels) table


def label_distances_or_none(votes: Votes, weights: str, method_name: str) -> Floats | None:
    """Return (n_labels, n_labels) the distances of the labels, from 0 to 1; None if weights = none.

    linear: the distance d of their positions; quadratic: d^2; ordinal: r (r + 1) / 2 with r the difference of their ranks;
    each divided by the largest. Raise InputError if the labels have no order. Gwet (2014), Handbook of Inter-Rater
    Reliability, 4th edition, chapter 3.
    """
    if weights == "none":
        return None
    position = label_positions_or_error(votes, weights, method_name)
    check_number_of_labels_with_distances(votes.n_labels, method_name)
    apart = np.abs(position[:, None] - position)
    distance = apart**2 if weights == "quadratic" else apart * (apart + 1) / 2 if weights == "ordinal" else apart
    return np.asarray(distance / max(float(distance.max(initial=0)), 1e-300))


def label_positions_or_error(votes: Votes, weights: str, method_name: str) -> Floats:
    """Return (n_labels,) the position of each label on its scale, or its rank for weights = ordinal.

    Raise InputError if the labels have no order.
    """
    if votes.scale is None:
        raise InputError(
            f"{method_name}: labels have no order, so weights cannot be {weights}; declare an order "
            "(ordered), or use weights=none"
        )
    return ranks_on_scale(votes.scale) if weights == "ordinal" else votes.scale


def ranks_on_scale(scale: Floats) -> Floats:
    """Return (n_labels,) the ranks 0, 1, 2, ... of the labels on their scale; equal positions share a rank."""
    return np.unique(scale, return_inverse=True)[1].astype(np.float64)


def check_number_of_labels_with_distances(n_labels: int, method_name: str) -> None:
    """Raise InputError if a table of the distances of all pairs of labels would be too large."""
    if n_labels > MAX_LABELS:
        raise InputError(
            f"{method_name}: distances between labels are limited to {MAX_LABELS:,} labels; got {n_labels:,}"
        )


# ---- sets of labels


def votes_for_label_sets(votes: Votes, method_name: str) -> tuple[Votes, Floats]:
    """Return votes whose labels are the distinct sets of labels, and (n_sets, n_labels) which labels are in each set.

    The set of an answer is the labels of its rows with a weight above 0; a vote without answer number is a set of one label.
    The weight of an answer is 1, that of a count without a name is the count.
    """
    rows = votes.where(votes.weights > 0)
    answer = np.arange(len(rows)) if rows.answer is None else np.unique(rows.answer, return_inverse=True)[1]
    first = np.unique(answer, return_index=True)[1]
    by_answer = np.lexsort((rows.label, answer))
    members = [
        tuple(labels.tolist())
        for labels in np.split(rows.label[by_answer], np.flatnonzero(np.diff(answer[by_answer])) + 1)
    ]
    code_of_set = {members_of_set: code for code, members_of_set in enumerate(sorted(set(members)))}
    check_number_of_labels_with_distances(len(code_of_set), method_name)
    in_set = np.zeros((len(code_of_set), votes.n_labels))
    for members_of_set, code in code_of_set.items():
        in_set[code, list(members_of_set)] = 1
    unnamed = rows.worker[first] < 0
    made = Votes.coded(
        task=rows.task[first],
        worker=rows.worker[first],
        label=np.array([code_of_set[one] for one in members], np.int64),
        tasks=rows.tasks,
        workers=rows.workers,
        labels=as_names(np.arange(len(code_of_set)).tolist()),
        weight=np.where(unnamed, rows.weights[first], 1.0) if unnamed.any() else None,
    )
    return made, in_set


def set_distances(in_set: Floats, kind: str) -> Floats:
    """Return (n_sets, n_sets) the Jaccard or MASI distances of sets of labels, given (n_sets, n_labels) their members.

    jaccard: 1 - |A & B| / |A | B|. masi: 1 - m |A & B| / |A | B|, with m = 1 if the sets are equal, 2/3 if one is part of
    the other, 1/3 if they overlap otherwise, 0 if they have nothing in common. Passonneau (2006), Measuring agreement on
    set-valued items (MASI) for semantic and pragmatic annotation, LREC.

    >>> set_distances(np.array([[1.0, 0], [1, 1]]), "masi").round(3)
    array([[0.   , 0.667],
           [0.667, 0.   ]])
    """
    sparse_sets = sparse.csr_array(in_set)
    common, size = (sparse_sets @ sparse_sets.T).toarray(), in_set.sum(1)
    jaccard = common / np.maximum(size[:, None] + size - common, 1)
    if kind == "jaccard":
        return np.asarray(1 - jaccard)
    smaller = np.minimum(size[:, None], size)
    equal = (common == size[:, None]) & (common == size)
    likeness = np.where(equal, 1, np.where(common == smaller, 2 / 3, np.where(common > 0, 1 / 3, 0)))
    return np.asarray(1 - jaccard * likeness)
