"""Kernels of agreement: Cohen's kappa of pairs of workers, and the share of other votes that agree with each vote."""

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.kernels.simd_vector_type import prefetch_cache_line
from plurivox.engine.kernels.softmax_and_leave_worker_out import end_of_rows_of_same_worker
from plurivox.engine.numba_compilation import compile_inlined_by_numba, compile_kernel

PREFETCH_ROWS = 8  # how many rows of a worker ahead to prefetch: they are far apart in memory
ORDINAL = 3  # `power` of the ordinal distance
MAX_ROUNDING_ERROR = 1e-9  # of sums of weights
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
    """Return the distance of two labels: for power 0, whether they differ (0 or 1); else |position of a - of b| ** power.

    For power `ORDINAL`: d (d + 1) / 2 with d the distance of their positions, which are ranks.
    """
    if power == 0:
        return 1.0 if a != b else 0.0
    apart = abs(label_positions[a] - label_positions[b])
    return apart * (apart + 1) / 2 if power == ORDINAL else apart**power


@compile_kernel
def add_kappas_of_worker_pairs(
    first_worker: int,
    end_worker: int,
    order: Ints,
    begin: Ints,
    key: Ints,
    task: Ints,
    row_weight: Floats | None,
    task_weights: Floats,
    label_positions: Floats,
    power: int,
    pooled: bool,
    min_shared: int,
    weight_by_tasks: bool,
    sums_over_pairs: Floats,
) -> None:
    """Add the kappas of workers first_worker:end_worker with every later worker to `sums_over_pairs`.

    `sums_over_pairs` are (kappas, weights, n pairs, n undefined). `key` are votes of `pack_worker_label_and_task_end`
    sorted by task and worker; those of worker w are order[begin[w]:begin[w + 1]], and `task` has the same order.
    `row_weight` are the weights of the rows of soft answers, None for plain votes. `task_weights` (n_tasks,) is the weight of
    each task; `label_positions` (n_labels,) and `power` define the distance of labels. `pooled`: the labels by chance are
    drawn from both workers' labels together (Scott's pi), else from each worker's own (Cohen's kappa). A pair counts if it
    shares `min_shared` tasks. Most pairs of a large crowd do not: shared tasks are counted first, in an array that fits into
    the cache, and votes are collected for the other pairs only.
    """
    n_workers = len(begin) - 1
    count, shared = np.zeros(n_workers, np.int32), np.zeros(0 if row_weight is None else n_workers)
    free, partners = np.empty(n_workers, np.int64), np.empty(n_workers, np.int32)
    said, other, task_weight = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    at_task = np.empty(0, np.int64)
    ours, theirs = np.zeros(len(label_positions)), np.zeros(len(label_positions))
    for w in range(first_worker, end_worker):
        n_partners = find_later_workers_sharing_tasks(w, order, begin, key, row_weight, count, shared, partners)
        drop_partners_with_too_few_tasks(partners[:n_partners], count, shared, row_weight, min_shared)
        n_shared = assign_buffer_ranges_return_size(partners[:n_partners], count, free)
        if n_shared > len(said):
            said, other = np.empty(2 * n_shared, np.int64), np.empty(2 * n_shared, np.int64)
            task_weight, at_task = np.empty(2 * n_shared), np.empty(2 * n_shared, np.int64)
        if n_shared:
            collect_shared_votes(
                w, order, begin, key, task, row_weight, task_weights, count, free, said, other, task_weight, at_task
            )
        at = 0
        for i in range(n_partners):
            n_rows = count[partners[i]]
            if n_rows:
                pair = slice(at, at + n_rows)
                n, observed, by_chance = distance_sums_of_one_pair(
                    said[pair], other[pair], task_weight[pair], ours, theirs, label_positions, power, pooled
                )
                clear_label_totals(said[pair], other[pair], ours, theirs)
                add_kappa_of_one_pair(n, observed, by_chance, weight_by_tasks, sums_over_pairs)
                at += n_rows
            count[partners[i]] = 0


