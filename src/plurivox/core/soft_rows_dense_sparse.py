"""Rows of SoftLabels in memory: Dense (an array) or Candidates (sparse: a few labels per row plus a rest), same methods."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints, readonly_view, smallest_unsigned_dtype
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import check_codes

SUM_TOLERANCE = 1e-6  # allowed difference of a sum of probabilities from one
DENSE_CELLS = 2**26  # 512 MiB of float64: larger tables are stored as candidates


@dataclass(frozen=True, eq=False, repr=False)
class Dense(DataType):
    """Dense rows of probabilities (n_rows, n_labels); the array is not copied."""

    prob: Floats

    def __post_init__(self) -> None:
        prob = np.asarray(self.prob)
        if prob.ndim != 2:
            raise InputError(f"soft labels need two dimensions; got shape {prob.shape}")
        if prob.dtype.kind != "f":
            prob = prob.astype(np.float64)
        object.__setattr__(self, "prob", readonly_view(prob))

    def __len__(self) -> int:
        return len(self.prob)

    @property
    def n_labels(self) -> int:
        return int(self.prob.shape[1])

    def take(self, rows: Ints | Bools | slice) -> Self:
        """Return the selected rows of soft labels as a new object of the same class (Dense or Candidates)."""
        return type(self)(self.prob[rows])

    def dense_block(self, rows: slice) -> Floats:
        """(n, n_labels) the probabilities of the rows in a slice, as a dense array."""
        return self.prob[rows]

    def prob_of_labels(self, label_of_row: Ints) -> Floats:
        """(n_rows,) the probability of one label per row; `label_of_row` (n_rows,) are label codes."""
        return self.prob[np.arange(len(self)), _one_label_code_per_row_or_raise(self, label_of_row)]

    def top_label_codes_and_probs(self, k: int) -> tuple[Ints, Floats]:
        """Return (label codes, probabilities), each (n_rows, k), of the k most probable labels of
        each row; ties: lower code first.
        """
        best = self.prob.argmax(1)[:, None] if k == 1 else np.argsort(-self.prob, axis=1, kind="stable")[:, :k]
        return best, np.take_along_axis(self.prob, best, 1)

    def row_sums(self) -> Floats:
        """(n_rows,) the sum of the probabilities of each row."""
        return self.prob.sum(1, dtype=np.float64)

    def row_min(self) -> Floats:
        """(n_rows,) the smallest probability of each row."""
        return self.prob.min(1) if self.n_labels else np.zeros(len(self))

    def entropy_per_row(self) -> Floats:
        """(n_rows,) the entropy of the label distribution in each row, in nats; the same bits for every order of the labels."""
        return sum_rows_in_order_of_size(_entropy_terms(self.prob))

    def move_labels(self, new_code_of_label: Ints, n_labels: int) -> Self:
        """Return soft-label rows with columns for another list of labels: label k gets code `new_code_of_label[k]`, or is
        dropped if -1.
        """
        wide = np.zeros((len(self), n_labels), self.prob.dtype)
        wide[:, new_code_of_label[new_code_of_label >= 0]] = self.prob[:, new_code_of_label >= 0]
        return type(self)(wide)


@dataclass(frozen=True, eq=False, repr=False)
class Candidates(DataType):
    """Sparse rows of probabilities: a few listed labels per row (CSR) and a `rest`, spread evenly over the unlisted labels.

    The arrays are not copied.
    """

    start: Ints  # (n_rows + 1,) the candidates of row i are start[i]:start[i + 1]
    label: Ints  # (n_candidates,) increasing within a row
    mass: Floats  # (n_candidates,)
    rest: Floats  # (n_rows,)
    n_labels: int

    def __post_init__(self) -> None:
        label = np.asarray(self.label)
        if label.size and (int(label.min()) < 0 or int(label.max()) >= self.n_labels):
            raise InputError(
                f"candidate labels run from {label.min()} to {label.max()}; there are {self.n_labels} labels"
            )
        object.__setattr__(self, "label", label.astype(smallest_unsigned_dtype(self.n_labels), copy=False))
        start = np.asarray(self.start, np.int64)
        if len(start) != len(self.rest) + 1 or start[0] != 0 or start[-1] != len(label) or (np.diff(start) < 0).any():
            raise InputError(
                f"`start` must rise from 0 to the number of candidates, {len(label)}, with n_rows + 1 values"
            )
        object.__setattr__(self, "start", start)
        if len(self.mass) != len(label):
            raise InputError(
                f"there are {len(label)} candidate labels but {len(self.mass)} probabilities (`mass`); they need one each"
            )
        within = np.diff(self.row_of_each_candidate) == 0
        if (np.diff(label.astype(np.int64))[within] <= 0).any():
            raise InputError("the candidates of a row must be different labels in increasing order")
        full = (self.n_unlisted_labels_per_row == 0) & (np.asarray(self.rest) > SUM_TOLERANCE)
        if full.any():
            raise InputError("a row that lists every label must have a rest of 0")
        for name in ("start", "label", "mass", "rest"):
            object.__setattr__(self, name, readonly_view(np.asarray(getattr(self, name))))

    def __len__(self) -> int:
        return len(self.rest)

    @cached_property
    def row_of_each_candidate(self) -> Ints:
        """(n_candidates,) the row index of each label listed in a sparse row."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @cached_property
    def n_unlisted_labels_per_row(self) -> Ints:
        """(n_rows,) the number of labels that each sparse row does not list."""
        return self.n_labels - np.diff(self.start)

    @property
    def prob_of_each_unlisted_label(self) -> Floats:
        """(n_rows,) the probability of each single label that a sparse row does not list: rest / number of unlisted labels."""
        return self.rest / np.maximum(self.n_unlisted_labels_per_row, 1)

    def take(self, rows: Ints | Bools | slice) -> Self:
        """Return the selected rows of soft labels as a new object of the same class (Dense or Candidates)."""
        picked = np.arange(len(self))[rows]
        size = np.diff(self.start)[picked]
        start = np.concatenate([[0], np.cumsum(size)])
        inside = np.arange(start[-1]) - np.repeat(start[:-1], size) + np.repeat(self.start[picked], size)
        return type(self)(start, self.label[inside], self.mass[inside], self.rest[picked], self.n_labels)

    def dense_block(self, rows: slice) -> Floats:
        """(n, n_labels) the probabilities of the rows in a slice, as a dense array."""
        part = self.take(rows)
        dense = np.repeat(part.prob_of_each_unlisted_label[:, None], self.n_labels, 1)
        dense[part.row_of_each_candidate, part.label] = part.mass
        return dense

    def prob_of_labels(self, label_of_row: Ints) -> Floats:
        """(n_rows,) the probability of one label per row; `label_of_row` (n_rows,) are label codes."""
        wanted = np.arange(len(self)) * self.n_labels + _one_label_code_per_row_or_raise(self, label_of_row)
        have = self.row_of_each_candidate * self.n_labels + self.label
        if not len(have):
            return self.prob_of_each_unlisted_label
        found = np.minimum(np.searchsorted(have, wanted), len(have) - 1)
        return np.where(have[found] == wanted, self.mass[found], self.prob_of_each_unlisted_label)

    def top_label_codes_and_probs(self, k: int) -> tuple[Ints, Floats]:
        """Return (label codes, probabilities), each (n_rows, k), of the k most probable labels of
        each row; ties: lower code first.

        Only the best k listed labels and the first k others of a row can be among its best k.
        """
        k = min(k, self.n_labels)
        rank = np.lexsort((self.label, -self.mass, self.row_of_each_candidate))
        place = np.arange(len(rank)) - self.start[self.row_of_each_candidate]
        best = np.full((len(self), 2 * k), -1)
        prob = np.full((len(self), 2 * k), -np.inf)
        near = place < k
        best[self.row_of_each_candidate[near], place[near]] = self.label[rank][near]
        prob[self.row_of_each_candidate[near], place[near]] = self.mass[rank][near]
        unlisted = self._lowest_unlisted_label_codes(k)
        best[:, k:] = unlisted
        prob[:, k:] = np.where(unlisted >= 0, self.prob_of_each_unlisted_label[:, None], -np.inf)
        order = np.lexsort((best, -prob), axis=1)[:, :k]
        return np.take_along_axis(best, order, 1), np.take_along_axis(prob, order, 1)

    def _lowest_unlisted_label_codes(self, k: int) -> Ints:
        """(n_rows, k) the k lowest label codes that each sparse row does not list; -1 if there are fewer."""
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

    def row_sums(self) -> Floats:
        """(n_rows,) the sum of the probabilities of each sparse row, those of unlisted labels included."""
        return np.bincount(self.row_of_each_candidate, self.mass, minlength=len(self)) + self.rest

    def sum_candidates_in_order_of_size(self, value_of_each_candidate: Floats) -> Floats:
        """(n_rows,) the sum of a value over the candidates of each row, the same bits for every order of the labels."""
        values, size = np.asarray(value_of_each_candidate, np.float64), np.diff(self.start)
        order, total = np.argsort(size, kind="stable"), np.zeros(len(self))
        for rows in np.split(order, np.flatnonzero(np.diff(size[order])) + 1):  # rows with as many candidates
            table = self.start[rows, None] + np.arange(size[rows[0]] if len(rows) else 0)
            total[rows] = sum_rows_in_order_of_size(values[table])
        return total

    def row_min(self) -> Floats:
        """(n_rows,) the smallest probability of each row."""
        lowest = np.where(self.n_unlisted_labels_per_row > 0, self.prob_of_each_unlisted_label, np.inf)
        np.minimum.at(lowest, self.row_of_each_candidate, self.mass)
        return lowest

    def entropy_per_row(self) -> Floats:
        """(n_rows,) the entropy of the label distribution in each row, in nats; the same bits for every order of the labels."""
        listed = self.sum_candidates_in_order_of_size(_entropy_terms(self.mass))
        return listed + self.n_unlisted_labels_per_row * _entropy_terms(self.prob_of_each_unlisted_label)

    def move_labels(self, new_code_of_label: Ints, n_labels: int) -> Self:
        """Return soft-label rows with columns for another list of labels: label k gets code `new_code_of_label[k]`, or is
        dropped if -1.

        Raise InputError if a row has a rest, which belongs to no label.
        """
        if (self.rest > 1e-9).any():
            raise InputError("sparse soft labels with a rest cannot be changed to another list of labels")
        kept = new_code_of_label[self.label] >= 0
        row, label, mass = self.row_of_each_candidate[kept], new_code_of_label[self.label][kept], self.mass[kept]
        order = np.lexsort((label, row))
        start = np.searchsorted(row, np.arange(len(self) + 1))
        return type(self)(start, label[order], mass[order], self.rest, n_labels)


Rows = Dense | Candidates


def _one_label_code_per_row_or_raise(rows: Rows, label_of_row: Ints) -> Ints:
    """Return `label_of_row` as an array of codes. Raise InputError if it is not one valid label code per row."""
    codes = np.asarray(label_of_row)
    if codes.shape != (len(rows),):
        raise InputError(f"at() needs a label code for each of {len(rows)} rows; got shape {codes.shape}")
    check_codes(codes, 0, rows.n_labels, "label")
    return codes


def sum_rows_in_order_of_size(values: Floats) -> Floats:
    """(n_rows,) the sum of each row of `values` (n_rows, n_labels), the same bits for every order of the labels.

    >>> row = np.array([0.1, 0.2, 0.3])
    >>> float(row.sum()) == float(row[::-1].sum())
    False
    >>> np.unique(sum_rows_in_order_of_size(np.stack([row, row[::-1]]))).size
    1
    """
    return np.sort(np.ascontiguousarray(values), axis=1).sum(1)


def _entropy_terms(p: Any) -> Any:
    """Return -p log p of each probability; 0 for p = 0."""
    return -p * np.log(np.where(p > 0, p, 1.0))
