"""Passes over the marks of answers: the labels named first, the labels left open, rows of weights.

The marks of answer a are start[a]:start[a + 1]; `kind` is 0 for a label that is named and 1 for one that is ruled out.
"""

import numpy as np

from plurivox.core.types import Bools, Floats, Ints
from plurivox.engine.jit import kernel

NAMED, NEVER = 0, 1


@kernel
def first_two_labels(start: Ints, kind: Ints, label: Ints, two: Ints, place: Ints, clash: Bools, n_named: Ints) -> None:
    """The first two named labels of each answer: two[a, 0] and two[a, 1], as they came (-1: none).

    `place` says which of all named marks it is, left as it was where there is no label; `clash`, whether the answer also
    rules the label out; `n_named`, how many labels it names.
    """
    so_far = 0
    for a in range(len(start) - 1):
        n, with_label = 0, 0
        for m in range(start[a], start[a + 1]):
            if kind[m] == NAMED:
                if n < 2:
                    two[a, n] = label[m]
                    if label[m] >= 0:
                        place[a, n] = so_far
                n += 1
                so_far += 1
                with_label += label[m] >= 0
        n_named[a] = with_label
        for m in range(start[a], start[a + 1]):
            if kind[m] == NEVER:
                for j in range(min(n, 2)):
                    if label[m] == two[a, j]:
                        clash[a, j] = True


@kernel
def count_open_labels(
    wanted: Bools,
    start: Ints,
    kind: Ints,
    label: Ints,
    named_start: Ints,
    named: Ints,
    exclude_never: bool,
    n_open: Ints,
) -> None:
    """How many labels are neither named nor, where `exclude_never`, ruled out; `n_open[a]` comes in as the number of all labels."""
    closed_by = np.full(n_open.max(), -1)  # the answer that last closed each label
    for a in range(len(wanted)):
        if not wanted[a]:
            n_open[a] = 0
            continue
        for i in range(named_start[a], named_start[a + 1]):
            if closed_by[named[i]] != a:
                closed_by[named[i]] = a
                n_open[a] -= 1
        if exclude_never:
            for m in range(start[a], start[a + 1]):
                if kind[m] == NEVER and closed_by[label[m]] != a:
                    closed_by[label[m]] = a
                    n_open[a] -= 1


@kernel
def fill_weight_rows(
    row_start: Ints,
    start: Ints,
    kind: Ints,
    label: Ints,
    named_start: Ints,
    named: Ints,
    weight: Floats,
    open_weight: Floats,
    exclude_never: bool,
    n_labels: int,
    out_answer: Ints,
    out_label: Ints,
    out_weight: Floats,
    open_exceeds_named: Bools,
) -> None:
    """Rows of weights above zero, labels increasing, those of answer a from row_start[a] on; open labels have each[a].

    `open_exceeds_named` says where that is more than the largest weight of a named label.
    """
    closed_by = np.full(n_labels, -1)
    for a in range(len(open_weight)):
        row, top, share = row_start[a], 0.0, open_weight[a]
        k = n_labels
        if share > 0:
            k = 0
            if exclude_never:
                for m in range(start[a], start[a + 1]):
                    if kind[m] == NEVER:
                        closed_by[label[m]] = a
        for i in range(named_start[a], named_start[a + 1]):
            while k < named[i]:
                if closed_by[k] != a:
                    out_answer[row], out_label[row], out_weight[row] = a, k, share
                    row += 1
                k += 1
            if weight[i] > 0:
                out_answer[row], out_label[row], out_weight[row] = a, named[i], weight[i]
                row += 1
                top = max(top, weight[i])
            k = max(k, named[i] + 1)
        while k < n_labels:
            if closed_by[k] != a:
                out_answer[row], out_label[row], out_weight[row] = a, k, share
                row += 1
            k += 1
        open_exceeds_named[a] = share > top


@kernel
def counting_sort(code: Ints, start: Ints, order: Ints) -> None:
    """Fill `order` with places sorted by code, in the order they came; `start` says where each code begins, and is used up."""
    for i in range(len(code)):
        order[start[code[i]]] = i
        start[code[i]] += 1