@compile_kernel
def count_worker_pairs(
    first_worker: int,
    end_worker: int,
    order: Ints,
    begin: Ints,
    key: Ints,
    row_weight: Floats | None,
    min_shared: int,
) -> int:
    """Return how many pairs of a worker in first_worker:end_worker and a later worker share `min_shared` tasks or more.

    The arguments are those of `add_kappas_of_worker_pairs`.
    """
    n_workers, total = len(begin) - 1, 0
    count, shared = np.zeros(n_workers, np.int32), np.zeros(0 if row_weight is None else n_workers)
    partners = np.empty(n_workers, np.int32)
    for w in range(first_worker, end_worker):
        n_partners = find_later_workers_sharing_tasks(w, order, begin, key, row_weight, count, shared, partners)
        drop_partners_with_too_few_tasks(partners[:n_partners], count, shared, row_weight, min_shared)
        for u in partners[:n_partners]:
            total += 1 if count[u] else 0
            count[u] = 0
    return total


@compile_kernel
def fill_agreement_of_worker_pairs(
    first_worker: int,
    end_worker: int,
    order: Ints,
    begin: Ints,
    key: Ints,
    task: Ints,
    row_weight: Floats | None,
    task_weights: Floats,
    label_positions: Floats,
    power: int,
    pooled: bool,
    min_shared: int,
    workers: Ints,
    table: Floats,
    influence_of_task: Floats,
) -> None:
    """Fill one row per pair of a worker in first_worker:end_worker and a later worker: their codes, and their agreement.

    `workers` (n_pairs, 2) are the codes; `table` (n_pairs, 5) the shared tasks, the mean distance of the two workers' labels,
    that by chance, their kappa (nan if undefined) and its standard error over tasks (delta method). The influence of each
    task on the kappas is added to `influence_of_task` (n_tasks,). The other arguments are those of
    `add_kappas_of_worker_pairs`.
    """
    n_workers, row = len(begin) - 1, 0
    count, shared = np.zeros(n_workers, np.int32), np.zeros(0 if row_weight is None else n_workers)
    free, partners = np.empty(n_workers, np.int64), np.empty(n_workers, np.int32)
    said, other, task_weight = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    at_task = np.empty(0, np.int64)
    ours, theirs = np.zeros(len(label_positions)), np.zeros(len(label_positions))
    for w in range(first_worker, end_worker):
        n_partners = find_later_workers_sharing_tasks(w, order, begin, key, row_weight, count, shared, partners)
        drop_partners_with_too_few_tasks(partners[:n_partners], count, shared, row_weight, min_shared)
        n_shared = assign_buffer_ranges_return_size(partners[:n_partners], count, free)
        if n_shared > len(said):
            said, other = np.empty(2 * n_shared, np.int64), np.empty(2 * n_shared, np.int64)
            task_weight, at_task = np.empty(2 * n_shared), np.empty(2 * n_shared, np.int64)
        if n_shared:
            collect_shared_votes(
                w, order, begin, key, task, row_weight, task_weights, count, free, said, other, task_weight, at_task
            )
        at = 0
        for i in range(n_partners):
            n_rows = count[partners[i]]
            if n_rows:
                pair = slice(at, at + n_rows)
                n, observed, by_chance = distance_sums_of_one_pair(
                    said[pair], other[pair], task_weight[pair], ours, theirs, label_positions, power, pooled
                )
                workers[row, 0], workers[row, 1] = w, partners[i]
                table[row, 0], table[row, 1], table[row, 2] = n, observed / n, by_chance / (n * n)
                table[row, 3], table[row, 4] = np.nan, np.nan
                if by_chance > MAX_ROUNDING_ERROR * n * n:
                    table[row, 3] = 1 - observed * n / by_chance
                    table[row, 4] = kappa_standard_error(
                        said[pair],
                        other[pair],
                        task_weight[pair],
                        at_task[pair],
                        ours,
                        theirs,
                        label_positions,
                        power,
                        pooled,
                        (n, observed, by_chance),
                        influence_of_task,
                    )
                clear_label_totals(said[pair], other[pair], ours, theirs)
                row += 1
                at += n_rows
            count[partners[i]] = 0


