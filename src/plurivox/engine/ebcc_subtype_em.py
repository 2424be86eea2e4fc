"""EM for models in which each label has subtypes of tasks, and a worker a confusion row per subtype (EBCC).

A kind is one subtype of one label. Several runs from different starts share a pass over the votes: their tables are stored
side by side, so that a vote is looked up once for all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.engine.available_memory_and_aligned_arrays import cache_line_aligned_zeros
from plurivox.engine.confusion_em import KeyedVotes, fits_numpy_expected_counts, numpy_expected_counts
from plurivox.engine.kernels import confusion_e_step, ebcc_subtype_e_step
from plurivox.engine.kernels.simd_vector_type import (
    PAD,
    flatten_align_and_pad,
    simd_width_as_zeros_tuple,
    widest_simd_width_as_zeros_tuple,
)
from plurivox.engine.parallel_task_blocks import MIN_BLOCK_VOTES, Blocks
from plurivox.engine.second_compiler import KernelCall

MIN_LOG_RATIO = -40.0  # log of a relative probability too small to change a sum of doubles
MAX_SHARED_CELLS = 2**18  # total table cells of runs that share a pass; more would not fit into the cache
TASKS_PER_CHUNK = 4096  # tasks whose initial posterior is computed per call


def subtype_kernel_calls(votes: KeyedVotes, n_labels: int) -> list[KernelCall]:
    """Return the kernels of a `SubtypeEM` fit of few votes of these types, with example arguments."""
    vector, matrix, edges = np.empty(0), np.empty((0, 0)), np.empty(0, np.int64)
    width = simd_width_as_zeros_tuple(n_labels, coarse=True)  # of the kinds in use at the end: about one per label
    return [
        (
            ebcc_subtype_e_step.e_step_of_em_runs_adding_counts,
            (0, 0, *votes[:3], vector, vector, edges, widest_simd_width_as_zeros_tuple(), vector, vector, vector),
        ),
        (
            ebcc_subtype_e_step.fill_posterior_and_add_agreement,
            (0, 0, *votes, vector, vector, edges, width, matrix, vector),
        ),
    ]


class SubtypeParams(NamedTuple):
    """Parameters of a subtype model (EBCC), as logarithms: prior and confusion of the kinds
    (subtypes of labels) still in use.
    """

    kinds: Ints  # (n_live,) increasing
    log_prior: Floats  # (n_live,)
    log_confusion: Floats  # (n_keys, n_live) a key is worker * n_labels + said, as in KeyedVotes


class SubtypeCounts(NamedTuple):
    """Expected counts under the posterior of a subtype model (EBCC), for the kinds still in use: the input of its M-step."""

    kinds: Ints  # (n_live,) increasing; all others have no tasks
    n_kind: Floats  # (n_live,) expected number of tasks of each kind
    counts: Floats  # (n_keys, n_live) expected weight of votes


class SubtypeEM:
    """E-step and expected counts of subtype models (EBCC). Clamped tasks keep their known label distribution.

    Kinds are sorted by label: kind k belongs to label k // n_subtypes.
    """

    def __init__(
        self, votes: KeyedVotes, clamped_mask: Bools, known_prob: Floats, n_workers: int, n_subtypes: int
    ) -> None:
        self.votes, self.known, self.n_labels = votes, known_prob, known_prob.shape[1]
        self.n_workers, self.n_keys, self.n_subtypes = n_workers, n_workers * known_prob.shape[1], n_subtypes
        self.open, self.clamped = votes.select_votes_on_tasks(~clamped_mask), votes.select_votes_on_tasks(clamped_mask)
        self.blocks = Blocks(self.open.start, n_sums=self.n_keys)
        self.max_votes_per_task = _largest_total_vote_weight_of_a_task(votes)

    def expected_task_and_vote_counts(
        self, kinds: Ints, posterior_of_tasks: Callable[[int, int], Floats]
    ) -> SubtypeCounts:
        """Return the expected counts for the M-step; `posterior_of_tasks(first_task, end_task)` returns the (n, n_kinds)
        posterior of tasks.
        """
        start, key, weight = self.votes[:3]
        width, n = simd_width_as_zeros_tuple(len(kinds), coarse=True), len(kinds)
        if fits_numpy_expected_counts(self.votes, n):
            n_tasks = len(start) - 1
            begins = range(0, max(n_tasks, 1), TASKS_PER_CHUNK)
            prob = np.concatenate([posterior_of_tasks(at, min(at + TASKS_PER_CHUNK, n_tasks)) for at in begins])
            n_true, table = numpy_expected_counts(self.votes, prob, self.n_keys * n)
            return SubtypeCounts(kinds, n_true, table[: self.n_keys * n].reshape(self.n_keys, n))

        def add_expected_counts_of_block(first_task: int, end_task: int, n_kind: Floats, counts: Floats) -> float:
            for begin in range(first_task, end_task, TASKS_PER_CHUNK):
                end = min(begin + TASKS_PER_CHUNK, end_task)
                prob, rows = np.ascontiguousarray(posterior_of_tasks(begin, end)), start[begin : end + 1]
                confusion_e_step.add_expected_counts_under_posterior(
                    0, end - begin, rows, key, weight, prob, width, n_kind, counts
                )
            return 0.0

        _, (n_kind, counts) = Blocks(start, n_sums=self.n_keys).map_over_task_blocks_and_sum(
            add_expected_counts_of_block, n + PAD, self.n_keys * n + PAD
        )
        return SubtypeCounts(kinds, n_kind[:n], counts[: self.n_keys * n].reshape(self.n_keys, n))

    def expected_counts_and_log_likelihoods(self, runs: Sequence[SubtypeParams]) -> list[tuple[SubtypeCounts, float]]:
        """Run the E-step of each run (start) of a subtype model; return (expected counts for the M-step,
        log-likelihood) per run.
        """
        live = [self._drop_subtypes_negligible_for_every_task(params) for params in runs]
        return [
            found
            for group in self._group_runs_by_cache_size(live)
            for found in self._counts_and_log_likelihoods_of_group(group)
        ]

    def _drop_subtypes_negligible_for_every_task(self, params: SubtypeParams) -> SubtypeParams:
        """Return the parameters of a subtype model without the kinds (subtypes) whose probability is negligible for every task.

        Votes can favour one kind over another by at most their number times the largest difference in the table. A kind
        that is still less probable than another kind of its label by a factor of e^-40 does not change any sum.
        """
        label, score, table = params.kinds // self.n_subtypes, params.log_prior, params.log_confusion
        by_score = np.lexsort((-score, label))
        best = by_score[np.searchsorted(label[by_score], label)]  # (n_live,) the most frequent kind of the same label
        behind = score - score[best]
        for k in np.flatnonzero(behind < MIN_LOG_RATIO):
            behind[k] += self.max_votes_per_task * max(float((table[:, k] - table[:, best[k]]).max()), 0.0)
        keep = behind >= MIN_LOG_RATIO
        return params if keep.all() else SubtypeParams(params.kinds[keep], score[keep], table[:, keep])

    def _group_runs_by_cache_size(self, runs: Sequence[SubtypeParams]) -> Iterator[Sequence[SubtypeParams]]:
        """Yield groups of EM runs that share a pass over the votes: as many as have tables that fit
        into the processor cache.
        """
        begin, cells = 0, 0
        for end, params in enumerate(runs):
            mine = self.n_keys * _n_kinds_rounded_up_to_four(params)
            if end > begin and cells + mine > MAX_SHARED_CELLS:
                yield runs[begin:end]
                begin, cells = end, 0
            cells += mine
        yield runs[begin:]

    def _counts_and_log_likelihoods_of_group(self, runs: Sequence[SubtypeParams]) -> list[tuple[SubtypeCounts, float]]:
        """Run one joint EM pass over the votes for several EM runs; return (expected counts, log-likelihood) of each run."""
        edges = np.cumsum([0, *map(_n_kinds_rounded_up_to_four, runs)])
        n, n_cells = int(edges[-1]), self.n_keys * int(edges[-1])
        log_prior, table = np.full(n, -np.inf), cache_line_aligned_zeros(n_cells + PAD)
        for at, params in zip(edges, runs, strict=False):
            here = slice(at, at + len(params.kinds))
            log_prior[here] = params.log_prior
            table[:n_cells].reshape(self.n_keys, n)[:, here] = params.log_confusion
        few_votes = (
            len(self.open.key) < MIN_BLOCK_VOTES
        )  # compiling for every number of runs takes longer than the passes
        width = widest_simd_width_as_zeros_tuple() if few_votes else simd_width_as_zeros_tuple(n)

        def e_step_of_block_adding_counts(
            first_task: int, end_task: int, n_kind: Floats, counts: Floats, value: Floats
        ) -> float:
            given = (*self.open[:3], log_prior, table, edges, width)
            return ebcc_subtype_e_step.e_step_of_em_runs_adding_counts(
                first_task, end_task, *given, n_kind, counts, value
            )

        _, (n_kind, counts, values) = self.blocks.map_over_task_blocks_and_sum(
            e_step_of_block_adding_counts, n + PAD, n_cells + PAD, len(runs)
        )
        found = []
        for at, params, value in zip(edges, runs, values.tolist(), strict=False):
            here = slice(at, at + len(params.kinds))
            mine = np.ascontiguousarray(counts[:n_cells].reshape(self.n_keys, n)[:, here])
            counted = SubtypeCounts(params.kinds, n_kind[here].copy(), mine)
            found.append((counted, value + self._add_clamped_counts_return_log_likelihood(params, counted)))
        return found

    def _add_clamped_counts_return_log_likelihood(self, params: SubtypeParams, counts: SubtypeCounts) -> float:
        """Add the expected counts of tasks with clamped (known) labels to `counts` in place; return their log-likelihood."""
        if len(self.clamped.start) == 1:
            return 0.0
        start, key, weight = self.clamped[:3]
        label_start, log_prior, table = (
            self._subtype_offsets_per_label(params.kinds),
            params.log_prior,
            params.log_confusion,
        )
        return ebcc_subtype_e_step.e_step_of_clamped_tasks_adding_counts(
            start, key, weight, self.known, label_start, log_prior, table, counts.n_kind, counts.counts
        )

    def posterior_and_agreeing_weight_per_worker(self, params: SubtypeParams) -> tuple[Floats, Floats]:
        """Return ((n_unclamped, n_labels) posterior of the unclamped tasks, (n_workers,) expected weight of each
        worker's correct votes).

        A vote is compared with the posterior under the other workers' votes on its task, or with its known label.
        """
        prob = np.empty((len(self.open.start) - 1, self.n_labels))
        width, table = (
            simd_width_as_zeros_tuple(len(params.kinds), coarse=True),
            flatten_align_and_pad(params.log_confusion),
        )
        given = (params.log_prior, table, self._subtype_offsets_per_label(params.kinds), width, prob)

        def fill_posterior_and_agreement_of_block(first_task: int, end_task: int, agreeing_weight: Floats) -> float:
            return ebcc_subtype_e_step.fill_posterior_and_add_agreement(
                first_task, end_task, *self.open, *given, agreeing_weight
            )

        _, (agreeing_weight,) = self.blocks.map_over_task_blocks_and_sum(
            fill_posterior_and_agreement_of_block, self.n_workers
        )
        start, _, weight, worker, said = self.clamped
        right = self.known[np.repeat(np.arange(len(start) - 1), np.diff(start)), said]
        return prob, agreeing_weight + np.bincount(worker, right if weight is None else right * weight, self.n_workers)

    def _subtype_offsets_per_label(self, kinds: Ints) -> Ints:
        """(n_labels + 1,) offsets into the sorted `kinds` (subtypes): those of label l are start[l]:start[l + 1]."""
        return np.searchsorted(kinds, np.arange(self.n_labels + 1) * self.n_subtypes)


def _n_kinds_rounded_up_to_four(params: SubtypeParams) -> int:
    """Return the number of table columns of one EM run: its number of kinds (subtypes) rounded up to a multiple of four."""
    return -(-len(params.kinds) // 4) * 4


def _largest_total_vote_weight_of_a_task(votes: KeyedVotes) -> float:
    """Return the largest total vote weight of a task."""
    if votes.weight is None:
        return float(np.diff(votes.start).max(initial=0))
    total = np.concatenate([[0.0], np.cumsum(votes.weight)])[votes.start]
    return float(np.diff(total).max(initial=0.0))
