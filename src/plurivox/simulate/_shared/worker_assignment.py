"""Random assignment of workers to tasks: every task gets different workers."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.errors import OptionError
from plurivox.engine import parallel_task_blocks

MAX_REDRAWS = 30  # rejected draws per vote before the worker is drawn among the remaining ones directly
CHUNK_VOTES = 2**16  # votes drawn per chunk
MAX_CELLS = 2**22  # random numbers drawn per block


class VoteDesign(NamedTuple):
    """The number of tasks and workers, votes per task, and limits on how many tasks a worker answers."""

    n_tasks: int
    n_workers: int
    feedback: int  # votes per task
    workload: int | None = None  # largest number of tasks per worker
    imbalance_votes: bool = False  # tasks get 1 to `feedback` votes
    worker_shares: Floats | None = None  # (n_workers,) probability to choose each worker; None: uniform


def draw_task_and_worker_per_vote(design: VoteDesign, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return (task, worker) of every vote, drawn at random and sorted by task, then worker."""
    if design.workload is not None:
        load = np.zeros(design.n_workers, np.int64)
        groups = [
            np.sort(_choose_next_task_workers_leaving_enough(design, load, design.n_tasks - i, rng))
            for i in range(design.n_tasks)
        ]
        task = np.repeat(np.arange(design.n_tasks, dtype=np.int32), [len(group) for group in groups])
        return task, np.concatenate(groups).astype(np.int32)
    chosen = np.empty((design.n_tasks, design.feedback), np.int32)

    def write_chosen_workers_of_tasks(tasks: slice, chunk_rng: np.random.Generator) -> None:
        """Write random workers of these tasks to `chosen`."""
        chunk = design._replace(n_tasks=tasks.stop - tasks.start)
        workers = choose_distinct_workers_per_task(chunk, chunk_rng)
        chosen[tasks] = (
            _replace_random_workers_by_n_workers(chunk, workers, chunk_rng) if design.imbalance_votes else workers
        ).T
        chosen[tasks].sort(axis=1)

    process_chunks_on_threads_with_own_rng(
        design.n_tasks, max(1, CHUNK_VOTES // design.feedback), write_chosen_workers_of_tasks, rng
    )
    if not design.imbalance_votes:
        return np.repeat(np.arange(design.n_tasks, dtype=np.int32), design.feedback), chosen.ravel()
    task_row, column = np.nonzero(chosen < design.n_workers)
    return task_row.astype(np.int32), chosen[task_row, column]


def process_chunks_on_threads_with_own_rng(
    n_rows: int, chunk_size: int, process_chunk: Callable[[slice, np.random.Generator], None], rng: np.random.Generator
) -> None:
    """Call `process_chunk(rows, chunk_rng)` on threads for each chunk of `n_rows` rows, with a generator spawned from `rng`.

    The chunks depend on `n_rows` and `chunk_size` only, so the draws are the same for any number of threads.
    """
    edges = [*range(0, n_rows, chunk_size), n_rows]
    chunk_rngs = rng.spawn(len(edges) - 1)
    parallel_task_blocks.parallel_map(
        lambda i: process_chunk(slice(edges[i], edges[i + 1]), chunk_rngs[i]), len(edges) - 1
    )


def _replace_random_workers_by_n_workers(design: VoteDesign, chosen_workers: Ints, rng: np.random.Generator) -> Ints:
    """Return (feedback, n_tasks) the chosen workers with all but a random 1 to `feedback` per task replaced by `n_workers`."""
    if design.worker_shares is None:
        # Floyd's sampling does not return the workers in random order
        chosen_workers = rng.permuted(chosen_workers, axis=0)
    kept = np.arange(design.feedback)[:, None] < rng.integers(1, design.feedback + 1, design.n_tasks)
    return np.where(kept, chosen_workers, design.n_workers)


def choose_distinct_workers_per_task(design: VoteDesign, rng: np.random.Generator) -> Ints:
    """Return (feedback, n_tasks) different random workers for every task, drawn uniformly or by `worker_shares`.

    Floyd's sampling without replacement (Bentley and Floyd 1987, https://doi.org/10.1145/30401.315746), one step for all
    tasks together: in step i draw from 0..j with j = n_workers - feedback + i; a worker chosen before is replaced by j.
    """
    if design.worker_shares is not None:
        return _choose_distinct_workers_per_task_by_share(design, design.worker_shares, rng)
    chosen = np.empty((design.feedback, design.n_tasks), np.int32)
    for i in range(design.feedback):
        newest = design.n_workers - design.feedback + i
        draw = rng.integers(0, newest + 1, design.n_tasks, dtype=np.int32)
        chosen[i] = np.where(_is_worker_already_chosen_for_task(chosen[:i], draw), newest, draw)
    return chosen


def _is_worker_already_chosen_for_task(chosen: Ints, drawn_worker: Ints) -> Bools:
    """Return (n_tasks,) whether the drawn worker is already among the chosen workers (n_chosen, n_tasks) of the task."""
    taken = np.zeros(len(drawn_worker), bool)
    for earlier in chosen:
        taken |= earlier == drawn_worker
    return taken


def _choose_distinct_workers_per_task_by_share(
    design: VoteDesign, worker_share: Floats, rng: np.random.Generator
) -> Ints:
    """Return (feedback, n_tasks) different random workers for every task, drawn with probabilities `worker_share` (n_workers,).

    A worker that the task already has is drawn again. After MAX_REDRAWS rejections, which happen if few workers have nearly
    all the share, the worker is drawn among the remaining ones directly.
    """
    cumulative = np.cumsum(worker_share)
    chosen = np.full((design.feedback, design.n_tasks), -1, np.int32)
    for i in range(design.feedback):
        open_tasks = np.arange(design.n_tasks)
        for _ in range(MAX_REDRAWS):
            point = rng.random(len(open_tasks)) * cumulative[-1]
            draw = np.searchsorted(cumulative, point, side="right").astype(np.int32)
            taken = _is_worker_already_chosen_for_task(chosen[:i, open_tasks], draw)
            chosen[i, open_tasks[~taken]] = draw[~taken]
            open_tasks = open_tasks[taken]
            if not len(open_tasks):
                break
        for block in np.array_split(open_tasks, -(-len(open_tasks) * design.n_workers // MAX_CELLS) or 1):
            chosen[i, block] = _draw_unchosen_worker_per_task(chosen[:i, block], worker_share, rng)
    return chosen


def _draw_unchosen_worker_per_task(chosen: Ints, worker_share: Floats, rng: np.random.Generator) -> Ints:
    """Return (n_tasks,) for each task a random worker not yet chosen for it, with probabilities `worker_share` (n_workers,)."""
    wait = rng.standard_exponential((chosen.shape[1], len(worker_share))) / worker_share
    np.put_along_axis(wait, chosen.T.astype(np.int64), np.inf, axis=1)
    return wait.argmin(1)


def _choose_next_task_workers_leaving_enough(
    design: VoteDesign, tasks_per_worker_to_update: Ints, n_tasks_left: int, rng: np.random.Generator
) -> Ints:
    """Return random workers for the next task, so that enough remain for later tasks; count their tasks in place.

    A worker has min(free, n_tasks_left) votes to give. A worker who could answer all remaining tasks loses one possible vote on
    every task, chosen or not, so as many of these must be chosen as the spare votes do not cover; the others are drawn at
    random.
    """
    assert design.workload is not None
    free, n, must = design.workload - tasks_per_worker_to_update, design.feedback, np.zeros(0, np.int64)
    if design.imbalance_votes:  # each later task needs one vote
        n = int(rng.integers(0, min(n, int((free > 0).sum()), int(free.sum()) - n_tasks_left + 1))) + 1
    else:
        full, spare = np.flatnonzero(free >= n_tasks_left), int(np.minimum(free, n_tasks_left).sum()) - n_tasks_left * n
        must = rng.permutation(full)[: len(full) - spare] if len(full) > spare else must
    is_free = free > 0
    is_free[must] = False
    rest, share = np.flatnonzero(is_free), design.worker_shares
    weight = None if share is None or not len(rest) else share[rest] / share[rest].sum()
    workers = must if len(must) == n else np.append(must, rng.choice(rest, n - len(must), replace=False, p=weight))
    tasks_per_worker_to_update[workers] += 1
    return workers


def choose_next_task_workers_below_workload(
    design: VoteDesign, tasks_per_worker_to_update: Ints, rng: np.random.Generator
) -> Ints:
    """Return random workers for the next task, each with fewer than `workload` tasks; count their tasks in place."""
    free = (
        np.flatnonzero(tasks_per_worker_to_update < design.workload)
        if design.workload is not None
        else np.arange(len(tasks_per_worker_to_update))
    )
    n = min(design.feedback, len(free))
    if not n:
        raise OptionError(f"all {design.n_workers} workers have answered {design.workload} tasks; raise the workload")
    if design.imbalance_votes:
        n = int(rng.choice(range(n))) + 1
    weight = None if design.worker_shares is None else design.worker_shares[free] / design.worker_shares[free].sum()
    workers = rng.choice(free, replace=False, size=n, p=weight)
    tasks_per_worker_to_update[workers] += 1
    return workers
