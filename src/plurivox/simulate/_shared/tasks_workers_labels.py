"""Tasks, workers and labels of a simulation, checked before anything is drawn; true labels and features of the tasks."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from plurivox.core.encoding import numbered_names, positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.results import Confusion
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints, Names


class Dimensions(NamedTuple):
    """The names of tasks, workers and labels of a simulation, and the true labels and matrices if they are given."""

    tasks: Names
    workers: Names
    labels: Names
    true: Ints | None = None  # (n_tasks,)
    matrices: Floats | None = None  # (n_workers, n_labels, n_labels)


def resolve_dimensions(
    n_tasks: int, n_workers: int, n_labels: int, truth: SoftLabels | None, given: Confusion | None
) -> Dimensions:
    """Return names taken from the given truth (tasks, labels) and matrices (workers, labels), numbered ones without them.

    Raises InputError if there are fewer than two labels, or truth and matrices have different labels.
    """
    if truth is not None and truth.n_labels < 2:
        raise InputError(f"a simulated crowd needs at least two labels; the truth has {truth.n_labels}")
    if given is not None and len(given.labels) < 2:
        raise InputError(f"a simulated crowd needs at least two labels; the matrices have {len(given.labels)}")
    tasks = numbered_names("task", n_tasks) if truth is None else truth.tasks
    true = None if truth is None else truth.codes()
    if given is None:
        labels = numbered_names("label", n_labels) if truth is None else truth.labels
        return Dimensions(tasks, numbered_names("worker", n_workers), labels, true)
    labels = given.labels if truth is None else truth.labels
    return Dimensions(tasks, given.workers, labels, true, _reorder_labels(given, labels))


def _reorder_labels(given: Confusion, labels: Names) -> Floats:
    """(n_workers, n_labels, n_labels) the matrices in the order of `labels`; raise InputError if the labels differ."""
    place = positions(given.labels, labels)
    if len(absent := labels[place < 0]) or len(labels) != len(given.labels):
        raise InputError(
            f"matrices and truth must have the same labels; the matrices have {first_few(given.labels, 6)}"
            + (f" and lack {first_few(absent)}" if len(absent) else f", the truth has {first_few(labels, 6)}")
        )
    return given.dense()[:, place[:, None], place[None, :]]


def draw_true_labels(prior: Floats | None, n_labels: int, n_tasks: int, rng: np.random.Generator) -> Ints:
    """(n_tasks,) random true labels with the probabilities `prior` (n_labels,), uniform if None."""
    if prior is None:
        return rng.integers(0, n_labels, n_tasks)
    return rng.choice(n_labels, n_tasks, p=prior)


def draw_features(true: Ints, n_labels: int, size: int, separation: float, rng: np.random.Generator) -> Floats:
    """(n_tasks, size) Gaussian features with standard deviation 1 around the centre of each task's true label.

    Centres are random; the mean distance between two of them is `separation`.
    """
    centres = rng.standard_normal((n_labels, size))
    centres *= separation / pdist(centres).mean()
    x = rng.standard_normal((len(true), size), dtype=np.float32)
    x += centres.astype(np.float32)[true]
    return x


def power_law_shares(n: int, exponent: float) -> Floats:
    """(n,) shares proportional to 1 / rank^exponent.

    >>> power_law_shares(3, 1.0).round(2)
    array([0.55, 0.27, 0.18])
    """
    share = np.arange(1.0, n + 1) ** -exponent
    return share / share.sum()
