"""Sparse optimiser steps (Adam, SGD): update only the table rows with gradients, leave the others unchanged."""

import math

import numpy as np

from plurivox.core.array_types import Bools, Floats
from plurivox.engine.numba_compilation import compile_kernel


@compile_kernel
def sparse_adam_step(
    touched_rows: Bools,
    table: Floats,
    grad: Floats,
    first_moment: Floats,
    second_moment: Floats,
    step_count_of_row: Floats,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    decay: float,
    decoupled: bool,
) -> None:
    """Update the rows of `table` where `touched_rows` in place by one Adam step, with a step count per
    row; clear grad and touched.
    """
    old1, new1, old2, new2 = np.float32(beta1), np.float32(1 - beta1), np.float32(beta2), np.float32(1 - beta2)
    coupled, shrink = np.float32(0 if decoupled else decay), np.float32(1 - lr * decay if decoupled else 1)
    for row in range(len(table)):
        if not touched_rows[row]:
            continue
        touched_rows[row] = False
        step_count_of_row[row] += 1
        size = np.float32(lr / (1 - beta1 ** step_count_of_row[row]))
        root, least = np.float32(1 / math.sqrt(1 - beta2 ** step_count_of_row[row])), np.float32(eps)
        here, g, m, v = table[row], grad[row], first_moment[row], second_moment[row]
        for c in range(len(here)):
            now = g[c] + coupled * here[c]
            g[c] = 0
            m[c] = old1 * m[c] + new1 * now
            v[c] = old2 * v[c] + new2 * now * now
            here[c] = shrink * here[c] - size * m[c] / (np.sqrt(v[c]) * root + least)


@compile_kernel
def sparse_sgd_step(
    touched_rows: Bools,
    table: Floats,
    grad: Floats,
    momentum_buffer: Floats,
    step_count_of_row: Floats,
    lr: float,
    momentum: float,
    nesterov: bool,
    decay: float,
) -> None:
    """Update the rows of `table` where `touched_rows` in place by one SGD step with momentum; clear grad and touched."""
    for row in range(len(table)):
        if not touched_rows[row]:
            continue
        touched_rows[row] = False
        step_count_of_row[row] += 1
        for c in range(table.shape[1]):
            g = grad[row, c] + decay * table[row, c]
            grad[row, c] = 0
            momentum_buffer[row, c] = m = g if step_count_of_row[row] == 1 else momentum * momentum_buffer[row, c] + g
            table[row, c] -= lr * (g + momentum * m if nesterov else m)
