"""How much of the rest of the crowd says the same as each vote."""

import numpy as np

from plurivox.core.names import Floats, Ints
from plurivox.engine.jit import kernel

NOBODY = 1e-9  # votes of others below which there are none


@kernel
def shares_of_rest(
    first: int, last: int, start: Ints, worker: Ints, label: Ints, weight: Floats | None, n_labels: int, out: Floats
) -> None:
    """out[v] = the share of the others' votes on the task of v that are for its label; nan where there are no others.

    Rows of a task are sorted by worker, then label, so that all of one worker's votes lie side by side, those for one label
    too. Rows without a name (worker -1) only count among the others: theirs is nan.
    """
    mass = np.zeros(n_labels)
    for t in range(first, last):
        total = 0.0
        for v in range(start[t], start[t + 1]):
            w = 1.0 if weight is None else weight[v]
            mass[label[v]] += w
            total += w
        v = start[t]
        while v < start[t + 1]:
            end, own = v, 0.0
            while end < start[t + 1] and worker[end] == worker[v]:
                own += 1.0 if weight is None else weight[end]
                end += 1
            others = total - own
            while v < end:
                same, mine = v, 0.0
                while same < end and label[same] == label[v]:
                    mine += 1.0 if weight is None else weight[same]
                    same += 1
                known = worker[v] >= 0 and others > NOBODY
                out[v:same] = (mass[label[v]] - mine) / others if known else np.nan
                v = same
        for v in range(start[t], start[t + 1]):
            mass[label[v]] = 0.0