@compile_kernel
def find_later_workers_sharing_tasks(
    worker: int,
    order: Ints,
    begin: Ints,
    key: Ints,
    row_weight: Floats | None,
    n_row_pairs: Ints,
    n_shared: Floats,
    partners: Ints,
) -> int:
    """Find the workers after `worker` who share a task: return their number and fill `partners`.

    Fill n_row_pairs[u] with the pairs of rows on shared tasks (the shared tasks, for plain votes) and, for soft answers,
    n_shared[u] with the shared tasks. `n_row_pairs` (n_workers,) must be zero before.
    """
    n_partners = 0
    for i in range(begin[worker], begin[worker + 1]):
        prefetch_cache_line(key, order[min(i + PREFETCH_ROWS, len(order) - 1)])
        own_row = row = order[i]
        while key[row] & 1 == 0:
            row += 1
            u = key[row] >> (LABEL_BITS + 1)
            if u != worker:
                if n_row_pairs[u] == 0:
                    partners[n_partners] = u
                    n_partners += 1
                    if row_weight is not None:
                        n_shared[u] = 0.0
                n_row_pairs[u] += 1
                if row_weight is not None:
                    n_shared[u] += row_weight[own_row] * row_weight[row]
    return n_partners


@compile_kernel
def drop_partners_with_too_few_tasks(
    partners: Ints, n_row_pairs: Ints, n_shared: Floats, row_weight: Floats | None, min_shared: int
) -> None:
    """Set n_row_pairs[u] to 0, in place, for the partners u that share fewer than `min_shared` tasks."""
    for u in partners:
        if row_weight is None:
            if n_row_pairs[u] < min_shared:
                n_row_pairs[u] = 0
        elif n_shared[u] < min_shared - MAX_ROUNDING_ERROR:
            n_row_pairs[u] = 0


@compile_kernel
def assign_buffer_ranges_return_size(partners: Ints, n_row_pairs: Ints, next_index: Ints) -> int:
    """Fill next_index[u] with the first buffer index for the votes shared with partner u; return the buffer size needed."""
    total = 0
    for u in partners:
        next_index[u] = total
        total += n_row_pairs[u]
    return total


@compile_kernel
def collect_shared_votes(
    worker: int,
    order: Ints,
    begin: Ints,
    key: Ints,
    task: Ints,
    row_weight: Floats | None,
    task_weights: Floats,
    n_row_pairs: Ints,
    next_index: Ints,
    own_label: Ints,
    partner_label: Ints,
    task_weight: Floats,
    shared_task: Ints,
) -> None:
    """Fill buffers with the labels of a worker and of each partner, weight and task, of every pair of rows, by partner.

    `next_index` is the next free index of each partner and is advanced; partners without row pairs are left out.
    """
    mask = (1 << LABEL_BITS) - 1
    for i in range(begin[worker], begin[worker + 1]):
        own_row = row = order[i]
        here = (key[row] >> 1) & mask
        while key[row] & 1 == 0:
            row += 1
            u = key[row] >> (LABEL_BITS + 1)
            if u != worker and n_row_pairs[u]:
                at = next_index[u]
                own_label[at], partner_label[at], task_weight[at] = here, (key[row] >> 1) & mask, task_weights[task[i]]
                if row_weight is not None:
                    task_weight[at] *= row_weight[own_row] * row_weight[row]
                shared_task[at] = task[i]
                next_index[u] = at + 1


@compile_kernel
def distance_sums_of_one_pair(
    own_label: Ints,
    partner_label: Ints,
    weight: Floats,
    own_totals: Floats,
    partner_totals: Floats,
    label_positions: Floats,
    power: int,
    pooled: bool,
) -> tuple[float, float, float]:
    """Return (n, observed, by chance) of two workers, from their labels on shared tasks: kappa = 1 - observed n / by chance.

    `own_totals` and `partner_totals` (n_labels,) must be zero before, and are then the weight of each worker's labels.
    """
    n = observed = by_chance = 0.0
    for i in range(len(own_label)):
        n += weight[i]
        observed += weight[i] * label_distance(own_label[i], partner_label[i], label_positions, power)
        own_totals[own_label[i]] += weight[i]
        partner_totals[partner_label[i]] += weight[i]
    if power == 0 and not pooled:
        agree = 0.0
        for i in range(len(own_label)):
            agree += weight[i] * partner_totals[own_label[i]]
        return n, observed, max(n * n - agree, 0.0)
    if power == 0:
        for i in range(len(own_label)):
            by_chance += weight[i] * (
                2 * n
                - (own_totals[own_label[i]] + partner_totals[own_label[i]]) / 2
                - (own_totals[partner_label[i]] + partner_totals[partner_label[i]]) / 2
            )
        return n, observed, max(by_chance / 2, 0.0)
    for a in range(len(label_positions)):
        first = (own_totals[a] + partner_totals[a]) / 2 if pooled else own_totals[a]
        if first > 0:
            for b in range(len(label_positions)):
                second = (own_totals[b] + partner_totals[b]) / 2 if pooled else partner_totals[b]
                by_chance += first * second * label_distance(a, b, label_positions, power)
    return n, observed, by_chance


