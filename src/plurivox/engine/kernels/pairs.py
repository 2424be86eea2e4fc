"""Pairs of workers who met on the same tasks."""

import numpy as np

from plurivox.core.names import Floats, Ints
from plurivox.engine.jit import kernel
from plurivox.engine.kernels.rows import fetch

AHEAD = 8  # rows of a worker that are brought near before they are wanted: they lie far apart
LABEL_BITS = 31


def packed(task: Ints, worker: Ints, label: Ints) -> Ints:
    """(n_rows,) a plain vote in one number: worker, label, and whether it is the last one of its task."""
    key = worker.astype(np.int64) << (LABEL_BITS + 1)
    key |= label.astype(np.int64) << 1
    key[:-1] |= task[1:] != task[:-1]
    key[-1:] |= 1
    return key


@kernel
def kappas(
    first: int,
    last: int,
    order: Ints,
    begin: Ints,
    key: Ints,
    task: Ints,
    times: Floats,
    apart: Floats,
    least: float,
    by_tasks: bool,
    table: Floats,
    met: Ints,
    sums: Floats,
) -> None:
    """Cohen's kappa of the workers first:last with every later one: add up kappas, their weights, pairs, undefined.

    `key` are `packed` votes sorted by task and worker; those of worker w are order[begin[w]:begin[w + 1]], and `task`
    is in that order too. `times` (n_tasks,) is how often each task counts, `apart` (n_labels, n_labels) how far two
    labels are. A pair counts if it shares `least` tasks, however often they count. `table` is scratch, zero before and
    after: for each worker met, how often they met, tasks drawn, distance, and the labels of the one and of the other.
    `met` is scratch too.
    """
    n_labels = len(apart)
    width = 3 + 2 * n_labels
    mask = (1 << LABEL_BITS) - 1
    for w in range(first, last):
        n_met = 0
        for i in range(begin[w], begin[w + 1]):
            fetch(key, order[min(i + AHEAD, len(order) - 1)])
            row, often = order[i], times[task[i]]
            said = (key[row] >> 1) & mask
            while key[row] & 1 == 0:
                row += 1
                u = key[row] >> (LABEL_BITS + 1)
                if u == w:
                    continue
                other, at = (key[row] >> 1) & mask, u * width
                if table[at] == 0:
                    met[n_met] = u
                    n_met += 1
                table[at] += 1
                table[at + 1] += often
                table[at + 2] += often * apart[said, other]
                table[at + 3 + said] += often
                table[at + 3 + n_labels + other] += often
        for i in range(n_met):
            at = met[i] * width
            if table[at] >= least:
                add_kappa(table[at : at + width], apart, by_tasks, sums)
            table[at : at + width] = 0.0


@kernel
def add_kappa(pair: Floats, apart: Floats, by_tasks: bool, sums: Floats) -> None:
    """The kappa of one pair of workers, from its cells of the table."""
    n_labels = len(apart)
    n, seen, by_chance = pair[1], pair[2], 0.0
    for a in range(n_labels):
        if pair[3 + a] > 0:
            for b in range(n_labels):
                by_chance += apart[a, b] * pair[3 + a] * pair[3 + n_labels + b]
    if by_chance > 0:
        sums[0] += (1 - seen * n / by_chance) * (n if by_tasks else 1.0)
        sums[1] += n if by_tasks else 1.0
        sums[2] += 1
    else:
        sums[3] += 1
