"""Transform soft labels: harden, smooth, temperature, random, uniform, mean of several, overlay of known labels, rename.

Every function keeps the tasks of its input, all but `rename_labels` its labels, and accepts dense and sparse storage.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError, OptionError, unknown_name_error
from plurivox.core.name_encoding import as_names, as_text, positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS, Candidates, Dense, Rows


def harden(soft: SoftLabels) -> SoftLabels:
    """Return soft labels with probability 1 on the most probable label of each task; ties go to the lower label code.

    The most probable answer of people is an estimate of the truth: the result of labels that estimate people estimates truth.

    >>> harden(SoftLabels.of([[.3, .7]], ["a"], ["no", "yes"])).prob
    array([[0., 1.]])
    """
    hard = SoftLabels.one_hot(soft.most_probable_label_codes(), soft.tasks, soft.labels)
    return replace(soft, body=hard.body, estimates="truth" if soft.estimates == "people" else soft.estimates)


def rename_labels(soft: SoftLabels, new_names: Mapping[Any, Any]) -> SoftLabels:
    """Return soft labels with other label names, as text; labels that get the same name are added up.

    `new_names` maps old to new names, and labels that it does not list keep theirs. Raise UnknownName for a name that is not a
    label.

    >>> numbers = SoftLabels.of([[.2, .8]], ["a"], [0, 1])
    >>> rename_labels(numbers, {0: "cat", "1": "dog"}).labels.tolist()
    ['cat', 'dog']
    """
    if not new_names:
        return soft
    old = as_names([str(name) for name in new_names], "labels")
    place, names = positions(soft.labels, old), as_text(soft.labels).tolist()
    for name, code, new in zip(old.tolist(), place.tolist(), new_names.values(), strict=True):
        if code < 0:
            raise unknown_name_error("label", name, names)
        names[code] = str(new)
    renamed = as_names(list(dict.fromkeys(names)), "labels")
    if len(renamed) == len(names):
        return replace(soft, labels=renamed)
    merged = np.zeros((len(soft), len(renamed)))
    np.add.at(merged.T, positions(renamed, as_names(names, "labels")), soft.prob.T)
    return SoftLabels.of(merged, soft.tasks, renamed, support=soft.support, notes=soft.notes, estimates=soft.estimates)


def smooth(soft: SoftLabels, beta: float = 0.05) -> SoftLabels:
    """Return soft labels after label smoothing: (1 - beta) p + beta / K, K the number of labels.

    Szegedy et al. (2016), https://doi.org/10.1109/CVPR.2016.308

    >>> smooth(SoftLabels.gold(["a"], ["yes"], labels=["no", "yes"]), beta=0.1).prob
    array([[0.05, 0.95]])
    """
    if not 0 <= beta <= 1:
        raise OptionError(f"beta must be 0 to 1; got {beta}")
    body, even = soft.body, beta / max(soft.n_labels, 1)
    if isinstance(body, Dense):
        return replace(soft, body=Dense((1 - beta) * body.prob + even))
    mass, rest = (1 - beta) * body.mass + even, (1 - beta) * body.rest + even * body.n_unlisted_labels_per_row
    return replace(soft, body=dense_if_small(replace(body, mass=mass, rest=rest)))


def temperature_scale(soft: SoftLabels, power: float) -> SoftLabels:
    """Return soft labels p^power / sum p^power: flatter for a power below 1, sharper above 1 (temperature 1 / power).

    >>> temperature_scale(SoftLabels.of([[.2, .8]], ["a"], ["no", "yes"]), power=0.5).prob.round(3)
    array([[0.333, 0.667]])
    """
    if not 0 <= power < np.inf:
        raise OptionError(f"power must be 0 or more; got {power}")
    body, top = soft.body, soft.confidence  # (n_tasks,) divided by first, so that high powers do not underflow
    if isinstance(body, Dense):
        raised = (np.maximum(body.prob, 0) / top[:, None]) ** power
        return replace(soft, body=Dense(raised / raised.sum(1, keepdims=True)))
    mass = (np.maximum(body.mass, 0) / top[body.row_of_each_candidate]) ** power
    rest = (np.maximum(body.prob_of_each_unlisted_label, 0) / top) ** power * body.n_unlisted_labels_per_row
    total = np.bincount(body.row_of_each_candidate, mass, minlength=len(soft)) + rest
    return replace(soft, body=replace(body, mass=mass / total[body.row_of_each_candidate], rest=rest / total))


def random_soft_labels_like(soft: SoftLabels, seed: int = 0) -> SoftLabels:
    """Return random soft labels for the tasks of `soft`, as a control: uniform numbers from 0 to 1, divided by their
    sum per task.

    This is "random" in Collins et al. (2022), https://doi.org/10.1609/hcomp.v10i1.21986; it is not Dirichlet(1).

    >>> random_soft_labels_like(SoftLabels.gold(["a"], ["yes"], labels=["no", "yes"]), seed=1).prob.round(3)
    array([[0.908, 0.092]])
    """
    if len(soft) * soft.n_labels > DENSE_CELLS:
        raise InputError(f"{len(soft)} tasks x {soft.n_labels} labels are too many for one array of random numbers")
    drawn = 1 - np.random.default_rng(seed).random((len(soft), soft.n_labels))  # above 0, so that every row has a sum
    return replace(soft, body=Dense(drawn / drawn.sum(1, keepdims=True)), support=None, estimates="unknown")


def uniform_soft_labels_like(soft: SoftLabels) -> SoftLabels:
    """Return soft labels for the tasks of `soft` in which every label has the same probability.

    >>> uniform_soft_labels_like(SoftLabels.gold(["a"], ["yes"], labels=["no", "yes"])).prob
    array([[0.5, 0.5]])
    """
    n = len(soft)
    none = np.zeros(0)
    even = Candidates(np.zeros(n + 1, np.int64), none.astype(np.int64), none, np.ones(n), soft.n_labels)
    return replace(soft, body=dense_if_small(even), support=None, estimates="unknown")


def mean_of_soft_labels(soft_labels_list: Sequence[SoftLabels]) -> SoftLabels:
    """Return the mean probabilities of several SoftLabels. Raise InputError if their tasks or labels differ.

    The mean estimates what all of them estimate; unknown if they differ.

    >>> a, b = (SoftLabels.of([[p, 1 - p]], ["a"], ["no", "yes"]) for p in (.5, .9))
    >>> mean_of_soft_labels([a, b]).prob
    array([[0.7, 0.3]])
    """
    if not soft_labels_list:
        raise InputError("there is nothing to blend; give at least one SoftLabels")
    same = len({part.estimates for part in soft_labels_list}) == 1
    first = soft_labels_list[0] if same else replace(soft_labels_list[0], estimates="unknown")
    for part in soft_labels_list[1:]:
        if not np.array_equal(part.tasks, first.tasks) or not np.array_equal(part.labels, first.labels):
            raise InputError("soft labels to blend must have the same tasks and labels in the same order")
    if len(first) * first.n_labels <= DENSE_CELLS:
        total = np.zeros((len(first), first.n_labels))
        for part in soft_labels_list:
            total += part.prob
        return replace(first, body=Dense(total / len(soft_labels_list)))
    return replace(first, body=_mean_of_rows_sparse([part.body for part in soft_labels_list], first.n_labels))


def overlay(soft: SoftLabels, known: SoftLabels) -> SoftLabels:
    """Return `soft` with the distributions of tasks that are in `known` replaced by those in `known`.

    >>> soft = SoftLabels.of([[.5, .5], [.9, .1]], ["a", "b"], ["no", "yes"])
    >>> overlay(soft, SoftLabels.gold(["b"], ["yes"])).prob
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    here = known.shared(soft.tasks)
    replacement = here.on_labels(soft.labels).body
    order = np.arange(len(soft))
    order[positions(soft.tasks, here.tasks)] = len(soft) + np.arange(len(here))
    if isinstance(soft.body, Dense):
        both = np.concatenate([soft.body.prob, replacement.dense_block(slice(None))])
        return replace(soft, body=Dense(both[order]))
    listed = replacement if isinstance(replacement, Candidates) else _dense_to_sparse_rows(replacement)
    stacked = Candidates(
        np.concatenate([soft.body.start, soft.body.start[-1] + listed.start[1:]]),
        np.concatenate([soft.body.label, listed.label]),
        np.concatenate([soft.body.mass, listed.mass]),
        np.concatenate([soft.body.rest, listed.rest]),
        soft.n_labels,
    )
    return replace(soft, body=stacked.take(order))


