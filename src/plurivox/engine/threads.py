"""Blocks: a fixed cut of the tasks, run on threads, summed in block order.

The cut depends on the votes alone and the sums are added in the order of the blocks, so the answer has the same bits
for any number of threads. The thread that asks takes blocks too, and others only help it: work started from several
threads at once, from inside a block, or after a fork always gets done.
"""

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from plurivox.core.errors import OptionError
from plurivox.core.types import Floats, Ints
from plurivox.engine.memory import CACHE_LINE_FLOATS, aligned_empty

T = TypeVar("T")

MAX_BLOCKS = 64  # enough for the cores of a large machine
MIN_BLOCK_VOTES = 20_000  # votes: below this a thread costs more than it brings
MIN_ADDITIONS_PER_CELL = 8  # the blocks' own sums hold at most an eighth of the numbers that the votes add to them

_lock = threading.Lock()
_pool: tuple[int, ThreadPoolExecutor] | None = None  # how many helpers, and they
_threads: int | None = None


def set_threads(n: int | None) -> None:
    """Use `n` threads from now on; None: what PLURIVOX_THREADS says, else one a core. Answers do not depend on it."""
    global _threads
    if n is not None and n < 1:
        raise OptionError(f"threads must be at least 1; got {n}")
    _threads = n


def n_threads() -> int:
    """How many threads work at a time."""
    if _threads is not None:
        return _threads
    if setting := os.environ.get("PLURIVOX_THREADS"):
        if not setting.isdigit() or int(setting) < 1:
            raise OptionError(f"PLURIVOX_THREADS must be a whole number, at least 1; it is {setting!r}")
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_map(work: Callable[[int], T], n: int) -> list[T]:
    """[work(0), ..., work(n - 1)], some at the same time. The first error stops the rest and is raised."""
    helpers = min(n_threads(), n) - 1
    if helpers <= 0:
        return [work(i) for i in range(n)]
    done: list[Any] = [None] * n
    turn, stop = itertools.count(), threading.Event()

    def take() -> None:
        try:
            while not stop.is_set() and (i := next(turn)) < n:
                done[i] = work(i)
        except BaseException:
            stop.set()
            raise

    helping = _submit_to_pool(take, helpers)
    try:
        take()
    finally:  # wait for blocks under way, also when Ctrl-C came; those who never came are sent home
        late = [one for one in helping if not one.cancel()]
        errors = [error for one in late if (error := one.exception()) is not None]
    if errors:
        raise errors[0]
    return done


class Blocks:
    """Tasks in a fixed number of runs with about equally many votes each.

    `cells` is how many numbers a block sums up (workers x labels x labels for confusion matrices): every block has a
    set of its own, so where the sums are large beside the votes there are fewer blocks.

    >>> start = np.array([0, 3, 5, 9])  # three tasks with 3, 2 and 4 votes
    >>> blocks = Blocks(start, cells=1)
    >>> def work(first, last, total):
    ...     total += start[last] - start[first]
    ...     return float(last - first)
    >>> blocks.gather(work, 1)
    (3.0, (array([9.]),))
    """

    edges: Ints  # (n_blocks + 1,) block b holds the tasks edges[b]:edges[b + 1]

    def __init__(self, start: Ints, *, cells: int = 1, width: int = 1) -> None:
        """`start` (n_tasks + 1,) where the votes of each task begin; each vote adds `width` numbers to the sums."""
        n_tasks, n_votes = len(start) - 1, int(start[-1])
        room = n_votes * width // (MIN_ADDITIONS_PER_CELL * max(cells, 1))
        n = max(1, min(MAX_BLOCKS, n_tasks, n_votes // MIN_BLOCK_VOTES, room))
        n = n // 4 * 4 if n > 4 else n  # so that two or four threads end together
        cut = np.searchsorted(start, np.arange(1, n) * (n_votes / n))
        self.edges = np.concatenate([[0], np.minimum(cut, n_tasks), [n_tasks]]).astype(np.int64)
        self._memory: Floats = np.empty(0)

    def __len__(self) -> int:
        return len(self.edges) - 1

    def map(self, work: Callable[[int, int], T]) -> list[T]:
        """[work(first, last)] for each block of the tasks first:last, in block order."""
        return parallel_map(lambda b: work(int(self.edges[b]), int(self.edges[b + 1])), len(self))

    def map_and_sum(self, work: Callable[..., float], *sizes: int) -> tuple[float, tuple[Floats, ...]]:
        """Run `work(first, last, *sums)` on every block: (the numbers it returned, the sums it filled), each added up.

        `sums` are flat arrays of zeros of the given sizes, a block's own, each aligned to a cache line. What comes back is
        new memory. The blocks keep theirs for the next call, so one `Blocks` is for one fit, not for two threads at a time.
        """
        *begins, n_cells = itertools.accumulate(
            (-(-size // CACHE_LINE_FLOATS) * CACHE_LINE_FLOATS for size in sizes), initial=0
        )
        if len(self._memory) < len(self) * n_cells:
            self._memory = aligned_empty(len(self) * n_cells)
        parts = self._memory[: len(self) * n_cells].reshape(len(self), n_cells)

        def one(b: int) -> float:
            parts[b] = 0.0
            sums = [parts[b, begin : begin + size] for begin, size in zip(begins, sizes, strict=True)]
            return work(int(self.edges[b]), int(self.edges[b + 1]), *sums)

        values = parallel_map(one, len(self))
        total = sum_over_blocks(parts)
        return sum(values), tuple(total[begin : begin + size] for begin, size in zip(begins, sizes, strict=True))


def sum_over_blocks(parts: Floats, piece: int = 2**16) -> Floats:
    """(n,) the sum of (n_blocks, n) over the blocks, always in their order; pieces of it run side by side."""
    total = np.empty(parts.shape[1])

    def one(i: int) -> None:
        here = slice(i * piece, (i + 1) * piece)
        total[here] = parts[0, here]
        for part in parts[1:]:
            total[here] += part[here]

    parallel_map(one, -(-len(total) // piece))
    return total


def _submit_to_pool(take: Callable[[], None], n: int) -> list[Future[None]]:
    """The same job handed to `n` helpers of this process."""
    global _pool
    with _lock:
        if _pool is None or _pool[0] < n:
            if _pool is not None:
                _pool[1].shutdown(wait=False)  # helpers at work finish what they have
            _pool = (n, ThreadPoolExecutor(n, thread_name_prefix="plurivox"))
        return [_pool[1].submit(take) for _ in range(n)]


def _reset_after_fork() -> None:
    """In a forked child the helpers are gone, and the lock may be held by a thread that is."""
    global _lock, _pool
    _lock, _pool = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
