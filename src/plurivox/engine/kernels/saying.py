"""What workers are expected to say of tasks, by a net's output and a row of numbers of each worker; and the way back.

Every vote is handled where it lies and only the rows of workers who voted are read or written, so that a step costs the
same whether the crowd is small or large.
"""

import math

import numpy as np

from plurivox.core.names import Bools, Floats, Ints
from plurivox.engine.jit import kernel, part

FULL, SCALE, SHIFT, SCALE_SHIFT, ONE_SCALE = range(5)  # what the row of a worker does to the output
WIDTHS = {  # numbers in a row, by n_labels
    FULL: lambda k: k * k,  # flat [true, said]
    SCALE: lambda k: k,
    SHIFT: lambda k: k,
    SCALE_SHIFT: lambda k: 2 * k,
    ONE_SCALE: lambda k: 1,
}


@kernel
def say(
    kind: int,
    output: Floats,
    worker: Ints,
    label: Ints,
    weight: Floats,
    table: Floats,
    each: Floats,
    excess: Floats,
) -> None:
    """Add to each[task] the weighted cross-entropy of its votes, and fill excess[task, vote, said].

    `output` (n, n_labels); `worker`, `label`, `weight` (n, most), weight 0 where there is no vote; `excess` is the
    gradient of the loss by what is said: weight * (softmax - vote).
    """
    n, n_labels = output.shape
    for i in range(n):
        for j in range(worker.shape[1]):
            w = weight[i, j]
            if w <= 0:
                continue
            score = excess[i, j]
            _score(kind, output[i], table[worker[i, j]], score)
            best = score[0]
            for k in range(1, n_labels):
                best = max(best, score[k])
            mass, said = 0.0, score[label[i, j]]
            for k in range(n_labels):
                score[k] = math.exp(score[k] - best)
                mass += score[k]
            each[i] += w * (best + math.log(mass) - said)
            for k in range(n_labels):
                score[k] *= w / mass
            score[label[i, j]] -= w


@kernel
def hear(
    kind: int,
    output: Floats,
    worker: Ints,
    weight: Floats,
    table: Floats,
    excess: Floats,
    by: Floats,
    d_output: Floats,
    d_table: Floats,
    touched: Bools,
) -> None:
    """The way back: add to d_output[task, label] and d_table[worker], where task i weighs by[i]; mark who was touched."""
    n, n_labels = output.shape
    for i in range(n):
        for j in range(worker.shape[1]):
            if weight[i, j] <= 0:
                continue
            who = worker[i, j]
            touched[who] = True
            _push(kind, output[i], table[who], excess[i, j], by[i], n_labels, d_output[i], d_table[who])


@part
def _score(kind: int, output: Floats, row: Floats, score: Floats) -> None:
    """score[said] = what the row makes of the output, before the softmax."""
    n_labels = len(output)
    if kind == FULL:
        for said in range(n_labels):
            score[said] = 0
        for true in range(n_labels):
            for said in range(n_labels):
                score[said] += output[true] * row[true * n_labels + said]
    elif kind == SCALE:
        for k in range(n_labels):
            score[k] = output[k] * row[k]
    elif kind == SHIFT:
        for k in range(n_labels):
            score[k] = output[k] + row[k]
    elif kind == SCALE_SHIFT:
        for k in range(n_labels):
            score[k] = output[k] * row[k] + row[n_labels + k]
    else:
        for k in range(n_labels):
            score[k] = output[k] * row[0]


@part
def _push(
    kind: int, output: Floats, row: Floats, excess: Floats, by: float, n_labels: int, d_output: Floats, d_row: Floats
) -> None:
    """The gradient of one vote, added to that of its task's output and of its worker's row."""
    if kind == FULL:
        for true in range(n_labels):
            total, at, mine = np.float32(0), true * n_labels, by * output[true]
            for said in range(n_labels):
                total += excess[said] * row[at + said]
                d_row[at + said] += mine * excess[said]
            d_output[true] += by * total
    elif kind == SHIFT:
        for k in range(n_labels):
            d_output[k] += by * excess[k]
            d_row[k] += by * excess[k]
    elif kind == ONE_SCALE:
        for k in range(n_labels):
            d_output[k] += by * excess[k] * row[0]
            d_row[0] += by * excess[k] * output[k]
    else:
        for k in range(n_labels):
            d_output[k] += by * excess[k] * row[k]
            d_row[k] += by * excess[k] * output[k]
            if kind == SCALE_SHIFT:
                d_row[n_labels + k] += by * excess[k]
