"""M-step and renormalisation of confusion matrices, stored as flat tables of logs [worker, said, true] with spare cells."""

from typing import Any

import numpy as np

from plurivox.core.types import Floats
from plurivox.engine.jit import kernel
from plurivox.engine.kernels.fast_math import fast_log
from plurivox.engine.kernels.simd import add, add_scaled, elementwise_max, exp, load, scale, store

TINY = 1e-300  # smallest probability: its log is finite, so that impossible tasks stay comparable


@kernel
def m_step(
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
            n_true = add(load(counts, np.uint64(begin + k), width), load(pseudo_counts, np.uint64(k), width))
            for at in range(n_labels + k, size + k, n_labels):
                n_true = add(n_true, load(counts, np.uint64(begin + at), width))
                n_true = add(n_true, load(pseudo_counts, np.uint64(at), width))
            store(by, np.uint64(k), n_true)
        for k in range(n_cells):
            even[k] = 0.0 if by[k] > TINY else 1 / n_labels
            by[k] = 1 / by[k] if by[k] > TINY else 0.0
        for at in range(0, size, n_labels):  # row by row: the next row overwrites cells written beyond the end
            for k in range(0, n_cells, step):
                n_said = add(
                    load(counts, np.uint64(begin + at + k), width), load(pseudo_counts, np.uint64(at + k), width)
                )
                x = add_scaled(load(even, np.uint64(k), width), n_said, load(by, np.uint64(k), width))
                store(share, np.uint64(at + k), x)
        mine = log_confusion[begin : begin + size]
        for i in range(size):
            mine[i] = fast_log(max(share[i], TINY))


@kernel
def renormalise(first_worker: int, last_worker: int, n_labels: int, width: Any, log_confusion: Floats) -> None:
    """Renormalise the confusion matrices (logs) of a range of workers, in place, so that p(said | true) sums to one."""
    size, step = n_labels * n_labels, 4 * len(width)
    n_cells = -(-n_labels // step) * step
    best, shift = np.empty(n_cells), np.empty(n_cells)
    for worker in range(first_worker, last_worker):
        begin = worker * size
        for k in range(0, n_cells, step):
            x = load(log_confusion, np.uint64(begin + k), width)
            for at in range(n_labels + k, size + k, n_labels):
                x = elementwise_max(x, load(log_confusion, np.uint64(begin + at), width))
            store(best, np.uint64(k), scale(x, -1.0))
            mass = exp(add(load(log_confusion, np.uint64(begin + k), width), load(best, np.uint64(k), width)))
            for at in range(n_labels + k, size + k, n_labels):
                says = load(log_confusion, np.uint64(begin + at), width)
                mass = add(mass, exp(add(says, load(best, np.uint64(k), width))))
            store(shift, np.uint64(k), mass)
        for k in range(n_labels):
            shift[k] = fast_log(shift[k]) - best[k]
        for at in range(begin, begin + size, n_labels):
            mine = log_confusion[at : at + n_labels]
            for k in range(n_labels):
                mine[k] -= shift[k]
