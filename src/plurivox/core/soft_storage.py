"""The two ways to hold rows over labels: every number, or the candidates and the rest.

Both answer the same questions, so `SoftLabels` never asks which one it has.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from plurivox.core.base import DataType
from plurivox.core.encoding import in_range
from plurivox.core.errors import InputError
from plurivox.core.types import Bools, Floats, Ints, readonly_view, smallest_ints

SUM_TOLERANCE = 1e-6  # how far numbers may be from summing to one
DENSE_CELLS = 2**26  # half a gigabyte of float64: tables beyond it are kept as candidates


@dataclass(frozen=True, eq=False, repr=False)
class Dense(DataType):
    """Every number, (n_rows, n_labels); the array is taken as it is, without a copy."""

    prob: Floats

    def __post_init__(self) -> None:
        prob = np.asarray(self.prob)
        if prob.ndim != 2:
            raise InputError(f"rows over labels need two dimensions; got shape {prob.shape}")
        if prob.dtype.kind != "f":
            prob = prob.astype(np.float64)
        object.__setattr__(self, "prob", readonly_view(prob))

    def __len__(self) -> int:
        return len(self.prob)

    @property
    def n_labels(self) -> int:
        return int(self.prob.shape[1])

    def take(self, rows: Ints | Bools | slice) -> Self:
        return type(self)(self.prob[rows])

    def block(self, rows: slice) -> Floats:
        """(n, n_labels) the numbers of some rows."""
        return self.prob[rows]

    def at(self, label: Ints) -> Floats:
        """(n_rows,) the number at one label of each row."""
        return self.prob[np.arange(len(self)), _a_label_a_row(self, label)]

    def top(self, k: int) -> tuple[Ints, Floats]:
        """The k largest of each row, largest first, ties to the lower label: (labels, numbers)."""
        best = self.prob.argmax(1)[:, None] if k == 1 else np.argsort(-self.prob, axis=1, kind="stable")[:, :k]
        return best, np.take_along_axis(self.prob, best, 1)

    def sums(self) -> Floats:
        return self.prob.sum(1, dtype=np.float64)

    def low(self) -> Floats:
        """(n_rows,) the smallest number of each row."""
        return self.prob.min(1) if self.n_labels else np.zeros(len(self))

    def entropy(self) -> Floats:
        """(n_rows,) in nats."""
        return _plogp(self.prob).sum(1)

    def on_labels(self, place: Ints, n_labels: int) -> Self:
        """The same rows over another list of labels: label k goes to `place[k]`, or is left out where that is -1."""
        wide = np.zeros((len(self), n_labels), self.prob.dtype)
        wide[:, place[place >= 0]] = self.prob[:, place >= 0]
        return type(self)(wide)


@dataclass(frozen=True, eq=False, repr=False)
class Candidates(DataType):
    """A few labels a row with their numbers; `rest` is spread evenly over all labels not listed.

    The arrays are taken as they are, without a copy.
    """

    start: Ints  # (n_rows + 1,) the candidates of row i are start[i]:start[i + 1]
    label: Ints  # (n_candidates,) increasing within a row
    mass: Floats  # (n_candidates,)
    rest: Floats  # (n_rows,)
    n_labels: int

    def __post_init__(self) -> None:
        label = np.asarray(self.label)
        if label.size and (int(label.min()) < 0 or int(label.max()) >= self.n_labels):
            raise InputError(f"candidate labels run from {label.min()} to {label.max()}; there are {self.n_labels}")
        object.__setattr__(self, "label", label.astype(smallest_ints(self.n_labels), copy=False))
        start = np.asarray(self.start, np.int64)
        if len(start) != len(self.rest) + 1 or start[0] != 0 or start[-1] != len(label) or (np.diff(start) < 0).any():
            raise InputError("the starts of the candidates do not fit their number")
        object.__setattr__(self, "start", start)
        if len(self.mass) != len(label):
            raise InputError(f"{len(label)} candidates have {len(self.mass)} numbers")
        within = np.diff(self.row) == 0
        if (np.diff(label.astype(np.int64))[within] <= 0).any():
            raise InputError("the candidates of a row must be different labels in increasing order")
        full = (self.others == 0) & (np.asarray(self.rest) > SUM_TOLERANCE)
        if full.any():
            raise InputError("a row that lists every label can have no rest")
        for name in ("start", "label", "mass", "rest"):
            object.__setattr__(self, name, readonly_view(np.asarray(getattr(self, name))))

    def __len__(self) -> int:
        return len(self.rest)

    @cached_property
    def row(self) -> Ints:
        """(n_candidates,) the row of each candidate."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @cached_property
    def others(self) -> Ints:
        """(n_rows,) how many labels share the rest."""
        return self.n_labels - np.diff(self.start)

    @property
    def each(self) -> Floats:
        """(n_rows,) the number at every label not listed."""
        return self.rest / np.maximum(self.others, 1)

    def take(self, rows: Ints | Bools | slice) -> Self:
        picked = np.arange(len(self))[rows]
        size = np.diff(self.start)[picked]
        start = np.concatenate([[0], np.cumsum(size)])
        inside = np.arange(start[-1]) - np.repeat(start[:-1], size) + np.repeat(self.start[picked], size)
        return type(self)(start, self.label[inside], self.mass[inside], self.rest[picked], self.n_labels)

    def block(self, rows: slice) -> Floats:
        part = self.take(rows)
        dense = np.repeat(part.each[:, None], self.n_labels, 1)
        dense[part.row, part.label] = part.mass
        return dense

    def at(self, label: Ints) -> Floats:
        wanted = np.arange(len(self)) * self.n_labels + _a_label_a_row(self, label)
        have = self.row * self.n_labels + self.label
        if not len(have):
            return self.each
        found = np.minimum(np.searchsorted(have, wanted), len(have) - 1)
        return np.where(have[found] == wanted, self.mass[found], self.each)

    def top(self, k: int) -> tuple[Ints, Floats]:
        """Labels not listed are taken in their order where the rest reaches the top k.

        Of a row's listed labels only the best k can be among its best k, and of the others only the first k.
        """
        k = min(k, self.n_labels)
        rank = np.lexsort((self.label, -self.mass, self.row))
        place = np.arange(len(rank)) - self.start[self.row]
        best = np.full((len(self), 2 * k), -1)
        prob = np.full((len(self), 2 * k), -np.inf)
        near = place < k
        best[self.row[near], place[near]] = self.label[rank][near]
        prob[self.row[near], place[near]] = self.mass[rank][near]
        unlisted = self._unlisted(k)
        best[:, k:] = unlisted
        prob[:, k:] = np.where(unlisted >= 0, self.each[:, None], -np.inf)
        order = np.lexsort((best, -prob), axis=1)[:, :k]
        return np.take_along_axis(best, order, 1), np.take_along_axis(prob, order, 1)

    def _unlisted(self, k: int) -> Ints:
        """(n_rows, k) the first k labels that are not candidates; -1 where there are fewer."""
        out = np.full((len(self), k), -1)
        found, listed = np.zeros(len(self), np.int64), self.start[:-1].copy()
        last = len(self.label) - 1
        for label in range(self.n_labels):
            open_rows = np.flatnonzero(found < k)
            if not len(open_rows):
                break
            at = listed[open_rows]
            hit = (
                (at < self.start[open_rows + 1]) & (self.label[np.minimum(at, last)] == label) if last >= 0 else at < 0
            )
            listed[open_rows[hit]] += 1
            free = open_rows[~hit]
            out[free, found[free]] = label
            found[free] += 1
        return out

    def sums(self) -> Floats:
        return np.bincount(self.row, self.mass, minlength=len(self)) + self.rest

    def low(self) -> Floats:
        lowest = np.where(self.others > 0, self.each, np.inf)
        np.minimum.at(lowest, self.row, self.mass)
        return lowest

    def entropy(self) -> Floats:
        listed = np.bincount(self.row, _plogp(self.mass), minlength=len(self))
        return listed + self.others * _plogp(self.each)

    def on_labels(self, place: Ints, n_labels: int) -> Self:
        """As for dense rows; the rest has no label of its own to carry over, so it must be empty."""
        if (self.rest > 1e-9).any():
            raise InputError("rows with a rest cannot move to another list of labels")
        kept = place[self.label] >= 0
        row, label, mass = self.row[kept], place[self.label][kept], self.mass[kept]
        order = np.lexsort((label, row))
        start = np.searchsorted(row, np.arange(len(self) + 1))
        return type(self)(start, label[order], mass[order], self.rest, n_labels)


Rows = Dense | Candidates


def _a_label_a_row(rows: Rows, label: Ints) -> Ints:
    """(n_rows,) the codes, once they are known to fit."""
    codes = np.asarray(label)
    if codes.shape != (len(rows),):
        raise InputError(f"at() needs a label code for each of {len(rows)} rows; got the shape {codes.shape}")
    in_range(codes, 0, rows.n_labels, "label")
    return codes


def _plogp(p: Any) -> Any:
    """-p log p, 0 at 0."""
    return -p * np.log(np.where(p > 0, p, 1.0))
