"""Bins of confidence: equal in width, or equal in the number of tasks."""

from collections.abc import Iterator

import numpy as np

from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_storage import Rows
from plurivox.core.types import Floats, Ints
from plurivox.evaluate.alignment import parts
from plurivox.evaluate.measures.accuracy import true_labels
from plurivox.evaluate.resampling import Piece, Tally


def equal(sure: Floats, bins: int) -> Ints:
    """The bin of each probability, of `bins` equal ones; the lower edge is out, the upper one in."""
    if bins < 1:
        raise OptionError(f"bins must be 1 or more; got {bins}")
    return np.digitize(sure, np.linspace(0, 1, bins + 1)[1:-1], right=True)


def filled(sure: Floats, size: int) -> tuple[Ints, int]:
    """The bin of each task, `size` tasks a bin from the least sure on, what is left over in the last; and their number."""
    if size < 1:
        raise OptionError(f"the size of a bin must be 1 or more; got {size}")
    n_bins = max(len(sure) // size, 1)
    place = np.empty(len(sure), np.int64)
    place[np.argsort(sure, kind="stable")] = np.minimum(np.arange(len(sure)) // size, n_bins - 1)
    return place, n_bins


def edges(sure: Floats, bins: int, size: int | None) -> tuple[Ints, Floats, Floats]:
    """The bin of each task, and where every bin begins and ends."""
    if size is None:
        at = np.linspace(0, 1, bins + 1)
        return equal(sure, bins), at[:-1], at[1:]
    place, n_bins = filled(sure, size)
    first = np.minimum(np.arange(n_bins) * size, len(sure) - 1)
    ranked = np.sort(sure)
    return place, ranked[first], ranked[np.append(first[1:] - 1, len(sure) - 1)]


def tied_mean(hit: Floats, sure: Floats) -> Floats:
    """(n_tasks,) the hits, shared evenly among the tasks of the same confidence."""
    _, level = np.unique(sure, return_inverse=True)
    return (np.bincount(level, hit) / np.bincount(level))[level]


def of_bins(place: Ints, gap: Floats, n_bins: int) -> Tally:
    """sum_b |sum of gaps in b| / n."""
    pieces = [(np.arange(len(gap)), place, gap)]
    return Tally(len(gap), n_bins, lambda: pieces, lambda sums, n: np.abs(sums).sum(1) / n)


def adaptive(hit: Floats, sure: Floats, size: int, compat: bool) -> Tally:
    """sqrt(sum_b n_b / n (mean gap in b)^2); with `compat` without the last bin. A resample keeps the bins of the tasks."""
    if compat and len(hit) < size:
        raise InputError(f"with compat a bin of {size} tasks must be full; there are {len(hit)} tasks: lower the size")
    place, n_bins = filled(sure, size)
    tasks = np.arange(len(hit))
    pieces = [(tasks, place, hit - sure), (tasks, n_bins + place, np.ones(len(hit)))]

    def finish(sums: Floats, n: Floats) -> Floats:
        gap, inside = (part[:, : n_bins - 1] if compat else part for part in np.split(sums, 2, axis=1))
        return np.sqrt((gap**2 / np.maximum(inside, 1)).sum(1) / n)

    return Tally(len(hit), 2 * n_bins, lambda: pieces, finish)


def of_labels_and_bins(left: Rows, right: Rows, bins: int) -> Tally:
    """(1 / K) sum_k sum_b |sum of gaps of label k in b| / n."""
    n_labels, true = left.n_labels, true_labels(right)

    def pieces() -> Iterator[Piece]:
        label = np.arange(n_labels)
        for where, q in parts(left):
            rows = np.arange(where.start, where.stop)[:, None]
            yield rows, label * bins + equal(q, bins), (true[rows] == label) - q

    return Tally(len(left), n_labels * bins, pieces, lambda sums, n: np.abs(sums).sum(1) / n / n_labels)
