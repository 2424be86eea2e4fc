"""Soft labels made from others: hard, smooth, tempered, random, uniform, the mean of several, some told.

Every function answers for the tasks and labels of what it is given, dense or sparse alike.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import DENSE_CELLS, Candidates, Dense, Rows
from plurivox.core.types import Floats, Ints


def harden(soft: SoftLabels) -> SoftLabels:
    """All mass on the most probable label; ties go to the earlier one.

    >>> harden(SoftLabels.of([[.3, .7]], ["a"], ["no", "yes"])).prob
    array([[0., 1.]])
    """
    hard = SoftLabels.one_hot(soft.codes(), soft.tasks, soft.labels)
    return replace(soft, body=hard.body)


def smooth(soft: SoftLabels, beta: float = 0.05) -> SoftLabels:
    """Label smoothing: (1 - beta) p + beta / K, over all K labels.

    Szegedy et al. (2016), https://doi.org/10.1109/CVPR.2016.308

    >>> smooth(SoftLabels.gold(["a"], ["yes"], labels=["no", "yes"]), beta=0.1).prob
    array([[0.05, 0.95]])
    """
    if not 0 <= beta <= 1:
        raise OptionError(f"beta must be 0 to 1; got {beta}")
    body, even = soft.body, beta / max(soft.n_labels, 1)
    if isinstance(body, Dense):
        return replace(soft, body=Dense((1 - beta) * body.prob + even))
    mass, rest = (1 - beta) * body.mass + even, (1 - beta) * body.rest + even * body.others
    return replace(soft, body=dense_if_small(replace(body, mass=mass, rest=rest)))


def temperature_scale(soft: SoftLabels, power: float) -> SoftLabels:
    """A power of the probabilities, p^power / sum p^power: below 1 more even, above 1 more certain.

    >>> temperature_scale(SoftLabels.of([[.2, .8]], ["a"], ["no", "yes"]), power=0.5).prob.round(3)
    array([[0.333, 0.667]])
    """
    if not 0 <= power < np.inf:
        raise OptionError(f"power must be 0 or more; got {power}")
    body, top = soft.body, soft.confidence  # (n_tasks,) divided by first, so that high powers do not underflow
    if isinstance(body, Dense):
        raised = (np.maximum(body.prob, 0) / top[:, None]) ** power
        return replace(soft, body=Dense(raised / raised.sum(1, keepdims=True)))
    mass = (np.maximum(body.mass, 0) / top[body.row]) ** power
    rest = (np.maximum(body.each, 0) / top) ** power * body.others
    total = np.bincount(body.row, mass, minlength=len(soft)) + rest
    return replace(soft, body=replace(body, mass=mass / total[body.row], rest=rest / total))


def random_labels(soft: SoftLabels, seed: int = 0) -> SoftLabels:
    """Numbers drawn evenly from 0 to 1 for each label, divided by their sum: a control that knows nothing.

    This is the "random" of Collins et al. (2022), https://doi.org/10.1609/hcomp.v10i1.21986; it is no Dirichlet(1).

    >>> random_labels(SoftLabels.gold(["a"], ["yes"], labels=["no", "yes"]), seed=1).prob.round(3)
    array([[0.908, 0.092]])
    """
    if len(soft) * soft.n_labels > DENSE_CELLS:
        raise InputError(f"{len(soft)} tasks x {soft.n_labels} labels are too many random numbers for one table")
    drawn = 1 - np.random.default_rng(seed).random((len(soft), soft.n_labels))  # above 0, so that every row has a sum
    return replace(soft, body=Dense(drawn / drawn.sum(1, keepdims=True)), support=None)


def uniform(soft: SoftLabels) -> SoftLabels:
    """The same mass on every label.

    >>> uniform(SoftLabels.gold(["a"], ["yes"], labels=["no", "yes"])).prob
    array([[0.5, 0.5]])
    """
    n = len(soft)
    none = np.zeros(0)
    even = Candidates(np.zeros(n + 1, np.int64), none.astype(np.int64), none, np.ones(n), soft.n_labels)
    return replace(soft, body=dense_if_small(even), support=None)


def blend(parts: Sequence[SoftLabels]) -> SoftLabels:
    """The plain mean of several soft labels of the same tasks and labels.

    >>> a, b = (SoftLabels.of([[p, 1 - p]], ["a"], ["no", "yes"]) for p in (.5, .9))
    >>> blend([a, b]).prob
    array([[0.7, 0.3]])
    """
    if not parts:
        raise InputError("there is nothing to blend; give at least one part")
    first = parts[0]
    for part in parts[1:]:
        if not np.array_equal(part.tasks, first.tasks) or not np.array_equal(part.labels, first.labels):
            raise InputError("the parts of a blend must have the same tasks and labels in the same order")
    if len(first) * first.n_labels <= DENSE_CELLS:
        total = np.zeros((len(first), first.n_labels))
        for part in parts:
            total += part.prob
        return replace(first, body=Dense(total / len(parts)))
    return replace(first, body=_blend_listed([part.body for part in parts], first.n_labels))


def overlay(soft: SoftLabels, known: SoftLabels) -> SoftLabels:
    """The same with the rows of the tasks that are `known` put in their place; other tasks of `known` do not matter.

    >>> soft = SoftLabels.of([[.5, .5], [.9, .1]], ["a", "b"], ["no", "yes"])
    >>> overlay(soft, SoftLabels.gold(["b"], ["yes"])).prob
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    here = known.shared(soft.tasks)
    told = here.on_labels(soft.labels).body
    order = np.arange(len(soft))
    order[positions(soft.tasks, here.tasks)] = len(soft) + np.arange(len(here))
    if isinstance(soft.body, Dense):
        both = np.concatenate([soft.body.prob, told.block(slice(None))])
        return replace(soft, body=Dense(both[order]))
    listed = told if isinstance(told, Candidates) else _listed(told)
    stacked = Candidates(
        np.concatenate([soft.body.start, soft.body.start[-1] + listed.start[1:]]),
        np.concatenate([soft.body.label, listed.label]),
        np.concatenate([soft.body.mass, listed.mass]),
        np.concatenate([soft.body.rest, listed.rest]),
        soft.n_labels,
    )
    return replace(soft, body=stacked.take(order))


