"""Sittings: a person answers some tasks in a row, and a few of them again at the end."""

from typing import NamedTuple

import numpy as np

from plurivox.core.encoding import numbered_names
from plurivox.core.types import Floats, Ints, Names
from plurivox.simulate._shared.response_times import clock, draw_seconds


class Sat(NamedTuple):
    """One row = one answer: first answers in the order of the turns, then repeats; once timed, in the order they come."""

    turn: Ints  # (n,) the turn that is answered
    worker: Ints  # (n,)
    sitting: Ints  # (n,) which one of the worker's sittings
    position: Ints  # (n,) place in the sitting
    repeat_of: Ints  # (n,) the row that this one repeats; -1: none
    seconds: Floats | None = None  # (n,)
    when: Floats | None = None  # (n,)


def sit_down(worker: Ints, place: Ints, size: int, repeats: int, rng: np.random.Generator) -> Sat:
    """Cut each worker's sequence into sittings of `size` tasks; at the end of each, `repeats` of them come again."""
    n = len(worker)
    sitting, position = np.divmod(place, size)
    order = np.lexsort((rng.random(n), sitting, worker))
    new = np.concatenate([[True], (np.diff(worker[order]) != 0) | (np.diff(sitting[order]) != 0)])
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    rank = np.arange(n) - starts[group]  # in random order within the sitting
    length = np.diff([*starts, n])
    again = rank < repeats
    rows = order[again]
    return Sat(
        turn=np.concatenate([np.arange(n), rows]),
        worker=np.concatenate([worker, worker[rows]]),
        sitting=np.concatenate([sitting, sitting[rows]]),
        position=np.concatenate([position, length[group[again]] + rank[again]]),
        repeat_of=np.concatenate([np.full(n, -1), rows]),
    )


def timed(sat: Sat, place: Ints, pace: Floats | None, practised: float, rng: np.random.Generator) -> Sat:
    """The rows in the order they come, with times; without `pace` (n_workers,) person by person, and no times.

    `place` (n_turns,) is how many tasks the worker answered before.
    """
    if pace is None:
        return _in_order(sat, np.lexsort((sat.position, sat.sitting, sat.worker)))
    late = np.where(sat.repeat_of >= 0, sat.position, 0)  # who repeats has done the whole sitting
    seconds = draw_seconds(np.maximum(place[sat.turn], late), pace[sat.worker], practised, rng)
    when = clock(sat.worker, sat.sitting, sat.position, seconds, rng)
    return _in_order(sat._replace(seconds=seconds, when=when), np.argsort(when, kind="stable"))


def _in_order(sat: Sat, order: Ints) -> Sat:
    back = np.empty(len(order) + 1, np.int64)
    back[order], back[-1] = np.arange(len(order)), -1  # the last one stands for "none"
    moved = Sat(*(None if column is None else column[order] for column in sat))  # type: ignore[arg-type]
    return moved._replace(repeat_of=back[moved.repeat_of])


def sitting_names(worker: Ints, sitting: Ints) -> Names:
    """(n,) a name for every worker's every sitting."""
    key = worker.astype(np.int64) * (int(sitting.max(initial=0)) + 1) + sitting
    found, code = np.unique(key, return_inverse=True)
    return numbered_names("sitting", len(found))[code]
