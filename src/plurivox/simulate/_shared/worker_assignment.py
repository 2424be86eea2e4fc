"""Who answers what: every task gets different workers."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from plurivox.core.errors import OptionError
from plurivox.core.types import Bools, Floats, Ints
from plurivox.engine import threads

ROUNDS = 30  # of drawing again whom a task has already, before every worker is looked at
PIECE = 2**16  # votes drawn at a time
CELLS = 2**22  # numbers drawn at a time


class VoteDesign(NamedTuple):
    """How many votes are wanted, and by how many people."""

    n_tasks: int
    n_workers: int
    feedback: int
    workload: int | None = None
    imbalance_votes: bool = False
    share: Floats | None = None  # (n_workers,) how much each works; None: all the same


def assign(asked: VoteDesign, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """(task, worker) of every vote, sorted."""
    if asked.workload is not None:
        load = np.zeros(asked.n_workers, np.int64)
        groups = [np.sort(_fair_workers(asked, load, asked.n_tasks - i, rng)) for i in range(asked.n_tasks)]
        task = np.repeat(np.arange(asked.n_tasks, dtype=np.int32), [len(group) for group in groups])
        return task, np.concatenate(groups).astype(np.int32)
    chosen = np.empty((asked.n_tasks, asked.feedback), np.int32)

    def some_tasks(part: slice, own: np.random.Generator) -> None:
        few = asked._replace(n_tasks=part.stop - part.start)
        found = choose_workers(few, own)
        chosen[part] = (_not_all(few, found, own) if asked.imbalance_votes else found).T
        chosen[part].sort(axis=1)

    in_pieces(asked.n_tasks, max(1, PIECE // asked.feedback), some_tasks, rng)
    if not asked.imbalance_votes:
        return np.repeat(np.arange(asked.n_tasks, dtype=np.int32), asked.feedback), chosen.ravel()
    of, place = np.nonzero(chosen < asked.n_workers)
    return of.astype(np.int32), chosen[of, place]


def in_pieces(n: int, size: int, work: Callable[[slice, np.random.Generator], None], rng: np.random.Generator) -> None:
    """Work through n rows in pieces that stay in the cache, on threads; each has a chance of its own.

    The cut hangs on n alone, so the draws are the same for any number of threads.
    """
    edges = [*range(0, n, size), n]
    own = rng.spawn(len(edges) - 1)
    threads.parallel_map(lambda i: work(slice(edges[i], edges[i + 1]), own[i]), len(edges) - 1)


def _not_all(asked: VoteDesign, chosen: Ints, rng: np.random.Generator) -> Ints:
    """(feedback, n_tasks) the first 1 to `feedback` of those chosen; `n_workers`, nobody, in place of the others."""
    if asked.share is None:
        chosen = rng.permuted(chosen, axis=0)  # those chosen late by Floyd's steps are not like those chosen early
    wanted = np.arange(asked.feedback)[:, None] < rng.integers(1, asked.feedback + 1, asked.n_tasks)
    return np.where(wanted, chosen, asked.n_workers)


def choose_workers(asked: VoteDesign, rng: np.random.Generator) -> Ints:
    """(feedback, n_tasks): every task gets `feedback` different workers, evenly at random or by their shares.

    Floyd's sampling without replacement (Bentley and Floyd 1987, https://doi.org/10.1145/30401.315746), one step for all
    tasks at once: in step i draw from 0..j with j = n_workers - feedback + i; who is chosen already is replaced by j.
    """
    if asked.share is not None:
        return _choose_by_share(asked, asked.share, rng)
    chosen = np.empty((asked.feedback, asked.n_tasks), np.int32)
    for i in range(asked.feedback):
        newest = asked.n_workers - asked.feedback + i
        draw = rng.integers(0, newest + 1, asked.n_tasks, dtype=np.int32)
        chosen[i] = np.where(_taken(chosen[:i], draw), newest, draw)
    return chosen


def _taken(chosen: Ints, draw: Ints) -> Bools:
    """(n_tasks,) whether a task has the worker already."""
    taken = np.zeros(len(draw), bool)
    for earlier in chosen:
        taken |= earlier == draw
    return taken


def _choose_by_share(asked: VoteDesign, share: Floats, rng: np.random.Generator) -> Ints:
    """One worker after another by their shares; whom a task has already is drawn again.

    Where that takes too long, since few workers do nearly everything, the next one is drawn among all who are left.
    """
    steps = np.cumsum(share)
    chosen = np.full((asked.feedback, asked.n_tasks), -1, np.int32)
    for i in range(asked.feedback):
        open_ = np.arange(asked.n_tasks)
        for _ in range(ROUNDS):
            draw = np.searchsorted(steps, rng.random(len(open_)) * steps[-1], side="right").astype(np.int32)
            taken = _taken(chosen[:i, open_], draw)
            chosen[i, open_[~taken]] = draw[~taken]
            open_ = open_[taken]
            if not len(open_):
                break
        for part in np.array_split(open_, -(-len(open_) * asked.n_workers // CELLS) or 1):
            chosen[i, part] = _draw_among_others(chosen[:i, part], share, rng)
    return chosen


def _draw_among_others(chosen: Ints, share: Floats, rng: np.random.Generator) -> Ints:
    """(n_tasks,) a worker that the task lacks, by the shares of those: the first of exponential clocks to ring."""
    ring = rng.standard_exponential((chosen.shape[1], len(share))) / share
    np.put_along_axis(ring, chosen.T.astype(np.int64), np.inf, axis=1)
    return ring.argmin(1)


def _fair_workers(asked: VoteDesign, load: Ints, n_left: int, rng: np.random.Generator) -> Ints:
    """The workers of the next of `n_left` tasks, such that those after it can still get theirs; `load` is kept.

    A worker has min(free, n_left) votes to give. Every task takes one from each who can answer all that is left, asked or
    not, so as many of these must be asked as the votes to spare do not cover; the others are drawn as always.
    """
    assert asked.workload is not None
    free, n, must = asked.workload - load, asked.feedback, np.zeros(0, np.int64)
    if asked.imbalance_votes:  # each of the others needs one vote
        n = int(rng.integers(0, min(n, int((free > 0).sum()), int(free.sum()) - n_left + 1))) + 1
    else:
        full, spare = np.flatnonzero(free >= n_left), int(np.minimum(free, n_left).sum()) - n_left * n
        must = rng.permutation(full)[: len(full) - spare] if len(full) > spare else must
    open_ = free > 0
    open_[must] = False
    rest = np.flatnonzero(open_)
    weight = None if asked.share is None or not len(rest) else asked.share[rest] / asked.share[rest].sum()
    workers = must if len(must) == n else np.append(must, rng.choice(rest, n - len(must), replace=False, p=weight))
    load[workers] += 1
    return workers


def next_workers(asked: VoteDesign, load: Ints, rng: np.random.Generator) -> Ints:
    """The workers of the next task, among those who have answered fewer than `workload` tasks; `load` is kept."""
    free = np.flatnonzero(load < asked.workload) if asked.workload is not None else np.arange(len(load))
    n = min(asked.feedback, len(free))
    if not n:
        raise OptionError(f"all {asked.n_workers} workers have answered {asked.workload} tasks; raise the workload")
    if asked.imbalance_votes:
        n = int(rng.choice(range(n))) + 1
    weight = None if asked.share is None else asked.share[free] / asked.share[free].sum()
    workers = rng.choice(free, replace=False, size=n, p=weight)
    load[workers] += 1
    return workers