def dense_if_small(rows: Candidates) -> Rows:
    """Convert sparse rows of probabilities to dense ones; return them unchanged if the array would
    exceed DENSE_CELLS numbers.
    """
    return Dense(rows.dense_block(slice(None))) if len(rows) * rows.n_labels <= DENSE_CELLS else rows


def _mean_of_rows_sparse(rows_list: Sequence[Rows], n_labels: int) -> Candidates:
    """Return the mean of several sets of soft-label rows as sparse rows; a row lists each label that one of the sets
    lists in it.
    """
    cells = np.unique(np.concatenate([_flat_index_of_listed_labels(part) for part in rows_list]))
    row, label = np.divmod(cells, n_labels)
    start = np.searchsorted(row, np.arange(len(rows_list[0]) + 1))
    mass = sum((_probability_at_flat_index(part, cells, row) for part in rows_list), np.zeros(len(cells))) / len(
        rows_list
    )
    each = sum(
        (part.prob_of_each_unlisted_label for part in rows_list if isinstance(part, Candidates)),
        np.zeros(len(rows_list[0])),
    ) / len(rows_list)
    return Candidates(start, label, mass, each * (n_labels - np.diff(start)), n_labels)


def _dense_to_sparse_rows(rows: Dense) -> Candidates:
    """Convert dense rows of probabilities to sparse ones that list the labels with probability above zero."""
    row, label = np.nonzero(rows.prob)
    start = np.searchsorted(row, np.arange(len(rows) + 1))
    return Candidates(start, label, rows.prob[row, label], np.zeros(len(rows)), rows.n_labels)


def _flat_index_of_listed_labels(rows: Rows) -> Ints:
    """(n_listed,) the flat index, row * n_labels + label, of each label that a sparse row lists
    (dense: above zero), increasing.
    """
    if isinstance(rows, Dense):
        return np.flatnonzero(rows.prob)
    return rows.row_of_each_candidate * rows.n_labels + rows.label.astype(np.int64)


def _probability_at_flat_index(rows: Rows, flat_index: Ints, row_of_index: Ints) -> Floats:
    """(n,) the probability at each flat index row * n_labels + label; `row_of_index` (n,) is the row of each index."""
    if isinstance(rows, Dense):
        return rows.prob.ravel()[flat_index]
    have = _flat_index_of_listed_labels(rows)
    mass = rows.prob_of_each_unlisted_label[row_of_index].astype(np.float64)
    mass[np.searchsorted(flat_index, have)] = rows.mass
    return mass
