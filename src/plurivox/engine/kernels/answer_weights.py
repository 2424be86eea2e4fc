"""Turn the marks of answers into rows of label weights: first two named labels, number of open labels, weights.

The marks of answer a are start[a]:start[a + 1]; `kind` is 0 for a label that is named and 1 for one that is ruled out
(never). A label that is neither named nor ruled out is open.
"""

import numpy as np

from plurivox.core.types import Bools, Floats, Ints
from plurivox.engine.jit import kernel

NAMED, NEVER = 0, 1


@kernel
def first_two_labels(start: Ints, kind: Ints, label: Ints, two: Ints, place: Ints, clash: Bools, n_named: Ints) -> None:
    """Fill two[a, 0] and two[a, 1] with the first two named labels of each answer (-1: none).

    Also fill `place`, the index of each among all named marks (unchanged if there is no label), `clash`, whether the
    answer also rules the label out, and `n_named`, the number of labels it names.
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
    """Reduce n_open[a], which must be the number of labels, to the number of open labels of each answer a.

    Labels ruled out count as open unless `exclude_never`. Answers that are not `wanted` get 0.
    """
    closed_by = np.full(n_open.max(), -1)  # the last answer that named or ruled out each label
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
    """Fill the rows (out_answer, out_label, out_weight) of weights above zero, labels increasing, from row_start[a] on.

    Open labels of answer a have weight open_weight[a]. Fill `open_exceeds_named`: whether that is more than the largest
    weight of a named label.
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
    """Fill `order` with the indices of `code` sorted by code, stable; `start`, the offset of each code, is changed."""
    for i in range(len(code)):
        order[start[code[i]]] = i
        start[code[i]] += 1
