"""Multithreading: run work on a fixed division of the tasks into blocks, and sum the results in block order.

The blocks depend on the votes alone and sums are added in block order, so results have the same bits for any number of
threads. The calling thread processes blocks too, so calls from several threads, from inside a block or after a fork
cannot deadlock.
"""

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import OptionError
from plurivox.engine.available_memory_and_aligned_arrays import CACHE_LINE_FLOATS, cache_line_aligned_empty

T = TypeVar("T")

MAX_BLOCKS = 64  # enough for the cores of a large machine
MIN_BLOCK_VOTES = 20_000  # smaller blocks cost more in threading overhead than they gain
MIN_ADDITIONS_PER_CELL = 8  # on average, to each number that a block sums; otherwise adding up the blocks dominates

_lock = threading.Lock()
_pool: tuple[int, ThreadPoolExecutor] | None = None  # number of helper threads, and their pool
_threads: int | None = None


def set_threads(n: int | None) -> None:
    """Set the number of threads for computations; None: the environment variable PLURIVOX_THREADS, else one per core."""
    global _threads
    if n is not None and n < 1:
        raise OptionError(f"threads must be at least 1; got {n}")
    _threads = n


def n_threads() -> int:
    """Return the number of threads in use: as set, else PLURIVOX_THREADS, else one per core."""
    if _threads is not None:
        return _threads
    if setting := os.environ.get("PLURIVOX_THREADS"):
        if not setting.isdigit() or int(setting) < 1:
            raise OptionError(f"PLURIVOX_THREADS must be a whole number, at least 1; it is {setting!r}")
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_map(work: Callable[[int], T], n: int) -> list[T]:
    """Return [work(0), ..., work(n - 1)], computed on several threads. The first error stops the rest and is raised."""
    helpers = min(n_threads(), n) - 1
    if helpers <= 0:
        return [work(i) for i in range(n)]
    done: list[Any] = [None] * n
    next_index, stop = itertools.count(), threading.Event()

    def run_remaining_indices() -> None:
        """Call `work` for the next index until none is left or another thread has failed."""
        try:
            while not stop.is_set() and (i := next(next_index)) < n:
                done[i] = work(i)
        except BaseException:
            stop.set()
            raise

    futures = _submit_to_pool(run_remaining_indices, helpers)
    try:
        run_remaining_indices()
    finally:  # wait for running helpers, also after Ctrl-C; cancel those that have not started
        started = [one for one in futures if not one.cancel()]
        errors = [error for one in started if (error := one.exception()) is not None]
    if errors:
        raise errors[0]
    return done


class Blocks:
    """Division of the tasks into a fixed number of consecutive blocks with about equally many votes each.

    `n_sums` is the number of values that a block sums up (workers x labels x labels for confusion matrices): every block
    has its own sums, so there are fewer blocks if they are large compared with the votes.

    >>> start = np.array([0, 3, 5, 9])  # three tasks with 3, 2 and 4 votes
    >>> blocks = Blocks(start, n_sums=1)
    >>> def work(first, last, total):
    ...     total += start[last] - start[first]
    ...     return float(last - first)
    >>> blocks.map_over_task_blocks_and_sum(work, 1)
    (3.0, (array([9.]),))
    """

    edges: Ints  # (n_blocks + 1,) block b holds the tasks edges[b]:edges[b + 1]

    def __init__(self, start: Ints, *, n_sums: int = 1, sums_per_vote: int = 1) -> None:
        """Divide the tasks into blocks, given the CSR offsets of their votes; each vote adds to `sums_per_vote` of the
        `n_sums` sums.
        """
        n_tasks, n_votes = len(start) - 1, int(start[-1])
        affordable = n_votes * sums_per_vote // (MIN_ADDITIONS_PER_CELL * max(n_sums, 1))
        n = max(1, min(MAX_BLOCKS, n_tasks, n_votes // MIN_BLOCK_VOTES, affordable))
        n = n // 4 * 4 if n > 4 else n  # so that two or four threads finish together
        cut = np.searchsorted(start, np.arange(1, n) * (n_votes / n))
        self.edges = np.concatenate([[0], np.minimum(cut, n_tasks), [n_tasks]]).astype(np.int64)
        self._memory: Floats = np.empty(0)

    def __len__(self) -> int:
        return len(self.edges) - 1

    def map_over_task_blocks(self, work: Callable[[int, int], T]) -> list[T]:
        """Return the list of work(first, last) for each block of tasks first:last, in block order,
        computed on several threads.
        """
        return parallel_map(lambda b: work(int(self.edges[b]), int(self.edges[b + 1])), len(self))

    def map_over_task_blocks_and_sum(self, work: Callable[..., float], *sizes: int) -> tuple[float, tuple[Floats, ...]]:
        """Run `work(first, last, *sums)` on every block of tasks; return (sum of the results, arrays `sums` added up
        over blocks).

        Each block gets its own flat arrays of zeros of the given sizes, aligned to a cache line. The result is new memory.
        The blocks' arrays are reused by the next call, so a `Blocks` object must not be used by two threads concurrently.
        """
        *begins, n_cells = itertools.accumulate(
            (-(-size // CACHE_LINE_FLOATS) * CACHE_LINE_FLOATS for size in sizes), initial=0
        )
        if len(self._memory) < len(self) * n_cells:
            self._memory = cache_line_aligned_empty(len(self) * n_cells)
        parts = self._memory[: len(self) * n_cells].reshape(len(self), n_cells)

        def run_work_on_block(block_index: int) -> float:
            parts[block_index] = 0.0
            sums = [parts[block_index, begin : begin + size] for begin, size in zip(begins, sizes, strict=True)]
            return work(int(self.edges[block_index]), int(self.edges[block_index + 1]), *sums)

        values = parallel_map(run_work_on_block, len(self))
        total = sum_arrays_of_blocks(parts)
        return sum(values), tuple(total[begin : begin + size] for begin, size in zip(begins, sizes, strict=True))


def sum_arrays_of_blocks(block_arrays: Floats, chunk_size: int = 2**16) -> Floats:
    """(n,) the sum of `block_arrays` (n_blocks, n) over its first axis, added in order, computed on several threads."""
    total = np.empty(block_arrays.shape[1])

    def sum_chunk_over_blocks(chunk_index: int) -> None:
        here = slice(chunk_index * chunk_size, (chunk_index + 1) * chunk_size)
        total[here] = block_arrays[0, here]
        for part in block_arrays[1:]:
            total[here] += part[here]

    parallel_map(sum_chunk_over_blocks, -(-len(total) // chunk_size))
    return total


def _submit_to_pool(job: Callable[[], None], n_times: int) -> list[Future[None]]:
    """Submit one job `n_times` times to the thread pool of this process, which grows if needed; return the futures."""
    global _pool
    with _lock:
        if _pool is None or _pool[0] < n_times:
            if _pool is not None:
                _pool[1].shutdown(wait=False)  # running jobs finish
            _pool = (n_times, ThreadPoolExecutor(n_times, thread_name_prefix="plurivox"))
        return [_pool[1].submit(job) for _ in range(n_times)]


def _reset_thread_pool_after_fork() -> None:
    """Reset thread pool and lock in a forked child process, where the threads no longer exist and the lock may be held."""
    global _lock, _pool
    _lock, _pool = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_thread_pool_after_fork)
