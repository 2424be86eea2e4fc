"""Steps of optimizers that move only the rows of a table which were touched; the others stay bit by bit."""

import math

from plurivox.core.names import Bools, Floats
from plurivox.engine.jit import kernel


@kernel
def adam(
    touched: Bools,
    table: Floats,
    grad: Floats,
    first: Floats,
    second: Floats,
    steps: Floats,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    decay: float,
    decoupled: bool,
) -> None:
    """One step of Adam for every touched row; each counts its own steps. Gradients and marks are wiped."""
    for row in range(len(table)):
        if not touched[row]:
            continue
        touched[row] = False
        steps[row] += 1
        size = lr / (1 - beta1 ** steps[row])
        root = math.sqrt(1 - beta2 ** steps[row])
        for c in range(table.shape[1]):
            here, g = table[row, c], grad[row, c]
            grad[row, c] = 0
            if decoupled:
                here -= lr * decay * here
            else:
                g += decay * here
            first[row, c] = m = beta1 * first[row, c] + (1 - beta1) * g
            second[row, c] = v = beta2 * second[row, c] + (1 - beta2) * g * g
            table[row, c] = here - size * m / (math.sqrt(v) / root + eps)


@kernel
def sgd(
    touched: Bools,
    table: Floats,
    grad: Floats,
    first: Floats,
    steps: Floats,
    lr: float,
    momentum: float,
    nesterov: bool,
    decay: float,
) -> None:
    """One step of gradient descent with momentum for every touched row. Gradients and marks are wiped."""
    for row in range(len(table)):
        if not touched[row]:
            continue
        touched[row] = False
        steps[row] += 1
        for c in range(table.shape[1]):
            g = grad[row, c] + decay * table[row, c]
            grad[row, c] = 0
            first[row, c] = m = g if steps[row] == 1 else momentum * first[row, c] + g
            table[row, c] -= lr * (g + momentum * m if nesterov else m)
