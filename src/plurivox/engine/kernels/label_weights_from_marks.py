"""Turn the marks of answers into rows of label weights: first two named labels, number of open labels, weights.

The marks of answer a are mark_start[a]:mark_start[a + 1]; `mark_kind` is 0 for a label that is named and 1 for one that is
ruled out (never). A label that is neither named nor ruled out is open.
"""

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.engine.numba_compilation import compile_kernel

NAMED, NEVER = 0, 1


@compile_kernel
def find_first_two_named_labels(
    mark_start: Ints,
    mark_kind: Ints,
    mark_label: Ints,
    first_two: Ints,
    named_index: Ints,
    also_ruled_out: Bools,
    n_named: Ints,
) -> None:
    """Fill first_two[a, 0] and first_two[a, 1] with the first two labels that answer a names (-1: none).

    Also fill `named_index`, the index of each among all named marks (unchanged if there is no label), `also_ruled_out`,
    whether the answer also rules the label out, and `n_named`, the number of labels it names.
    """
    so_far = 0
    for a in range(len(mark_start) - 1):
        n, with_label = 0, 0
        for m in range(mark_start[a], mark_start[a + 1]):
            if mark_kind[m] == NAMED:
                if n < 2:
                    first_two[a, n] = mark_label[m]
                    if mark_label[m] >= 0:
                        named_index[a, n] = so_far
                n += 1
                so_far += 1
                with_label += mark_label[m] >= 0
        n_named[a] = with_label
        for m in range(mark_start[a], mark_start[a + 1]):
            if mark_kind[m] == NEVER:
                for j in range(min(n, 2)):
                    if mark_label[m] == first_two[a, j]:
                        also_ruled_out[a, j] = True


@compile_kernel
def count_open_labels(
    answer_mask: Bools,
    mark_start: Ints,
    mark_kind: Ints,
    mark_label: Ints,
    named_start: Ints,
    named_label: Ints,
    exclude_never: bool,
    n_open: Ints,
) -> None:
    """Reduce n_open[a], set to the number of labels before, to the number that answer a neither names nor rules out.

    Labels ruled out count as open unless `exclude_never`. Answers outside `answer_mask` get 0.
    """
    closed_by = np.full(n_open.max(), -1)  # the last answer that named or ruled out each label
    for a in range(len(answer_mask)):
        if not answer_mask[a]:
            n_open[a] = 0
            continue
        for i in range(named_start[a], named_start[a + 1]):
            if closed_by[named_label[i]] != a:
                closed_by[named_label[i]] = a
                n_open[a] -= 1
        if exclude_never:
            for m in range(mark_start[a], mark_start[a + 1]):
                if mark_kind[m] == NEVER and closed_by[mark_label[m]] != a:
                    closed_by[mark_label[m]] = a
                    n_open[a] -= 1


@compile_kernel
def fill_label_weight_rows(
    row_start: Ints,
    mark_start: Ints,
    mark_kind: Ints,
    mark_label: Ints,
    named_start: Ints,
    named_label: Ints,
    named_weight: Floats,
    open_weight: Floats,
    exclude_never: bool,
    n_labels: int,
    out_answer: Ints,
    out_label: Ints,
    out_weight: Floats,
    open_exceeds_named: Bools,
) -> None:
    """Fill rows (out_answer, out_label, out_weight), one per label with weight above zero; those of answer a start at
    row_start[a].

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
                for m in range(mark_start[a], mark_start[a + 1]):
                    if mark_kind[m] == NEVER:
                        closed_by[mark_label[m]] = a
        for i in range(named_start[a], named_start[a + 1]):
            while k < named_label[i]:
                if closed_by[k] != a:
                    out_answer[row], out_label[row], out_weight[row] = a, k, share
                    row += 1
                k += 1
            if named_weight[i] > 0:
                out_answer[row], out_label[row], out_weight[row] = a, named_label[i], named_weight[i]
                row += 1
                top = max(top, named_weight[i])
            k = max(k, named_label[i] + 1)
        while k < n_labels:
            if closed_by[k] != a:
                out_answer[row], out_label[row], out_weight[row] = a, k, share
                row += 1
            k += 1
        open_exceeds_named[a] = share > top


@compile_kernel
def fill_counting_sort_order(code: Ints, start: Ints, order: Ints) -> None:
    """Fill `order` with the indices that sort `code` (stable); `start`, the first place of each code, is changed."""
    for i in range(len(code)):
        order[start[code[i]]] = i
        start[code[i]] += 1
