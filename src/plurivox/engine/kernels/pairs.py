"""Pairs of workers who met on the same tasks."""

from plurivox.core.names import Floats, Ints
from plurivox.engine.jit import kernel


@kernel
def kappas(
    first: int,
    last: int,
    order: Ints,
    begin: Ints,
    task: Ints,
    start: Ints,
    worker: Ints,
    label: Ints,
    times: Floats,
    apart: Floats,
    least: float,
    by_tasks: bool,
    table: Floats,
    met: Ints,
    sums: Floats,
) -> None:
    """Cohen's kappa of the workers first:last with every later one: add up kappas, their weights, pairs, undefined.

    Rows are plain votes sorted by task and worker; those of worker w are order[begin[w]:begin[w + 1]]. `times` (n_tasks,)
    is how often each task counts, `apart` (n_labels, n_labels) how far two labels are. `table` is scratch, zero before
    and after: for each worker met, tasks shared, distance, and the labels of the one and of the other. `met` is scratch.
    """
    n_labels = len(apart)
    width = 2 + 2 * n_labels
    for w in range(first, last):
        n_met = 0
        for i in range(begin[w], begin[w + 1]):
            row = order[i]
            t = task[row]
            if times[t] == 0:
                continue
            for other in range(row + 1, start[t + 1]):
                u = worker[other]
                if u == w:
                    continue
                at = u * width
                if table[at] == 0:
                    met[n_met] = u
                    n_met += 1
                table[at] += times[t]
                table[at + 1] += times[t] * apart[label[row], label[other]]
                table[at + 2 + label[row]] += times[t]
                table[at + 2 + n_labels + label[other]] += times[t]
        for i in range(n_met):
            at = met[i] * width
            n, seen, chance = table[at], table[at + 1], 0.0
            for a in range(n_labels):
                if table[at + 2 + a] > 0:
                    for b in range(n_labels):
                        chance += apart[a, b] * table[at + 2 + a] * table[at + 2 + n_labels + b]
            if n >= least:
                if chance > 0:
                    sums[0] += (1 - seen * n / chance) * (n if by_tasks else 1.0)
                    sums[1] += n if by_tasks else 1.0
                    sums[2] += 1
                else:
                    sums[3] += 1
            for k in range(width):
                table[at + k] = 0.0
