"""Tasks, workers and labels of a simulation, checked before anything is drawn; true labels and features of the tasks."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import numbered_names_from_zero, positions
from plurivox.core.results import Confusion
from plurivox.core.soft_labels import SoftLabels


class Dimensions(NamedTuple):
    """The names of tasks, workers and labels of a simulation, and the true labels and matrices if they are given."""

    tasks: Names
    workers: Names
    labels: Names
    true: Ints | None = None  # (n_tasks,)
    matrices: Floats | None = None  # (n_workers, n_labels, n_labels)


def make_names_and_align_truth_and_matrices(
    n_tasks: int, n_workers: int, n_labels: int, truth: SoftLabels | None, matrices: Confusion | None
) -> Dimensions:
    """Return the names of tasks, workers and labels: those of the given truth and matrices, else numbered names such as task-0.

    Raises InputError if there are fewer than two labels, or truth and matrices have different labels.
    """
    if truth is not None and truth.n_labels < 2:
        raise InputError(f"a simulated crowd needs at least two labels; the truth has {truth.n_labels}")
    if matrices is not None and len(matrices.labels) < 2:
        raise InputError(f"a simulated crowd needs at least two labels; the matrices have {len(matrices.labels)}")
    tasks = numbered_names_from_zero("task", n_tasks) if truth is None else truth.tasks
    true = None if truth is None else truth.most_probable_label_codes()
    if matrices is None:
        labels = numbered_names_from_zero("label", n_labels) if truth is None else truth.labels
        return Dimensions(tasks, numbered_names_from_zero("worker", n_workers), labels, true)
    labels = matrices.labels if truth is None else truth.labels
    return Dimensions(tasks, matrices.workers, labels, true, _matrices_in_label_order(matrices, labels))


def _matrices_in_label_order(matrices: Confusion, labels: Names) -> Floats:
    """Return (n_workers, n_labels, n_labels) matrices with labels in the order of `labels`; InputError if they differ."""
    place = positions(matrices.labels, labels)
    if len(absent := labels[place < 0]) or len(labels) != len(matrices.labels):
        raise InputError(
            f"matrices and truth must have the same labels; the matrices have {first_few(matrices.labels, 6)}"
            + (f" and lack {first_few(absent)}" if len(absent) else f", the truth has {first_few(labels, 6)}")
        )
    return matrices.dense()[:, place[:, None], place[None, :]]


def draw_true_labels(label_prior: Floats | None, n_labels: int, n_tasks: int, rng: np.random.Generator) -> Ints:
    """Return (n_tasks,) random true labels with the probabilities `label_prior` (n_labels,), uniform if None."""
    if label_prior is None:
        return rng.integers(0, n_labels, n_tasks)
    return rng.choice(n_labels, n_tasks, p=label_prior)


def draw_features(
    true_label: Ints, n_labels: int, n_features: int, separation: float, rng: np.random.Generator
) -> Floats:
    """Return (n_tasks, n_features) random Gaussian features with standard deviation 1 around the centre of the true label.

    Centres are random; the mean distance between two of them is `separation`.
    """
    centres = rng.standard_normal((n_labels, n_features))
    centres *= separation / pdist(centres).mean()
    x = rng.standard_normal((len(true_label), n_features), dtype=np.float32)
    x += centres.astype(np.float32)[true_label]
    return x


def power_law_shares(n: int, exponent: float) -> Floats:
    """Return (n,) shares proportional to 1 / rank^exponent that sum to 1, largest first.

    >>> power_law_shares(3, 1.0).round(2)
    array([0.55, 0.27, 0.18])
    """
    share = np.arange(1.0, n + 1) ** -exponent
    return share / share.sum()
