"""M-step and renormalisation of confusion matrices, stored as flat tables of logs [worker, said, true] with spare cells."""

from typing import Any

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.engine.kernels.fast_math import fast_log
from plurivox.engine.kernels.simd_vector_type import (
    add_scaled_simd_row,
    add_simd_rows,
    exp_of_simd_row,
    load_simd_row,
    max_of_simd_rows,
    multiply_simd_rows,
    store_simd_row,
)
from plurivox.engine.numba_compilation import compile_kernel

TINY = 1e-300  # smallest probability: its log is finite, so that impossible tasks stay comparable


@compile_kernel
def fill_log_confusion_from_counts(
    first_worker: int,
    last_worker: int,
    n_labels: int,
    counts: Floats,
    pseudo_counts: Floats,
    width: Any,
    log_confusion: Floats,
) -> None:
    """Run the M-step of a range of workers: fill the flat table log_confusion[worker, said, true] with log p(said | true).

    `pseudo_counts`, flat [said, true] with spare cells, is added to the counts of every worker. A true label without
    counts gets
    a uniform distribution.
    """
    size, step = n_labels * n_labels, 4 * len(width)
    n_cells = -(-n_labels // step) * step
    by, even, share = np.empty(n_cells), np.empty(n_cells), np.empty(size + n_cells)
    for worker in range(first_worker, last_worker):
        begin = worker * size
        for k in range(0, n_cells, step):
            n_true = add_simd_rows(
                load_simd_row(counts, np.uint64(begin + k), width), load_simd_row(pseudo_counts, np.uint64(k), width)
            )
            for at in range(n_labels + k, size + k, n_labels):
                n_true = add_simd_rows(n_true, load_simd_row(counts, np.uint64(begin + at), width))
                n_true = add_simd_rows(n_true, load_simd_row(pseudo_counts, np.uint64(at), width))
            store_simd_row(by, np.uint64(k), n_true)
        for k in range(n_cells):
            even[k] = 0.0 if by[k] > TINY else 1 / n_labels
            by[k] = 1 / by[k] if by[k] > TINY else 0.0
        for at in range(0, size, n_labels):  # row by row: the next row overwrites cells written beyond the end
            for k in range(0, n_cells, step):
                n_said = add_simd_rows(
                    load_simd_row(counts, np.uint64(begin + at + k), width),
                    load_simd_row(pseudo_counts, np.uint64(at + k), width),
                )
                x = add_scaled_simd_row(
                    load_simd_row(even, np.uint64(k), width), n_said, load_simd_row(by, np.uint64(k), width)
                )
                store_simd_row(share, np.uint64(at + k), x)
        mine = log_confusion[begin : begin + size]
        for i in range(size):
            mine[i] = fast_log(max(share[i], TINY))


@compile_kernel
def renormalise_log_confusion(
    first_worker: int, last_worker: int, n_labels: int, width: Any, log_confusion: Floats
) -> None:
    """Renormalise the confusion matrices (logs) of a range of workers, in place, so that p(said | true) sums to one."""
    size, step = n_labels * n_labels, 4 * len(width)
    n_cells = -(-n_labels // step) * step
    best, shift = np.empty(n_cells), np.empty(n_cells)
    for worker in range(first_worker, last_worker):
        begin = worker * size
        for k in range(0, n_cells, step):
            x = load_simd_row(log_confusion, np.uint64(begin + k), width)
            for at in range(n_labels + k, size + k, n_labels):
                x = max_of_simd_rows(x, load_simd_row(log_confusion, np.uint64(begin + at), width))
            store_simd_row(best, np.uint64(k), multiply_simd_rows(x, -1.0))
            mass = exp_of_simd_row(
                add_simd_rows(
                    load_simd_row(log_confusion, np.uint64(begin + k), width), load_simd_row(best, np.uint64(k), width)
                )
            )
            for at in range(n_labels + k, size + k, n_labels):
                says = load_simd_row(log_confusion, np.uint64(begin + at), width)
                mass = add_simd_rows(
                    mass, exp_of_simd_row(add_simd_rows(says, load_simd_row(best, np.uint64(k), width)))
                )
            store_simd_row(shift, np.uint64(k), mass)
        for k in range(n_labels):
            shift[k] = fast_log(shift[k]) - best[k]
        for at in range(begin, begin + size, n_labels):
            mine = log_confusion[at : at + n_labels]
            for k in range(n_labels):
                mine[k] -= shift[k]
