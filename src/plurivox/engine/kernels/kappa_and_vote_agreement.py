"""Kernels of agreement: Cohen's kappa of pairs of workers, and the share of other votes that agree with each vote."""

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.kernels.simd_vector_type import prefetch_cache_line
from plurivox.engine.kernels.softmax_and_leave_worker_out import end_of_rows_of_same_worker
from plurivox.engine.numba_compilation import compile_inlined_by_numba, compile_kernel

PREFETCH_ROWS = 8  # how many rows of a worker ahead to prefetch: they are far apart in memory
LABEL_BITS = 31  # of a packed vote
MIN_OTHER_WEIGHT = 1e-9  # total weight of other votes below which there are none


def pack_worker_label_and_task_end(task: Ints, worker: Ints, label: Ints) -> Ints:
    """(n_rows,) each plain vote packed into one integer: worker, label, and whether it is the last vote on its task."""
    key = worker.astype(np.int64) << (LABEL_BITS + 1)
    key |= label.astype(np.int64) << 1
    key[:-1] |= task[1:] != task[:-1]
    key[-1:] |= 1
    return key


@compile_inlined_by_numba
def label_distance(a: int, b: int, label_positions: Floats, power: int) -> float:
    """Return the distance of two labels: for power 0, whether they differ (0 or 1); else |position of a - of b| ** power."""
    if power == 0:
        return 1.0 if a != b else 0.0
    return abs(label_positions[a] - label_positions[b]) ** power


@compile_kernel
def add_kappas_of_worker_pairs(
    first_worker: int,
    end_worker: int,
    order: Ints,
    begin: Ints,
    key: Ints,
    task: Ints,
    task_weights: Floats,
    label_positions: Floats,
    power: int,
    min_shared: int,
    weight_by_tasks: bool,
    sums_over_pairs: Floats,
) -> None:
    """Add Cohen's kappa of workers first_worker:end_worker with every later worker to `sums_over_pairs`.

    `sums_over_pairs` are (kappas, weights, n pairs, n undefined). `key` are votes of `pack_worker_label_and_task_end`
    sorted by task and worker; those of worker w are order[begin[w]:begin[w + 1]], and `task` has the same order.
    `task_weights` (n_tasks,) is the weight of each task; `label_positions` (n_labels,) and `power` define the distance of
    labels. A pair counts if it shares `min_shared` tasks. Most pairs of a large crowd do not: shared tasks are counted
    first, in an array that fits into the cache, and votes are collected for the other pairs only.
    """
    n_workers = len(begin) - 1
    count, free, partners = np.zeros(n_workers, np.int32), np.empty(n_workers, np.int64), np.empty(n_workers, np.int32)
    said, other, task_weight = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    ours, theirs = np.zeros(len(label_positions)), np.zeros(len(label_positions))
    for w in range(first_worker, end_worker):
        n_partners = find_later_workers_sharing_tasks(w, order, begin, key, count, partners)
        n_shared = assign_buffer_ranges_return_size(partners[:n_partners], count, min_shared, free)
        if n_shared:
            if n_shared > len(said):
                said, other, task_weight = (
                    np.empty(2 * n_shared, np.int64),
                    np.empty(2 * n_shared, np.int64),
                    np.empty(2 * n_shared),
                )
            collect_shared_votes(
                w, order, begin, key, task, task_weights, count, min_shared, free, said, other, task_weight
            )
        at = 0
        for i in range(n_partners):
            n = count[partners[i]]
            if n >= min_shared:
                pair = slice(at, at + n)
                add_kappa_of_one_pair(
                    said[pair],
                    other[pair],
                    task_weight[pair],
                    ours,
                    theirs,
                    label_positions,
                    power,
                    weight_by_tasks,
                    sums_over_pairs,
                )
                at += n
            count[partners[i]] = 0


@compile_kernel
def find_later_workers_sharing_tasks(
    worker: int, order: Ints, begin: Ints, key: Ints, n_shared: Ints, partners: Ints
) -> int:
    """Find the workers after `worker` who share a task: return their number, fill `partners`, and n_shared[u] with
    shared tasks.

    `n_shared` (n_workers,) must be zero before.
    """
    n_partners = 0
    for i in range(begin[worker], begin[worker + 1]):
        prefetch_cache_line(key, order[min(i + PREFETCH_ROWS, len(order) - 1)])
        row = order[i]
        while key[row] & 1 == 0:
            row += 1
            u = key[row] >> (LABEL_BITS + 1)
            if u != worker:
                if n_shared[u] == 0:
                    partners[n_partners] = u
                    n_partners += 1
                n_shared[u] += 1
    return n_partners


