"""The stage of a simulation: names and sizes, checked before anything is drawn; true labels and features of the tasks."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from plurivox.core.encoding import numbered_names, positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.results import Confusion
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints, Names


class Stage(NamedTuple):
    """Who and what takes part; true labels and matrices only where they were given."""

    tasks: Names
    workers: Names
    labels: Names
    true: Ints | None = None  # (n_tasks,)
    matrices: Floats | None = None  # (n_workers, n_labels, n_labels)


def set_stage(n_tasks: int, n_workers: int, n_labels: int, truth: SoftLabels | None, given: Confusion | None) -> Stage:
    """Names of tasks and labels from the truth, of workers and labels from the matrices; numbered where neither says."""
    if truth is not None and truth.n_labels < 2:
        raise InputError(f"a simulated crowd needs at least two labels; the truth has {truth.n_labels}")
    if given is not None and len(given.labels) < 2:
        raise InputError(f"a simulated crowd needs at least two labels; the matrices have {len(given.labels)}")
    tasks = numbered_names("task", n_tasks) if truth is None else truth.tasks
    true = None if truth is None else truth.codes()
    if given is None:
        labels = numbered_names("label", n_labels) if truth is None else truth.labels
        return Stage(tasks, numbered_names("worker", n_workers), labels, true)
    labels = given.labels if truth is None else truth.labels
    return Stage(tasks, given.workers, labels, true, _in_order(given, labels))


def _in_order(given: Confusion, labels: Names) -> Floats:
    """(n_workers, n_labels, n_labels) the matrices over these labels, in their order."""
    place = positions(given.labels, labels)
    if len(absent := labels[place < 0]) or len(labels) != len(given.labels):
        raise InputError(
            f"matrices and truth must have the same labels; the matrices have {first_few(given.labels, 6)}"
            + (f" and lack {first_few(absent)}" if len(absent) else f", the truth has {first_few(labels, 6)}")
        )
    return given.dense()[:, place[:, None], place[None, :]]


def draw_labels(prior: Floats | None, n_labels: int, n_tasks: int, rng: np.random.Generator) -> Ints:
    """(n_tasks,) true labels, evenly or by how frequent each is."""
    if prior is None:
        return rng.integers(0, n_labels, n_tasks)
    return rng.choice(n_labels, n_tasks, p=prior)


def draw_features(true: Ints, n_labels: int, size: int, separation: float, rng: np.random.Generator) -> Floats:
    """(n_tasks, size) features: points with the standard deviation 1 around the centre of their label.

    Centres are random; the mean distance between two of them is `separation`.
    """
    centres = rng.standard_normal((n_labels, size))
    centres *= separation / pdist(centres).mean()
    x = rng.standard_normal((len(true), size), dtype=np.float32)
    x += centres.astype(np.float32)[true]
    return x


def tail(n: int, exponent: float) -> Floats:
    """(n,) shares that fall as 1 / place^exponent.

    >>> tail(3, 1.0).round(2)
    array([0.55, 0.27, 0.18])
    """
    share = np.arange(1.0, n + 1) ** -exponent
    return share / share.sum()