@compile_kernel
def clear_label_totals(own_label: Ints, partner_label: Ints, own_totals: Floats, partner_totals: Floats) -> None:
    """Set the totals of the labels of two workers back to zero, in place."""
    for i in range(len(own_label)):
        own_totals[own_label[i]] = 0.0
        partner_totals[partner_label[i]] = 0.0


@compile_kernel
def kappa_standard_error(
    own_label: Ints,
    partner_label: Ints,
    weight: Floats,
    shared_task: Ints,
    own_totals: Floats,
    partner_totals: Floats,
    label_positions: Floats,
    power: int,
    pooled: bool,
    distance_sums: tuple[float, float, float],
    influence_of_task: Floats,
) -> float:
    """Return the standard error of the kappa of two workers over their shared tasks, by the delta method.

    For Cohen's kappa it is that of Fleiss, Cohen & Everitt (1969), https://doi.org/10.1037/h0028106. Add the influence of
    each task to `influence_of_task` (n_tasks,); the standard error is the root of the sum of their squares. `distance_sums`
    are the results of `distance_sums_of_one_pair`.
    """
    n, observed, by_chance = distance_sums
    mean_observed, mean_by_chance = observed / n, by_chance / (n * n)
    total = of_task = 0.0
    for i in range(len(own_label)):
        apart = distance_to_label_by_chance(
            own_label[i], n, partner_totals, own_totals, label_positions, power, pooled
        ) + distance_to_label_by_chance(partner_label[i], n, own_totals, partner_totals, label_positions, power, pooled)
        here = label_distance(own_label[i], partner_label[i], label_positions, power) - mean_observed
        here -= mean_observed / mean_by_chance * (apart / n - 2 * mean_by_chance)
        of_task -= weight[i] * here / (mean_by_chance * n)
        if i + 1 == len(own_label) or shared_task[i + 1] != shared_task[i]:
            total += of_task * of_task
            influence_of_task[shared_task[i]] += of_task
            of_task = 0.0
    return np.sqrt(total)


@compile_kernel
def distance_to_label_by_chance(
    label: int, n: float, totals: Floats, other_totals: Floats, label_positions: Floats, power: int, pooled: bool
) -> float:
    """Return the sum of the distances from `label` to labels with the weights `totals`, or the mean of both if `pooled`.

    `n` is the sum of `totals`.
    """
    if power == 0:
        return n - ((totals[label] + other_totals[label]) / 2 if pooled else totals[label])
    distance = 0.0
    for b in range(len(label_positions)):
        weight = (totals[b] + other_totals[b]) / 2 if pooled else totals[b]
        if weight > 0:
            distance += weight * label_distance(label, b, label_positions, power)
    return distance


@compile_kernel
def add_kappa_of_one_pair(
    n: float, observed: float, by_chance: float, weight_by_tasks: bool, sums_over_pairs: Floats
) -> None:
    """Add the kappa of one pair of workers to `sums_over_pairs`, from the results of `distance_sums_of_one_pair`."""
    if by_chance > MAX_ROUNDING_ERROR * n * n:
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
                share = (mass[label[v]] - mine) / others if known else np.nan
                for u in range(v, same):  # a slice assignment would take numba longer to compile
                    out[u] = share
                v = same
        for v in range(start[t], start[t + 1]):
            mass[label[v]] = 0.0