@compile_kernel
def assign_buffer_ranges_return_size(partners: Ints, n_shared: Ints, min_shared: int, next_index: Ints) -> int:
    """Fill next_index[u] with the first buffer index for the votes shared with partner u; return the buffer size needed.

    Partners who share fewer than `min_shared` tasks get none.
    """
    total = 0
    for u in partners:
        if n_shared[u] >= min_shared:
            next_index[u] = total
            total += n_shared[u]
    return total


@compile_kernel
def collect_shared_votes(
    worker: int,
    order: Ints,
    begin: Ints,
    key: Ints,
    task: Ints,
    task_weights: Floats,
    n_shared: Ints,
    min_shared: int,
    next_index: Ints,
    own_label: Ints,
    partner_label: Ints,
    task_weight: Floats,
) -> None:
    """Fill buffers with the labels of a worker and of each partner, and the weight, on every task they share, by partner.

    `next_index` is the next free index of each partner and is advanced.
    """
    mask = (1 << LABEL_BITS) - 1
    for i in range(begin[worker], begin[worker + 1]):
        row = order[i]
        here = (key[row] >> 1) & mask
        while key[row] & 1 == 0:
            row += 1
            u = key[row] >> (LABEL_BITS + 1)
            if u != worker and n_shared[u] >= min_shared:
                at = next_index[u]
                own_label[at], partner_label[at], task_weight[at] = here, (key[row] >> 1) & mask, task_weights[task[i]]
                next_index[u] = at + 1


@compile_kernel
def add_kappa_of_one_pair(
    own_label: Ints,
    partner_label: Ints,
    task_weight: Floats,
    own_totals: Floats,
    partner_totals: Floats,
    label_positions: Floats,
    power: int,
    weight_by_tasks: bool,
    sums_over_pairs: Floats,
) -> None:
    """Add Cohen's kappa of one pair of workers to `sums_over_pairs`, from their labels on shared tasks.

    The buffers `own_totals` and `partner_totals` (n_labels,) must be zero before and are zero after.
    """
    n = observed = by_chance = 0.0
    for i in range(len(own_label)):
        n += task_weight[i]
        observed += task_weight[i] * label_distance(own_label[i], partner_label[i], label_positions, power)
        own_totals[own_label[i]] += task_weight[i]
        partner_totals[partner_label[i]] += task_weight[i]
    for i in range(len(own_label)):  # each label once: its sum is cleared after use
        mine = own_totals[own_label[i]]
        own_totals[own_label[i]] = 0.0
        if mine > 0 and power == 0:
            by_chance += mine * (n - partner_totals[own_label[i]])
        elif mine > 0:
            for b in range(len(label_positions)):
                by_chance += mine * partner_totals[b] * label_distance(own_label[i], b, label_positions, power)
    for i in range(len(own_label)):
        partner_totals[partner_label[i]] = 0.0
    if by_chance > 0:
        sums_over_pairs[0] += (1 - observed * n / by_chance) * (n if weight_by_tasks else 1.0)
        sums_over_pairs[1] += n if weight_by_tasks else 1.0
        sums_over_pairs[2] += 1
    else:
        sums_over_pairs[3] += 1


@compile_kernel
def fill_share_of_agreeing_other_votes(
    first_task: int,
    end_task: int,
    start: Ints,
    worker: Ints,
    label: Ints,
    weight: Floats | None,
    n_labels: int,
    out: Floats,
) -> None:
    """Fill out[v] with the share of the other workers' votes on the task that are for the label of vote v; nan if none.

    Rows of a task must be sorted by worker, then label. Rows without a name (worker -1) only count as other votes and get
    nan.
    """
    mass = np.zeros(n_labels)
    for t in range(first_task, end_task):
        total = 0.0
        for v in range(start[t], start[t + 1]):
            w = 1.0 if weight is None else weight[v]
            mass[label[v]] += w
            total += w
        v = start[t]
        while v < start[t + 1]:
            end, own = end_of_rows_of_same_worker(v, start[t + 1], worker), 0.0
            for u in range(v, end):
                own += 1.0 if weight is None else weight[u]
            others = total - own
            while v < end:
                same, mine = v, 0.0
                while same < end and label[same] == label[v]:
                    mine += 1.0 if weight is None else weight[same]
                    same += 1
                known = worker[v] >= 0 and others > MIN_OTHER_WEIGHT
                out[v:same] = (mass[label[v]] - mine) / others if known else np.nan
                v = same
        for v in range(start[t], start[t + 1]):
            mass[label[v]] = 0.0
