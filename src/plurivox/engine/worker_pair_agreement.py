"""Agreement of every pair of workers who share tasks: kappas summed over all pairs, or one row per pair."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.core.votes import Votes
from plurivox.engine.kernels.group_by import row_order_and_offsets_by_group
from plurivox.engine.kernels.kappa_and_vote_agreement import (
    ORDINAL,
    add_kappas_of_worker_pairs,
    count_worker_pairs,
    fill_agreement_of_worker_pairs,
    pack_worker_label_and_task_end,
)
from plurivox.engine.parallel_task_blocks import parallel_map
from plurivox.engine.second_compiler import KernelCall

POWERS = {"none": 0, "linear": 1, "quadratic": 2, "ordinal": ORDINAL}  # weights -> power of the distance of two labels
N_CHUNKS = 64  # fixed chunks of workers, so that the sums have the same bits for any number of threads
N_PAIR_CHUNKS = 16  # fewer if every chunk needs one number per task


class WorkerPairs(NamedTuple):
    """Agreement of pairs of workers who share tasks, one row per pair."""

    first: Ints  # (n_pairs,) code of the first worker
    second: Ints  # (n_pairs,) code of the second worker
    n_shared: Floats  # (n_pairs,) tasks that both answered
    distance: Floats  # (n_pairs,) mean distance of their labels on these; with weights = none, the share that differ
    chance_distance: Floats  # (n_pairs,) the mean distance by chance; kappa = 1 - distance / chance_distance
    kappa: Floats  # (n_pairs,) Cohen's kappa or Scott's pi; nan if both always give the same single label
    standard_error: Floats  # (n_pairs,) of kappa, over tasks (Fleiss, Cohen & Everitt 1969)
    mean_standard_error: float  # of the mean kappa of all pairs, over tasks (delta method)
    n_tasks: int  # tasks that some pair shares


class _PairRows(NamedTuple):
    """Votes in the form that the kernels of worker pairs read."""

    order: Ints
    begin: Ints
    key: Ints
    task: Ints
    row_weight: Floats | None
    worker_edges: list[int]  # of chunks of workers with about equal numbers of votes


def worker_pair_kernel_calls(votes: Votes) -> list[KernelCall]:
    """Return the kernels of `agreement_of_worker_pairs` for votes of these types, with example arguments."""
    codes, vector = np.empty(0, np.int64), np.empty(0)
    weight = None if votes.answer is None else vector
    chunk = 0, 0, codes, codes, codes
    of_tasks = np.empty(0, votes.task.dtype), weight, vector, vector, 0, False, 1
    return [
        (row_order_and_offsets_by_group, (votes.worker[:0], votes.n_workers)),
        (count_worker_pairs, (*chunk, weight, 1)),
        (
            fill_agreement_of_worker_pairs,
            (*chunk, *of_tasks, np.empty((0, 2), np.int64), np.empty((0, 5)), vector),
        ),
    ]


def _pair_rows(votes: Votes, n_chunks: int = N_CHUNKS) -> _PairRows:
    """Return the votes as the kernels of worker pairs read them, sorted by task, then worker."""
    task, worker, label, weight = votes.task, votes.worker, votes.label, None
    if votes.answer is not None:
        by_worker = np.lexsort((label, worker, task))
        task, worker, label, weight = task[by_worker], worker[by_worker], label[by_worker], votes.weights[by_worker]
    order, begin = row_order_and_offsets_by_group(worker, votes.n_workers)
    cut = np.unique(np.searchsorted(begin, np.linspace(0, begin[-1], min(n_chunks, votes.n_workers) + 1)[1:-1]))
    key = pack_worker_label_and_task_end(task, worker, label)
    return _PairRows(order, begin, key, task[order], weight, [0, *cut.tolist(), votes.n_workers])


def make_pair_kappa_sum_function(
    votes: Votes,
    label_positions: Floats,
    weights: str,
    *,
    pooled: bool,
    min_shared_tasks: int,
    weight_by_tasks: bool,
) -> Callable[[Floats, bool], Floats]:
    """Return a function (task weights, whether to use threads) -> sums over pairs: kappa, weight, pairs, undefined pairs.

    `pooled`: Scott's pi instead of Cohen's kappa. Rows of soft answers have weights.
    """
    found = _pair_rows(votes)
    edges = found.worker_edges

    def kappa_and_weight_sums_of_worker_range(task_weights: Floats, first_worker: int, end_worker: int) -> Floats:
        """Return sums over pairs with a worker in first_worker:end_worker: kappa, weight, pairs, undefined pairs."""
        sums = np.zeros(4)
        add_kappas_of_worker_pairs(
            first_worker,
            end_worker,
            found.order,
            found.begin,
            found.key,
            found.task,
            found.row_weight,
            task_weights,
            label_positions,
            POWERS[weights],
            pooled,
            min_shared_tasks,
            weight_by_tasks,
            sums,
        )
        return sums

    def kappa_and_weight_sums_over_all_pairs(task_weights: Floats, threaded: bool) -> Floats:
        """Return sums over all pairs of workers: kappa, weight, pairs, undefined pairs."""
        if not threaded:  # resamples run in parallel instead
            return kappa_and_weight_sums_of_worker_range(task_weights, 0, votes.n_workers)
        return np.sum(
            parallel_map(
                lambda i: kappa_and_weight_sums_of_worker_range(task_weights, edges[i], edges[i + 1]),
                len(edges) - 1,
            ),
            axis=0,
        )

    return kappa_and_weight_sums_over_all_pairs


def agreement_of_worker_pairs(
    votes: Votes, label_positions: Floats, weights: str, min_shared_tasks: int, *, pooled: bool = False
) -> WorkerPairs:
    """Return the agreement of every pair of workers who share `min_shared_tasks` tasks or more.

    `votes` have one answer per task and worker. `label_positions` (n_labels,) are used unless `weights` is none. `pooled`:
    Scott's pi instead of Cohen's kappa.

    >>> votes = Votes.of(task=list("aabbccdd"), worker=["ann", "bo"] * 4, label=list("xxxyyyyy"))
    >>> pairs = agreement_of_worker_pairs(votes, np.zeros(2), "none", 4)
    >>> pairs.n_shared, pairs.distance, pairs.kappa
    (array([4.]), array([0.25]), array([0.5]))
    """
    order, begin, key, task, row_weight, edges = _pair_rows(votes, N_PAIR_CHUNKS)
    one_per_task = np.ones(votes.n_tasks)

    def pairs_of_chunk(i: int) -> tuple[Ints, Floats, Floats]:
        """Return the worker codes (n_pairs, 2), the agreement (n_pairs, 5) and task influences of one chunk of workers."""
        chunk = (edges[i], edges[i + 1], order, begin, key)
        n = count_worker_pairs(*chunk, row_weight, min_shared_tasks)
        workers, table, influence = np.empty((n, 2), np.int64), np.empty((n, 5)), np.zeros(votes.n_tasks)
        fill_agreement_of_worker_pairs(
            *chunk,
            task,
            row_weight,
            one_per_task,
            label_positions,
            POWERS[weights],
            pooled,
            min_shared_tasks,
            workers,
            table,
            influence,
        )
        return workers, table, influence

    parts = parallel_map(pairs_of_chunk, len(edges) - 1)
    workers, table = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    n_defined = int((~np.isnan(table[:, 3])).sum())
    influence = np.sum([part[2] for part in parts], axis=0)
    error = float(np.sqrt((influence**2).sum()) / n_defined) if n_defined else np.nan
    return WorkerPairs(
        first=workers[:, 0],
        second=workers[:, 1],
        n_shared=table[:, 0],
        distance=table[:, 1],
        chance_distance=table[:, 2],
        kappa=table[:, 3],
        standard_error=table[:, 4],
        mean_standard_error=error,
        n_tasks=int((influence != 0).sum()),
    )