def dense_if_small(rows: Candidates) -> Rows:
    """The same rows with every number written out, unless that takes too much memory."""
    return Dense(rows.block(slice(None))) if len(rows) * rows.n_labels <= DENSE_CELLS else rows


def _blend_listed(parts: Sequence[Rows], n_labels: int) -> Candidates:
    """The mean over every label that some part lists; a label that none lists has an even share in each part."""
    cells = np.unique(np.concatenate([_cells(part) for part in parts]))
    row, label = np.divmod(cells, n_labels)
    start = np.searchsorted(row, np.arange(len(parts[0]) + 1))
    mass = sum((_mass_at(part, cells, row) for part in parts), np.zeros(len(cells))) / len(parts)
    each = sum((part.each for part in parts if isinstance(part, Candidates)), np.zeros(len(parts[0]))) / len(parts)
    return Candidates(start, label, mass, each * (n_labels - np.diff(start)), n_labels)


def _listed(rows: Dense) -> Candidates:
    """Dense rows by their numbers above zero."""
    row, label = np.nonzero(rows.prob)
    start = np.searchsorted(row, np.arange(len(rows) + 1))
    return Candidates(start, label, rows.prob[row, label], np.zeros(len(rows)), rows.n_labels)


def _cells(rows: Rows) -> Ints:
    """(n_listed,) row * n_labels + label of each listed label, increasing."""
    if isinstance(rows, Dense):
        return np.flatnonzero(rows.prob)
    return rows.row * rows.n_labels + rows.label.astype(np.int64)


def _mass_at(rows: Rows, cells: Ints, row: Ints) -> Floats:
    """(n_cells,) the number in each cell."""
    if isinstance(rows, Dense):
        return rows.prob.ravel()[cells]
    have = _cells(rows)
    mass = rows.each[row].astype(np.float64)
    mass[np.searchsorted(cells, have)] = rows.mass
    return mass
