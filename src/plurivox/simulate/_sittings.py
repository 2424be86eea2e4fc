"""Sittings: a person answers some tasks in a row, and a few of them again at the end."""

from typing import NamedTuple

import numpy as np

from plurivox.core.names import Ints, Names, numbered


class Sat(NamedTuple):
    """One row = one answer: first answers in the order of the turns, then repeats."""

    turn: Ints  # (n,) the turn that is answered
    sitting: Ints  # (n,) which one of the worker's sittings
    position: Ints  # (n,) place in the sitting
    repeat_of: Ints  # (n,) the row that this one repeats; -1: none


def sit_down(worker: Ints, place: Ints, size: int, repeats: int, chance: np.random.Generator) -> Sat:
    """Cut each worker's sequence into sittings of `size` tasks; at the end of each, `repeats` of them come again."""
    n = len(worker)
    sitting, position = np.divmod(place, size)
    order = np.lexsort((chance.random(n), sitting, worker))
    new = np.concatenate([[True], (np.diff(worker[order]) != 0) | (np.diff(sitting[order]) != 0)])[:n]
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    rank = np.arange(n) - starts[group]  # in random order within the sitting
    length = np.diff([*starts, n])
    again = rank < repeats
    rows = order[again]
    return Sat(
        turn=np.concatenate([np.arange(n), rows]),
        sitting=np.concatenate([sitting, sitting[rows]]),
        position=np.concatenate([position, length[group[again]] + rank[again]]),
        repeat_of=np.concatenate([np.full(n, -1), rows]),
    )


def sitting_names(worker: Ints, sitting: Ints) -> Names:
    """(n,) a name for every worker's every sitting."""
    key = worker.astype(np.int64) * (int(sitting.max(initial=0)) + 1) + sitting
    found, code = np.unique(key, return_inverse=True)
    return numbered("sitting", len(found))[code]
