"""Forward and backward pass of the crowd layer: predict each worker's votes from a net's output and the worker's parameters.

Only the parameter rows of workers with votes in the batch are read or written, so that the cost of a step does not depend
on the number of workers.
"""

import math

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.engine.numba_compilation import compile_inlined_by_numba, compile_kernel

FULL, SCALE, SHIFT, SCALE_SHIFT, ONE_SCALE = range(5)  # how a worker's parameter row transforms the output
ROW_SIZES = {  # kind -> number of parameters per worker, a function of n_labels
    FULL: lambda k: k * k,  # flat [true, said]
    SCALE: lambda k: k,
    SHIFT: lambda k: k,
    SCALE_SHIFT: lambda k: 2 * k,
    ONE_SCALE: lambda k: 1,
}


@compile_kernel
def crowd_layer_forward(
    kind: int,
    use_softmax: bool,
    scale: float,
    logits: Floats,
    worker: Ints,
    label: Ints,
    weight: Floats,
    worker_params: Floats,
    output: Floats,
    loss: Floats,
    logits_grad: Floats,
) -> None:
    """Forward pass: fill output[task, label] (logits or their softmax), loss[task] and logits_grad[task, vote, said].

    `logits` (n, n_labels); `worker`, `label`, `weight` (n, max_votes), weight 0 for padding. `loss` is the weighted
    cross-entropy of a task's votes times `scale`, and `logits_grad` its gradient by the worker's logits: (softmax - vote) times
    both.
    """
    n, n_labels = logits.shape
    for i in range(n):
        loss[i] = 0
        output[i] = logits[i]
        if use_softmax:
            _softmax_in_place_return_logsumexp(output[i])
        for j in range(worker.shape[1]):
            w = np.float32(scale) * weight[i, j]
            if w <= 0:
                continue
            score = logits_grad[i, j]
            _fill_worker_logits(kind, output[i], worker_params[worker[i, j]], score)
            said = score[label[i, j]]
            loss[i] += w * (_softmax_in_place_return_logsumexp(score) - said)
            for k in range(n_labels):
                score[k] *= w
            score[label[i, j]] -= w


@compile_kernel
def crowd_layer_backward(
    kind: int,
    use_softmax: bool,
    task_weight: Floats,
    output: Floats,
    worker: Ints,
    weight: Floats,
    worker_params: Floats,
    logits_grad: Floats,
    d_logits: Floats,
    d_worker_params: Floats,
    touched: Bools,
) -> None:
    """Backward pass: fill d_logits[task, label], add to d_worker_params[worker], and set touched[worker]; task i has
    task_weight[i].
    """
    n, n_labels = output.shape
    for i in range(n):
        d_output_row = d_logits[i]
        d_output_row[:] = 0
        for j in range(worker.shape[1]):
            if weight[i, j] > 0:
                who = worker[i, j]
                touched[who] = True
                _add_vote_gradient(
                    kind,
                    output[i],
                    worker_params[who],
                    logits_grad[i, j],
                    task_weight[i],
                    n_labels,
                    d_output_row,
                    d_worker_params[who],
                )
        if use_softmax:
            mean = np.float32(0)
            for k in range(n_labels):
                mean += output[i, k] * d_output_row[k]
            for k in range(n_labels):
                d_output_row[k] = output[i, k] * (d_output_row[k] - mean)


@compile_inlined_by_numba
def _softmax_in_place_return_logsumexp(row: Floats) -> float:
    """Replace a row of float32 logits by its softmax, in place; return the log of the sum of their exponentials."""
    best, mass = row[0], np.float32(0)
    for k in range(1, len(row)):
        best = max(best, row[k])
    for k in range(len(row)):
        row[k] = math.exp(row[k] - best)
        mass += row[k]
    for k in range(len(row)):
        row[k] /= mass
    return best + math.log(mass)


@compile_inlined_by_numba
def _fill_worker_logits(kind: int, net_output: Floats, params_row: Floats, worker_logits: Floats) -> None:
    """Fill worker_logits[said], the logits of a worker's vote, from the net's output for a task and the worker's
    parameter row.
    """
    n_labels = len(net_output)
    if kind == FULL:
        for said in range(n_labels):
            worker_logits[said] = 0
        for true in range(n_labels):
            for said in range(n_labels):
                worker_logits[said] += net_output[true] * params_row[true * n_labels + said]
    elif kind == SCALE:
        for k in range(n_labels):
            worker_logits[k] = net_output[k] * params_row[k]
    elif kind == SHIFT:
        for k in range(n_labels):
            worker_logits[k] = net_output[k] + params_row[k]
    elif kind == SCALE_SHIFT:
        for k in range(n_labels):
            worker_logits[k] = net_output[k] * params_row[k] + params_row[n_labels + k]
    else:
        for k in range(n_labels):
            worker_logits[k] = net_output[k] * params_row[0]


@compile_inlined_by_numba
def _add_vote_gradient(
    kind: int,
    net_output: Floats,
    params_row: Floats,
    logits_grad: Floats,
    task_weight: float,
    n_labels: int,
    d_output: Floats,
    d_params_row: Floats,
) -> None:
    """Add the gradient of one vote to d_output of its task and to d_params_row of its worker."""
    if kind == FULL:
        for true in range(n_labels):
            total, at, mine = np.float32(0), true * n_labels, task_weight * net_output[true]
            for said in range(n_labels):
                total += logits_grad[said] * params_row[at + said]
                d_params_row[at + said] += mine * logits_grad[said]
            d_output[true] += task_weight * total
    elif kind == SHIFT:
        for k in range(n_labels):
            d_output[k] += task_weight * logits_grad[k]
            d_params_row[k] += task_weight * logits_grad[k]
    elif kind == ONE_SCALE:
        for k in range(n_labels):
            d_output[k] += task_weight * logits_grad[k] * params_row[0]
            d_params_row[0] += task_weight * logits_grad[k] * net_output[k]
    else:
        for k in range(n_labels):
            d_output[k] += task_weight * logits_grad[k] * params_row[k]
            d_params_row[k] += task_weight * logits_grad[k] * net_output[k]
            if kind == SCALE_SHIFT:
                d_params_row[n_labels + k] += task_weight * logits_grad[k]
