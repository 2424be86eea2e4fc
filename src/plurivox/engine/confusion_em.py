"""EM for models with one confusion matrix per worker: vote layout for the kernels, E-step and M-step."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints, readonly_view
from plurivox.core.votes import Votes
from plurivox.engine.available_memory_and_aligned_arrays import cache_line_aligned_zeros
from plurivox.engine.kernels import confusion_e_step, confusion_m_step
from plurivox.engine.kernels.confusion_m_step import TINY
from plurivox.engine.kernels.simd_vector_type import PAD, flatten_align_and_pad, simd_width_as_zeros_tuple
from plurivox.engine.parallel_task_blocks import MIN_BLOCK_VOTES, Blocks, parallel_map
from plurivox.engine.second_compiler import KernelCall

CELLS_PER_CHUNK = 2**15  # table cells that a thread computes per call
MAX_NUMPY_CELLS = 2**18  # votes x labels up to which numpy counts in a few milliseconds: no kernel needs to be compiled
MIN_LOG = -40.0  # log-probabilities are clipped to this before SQUAREM extrapolates them


def vote_keys(worker: Ints, said: Ints, n_labels: int) -> Ints:
    """(n_votes,) worker * n_labels + label of each vote, as uint32: the row index in a table over workers and labels."""
    key = worker.astype(np.uint32)
    key *= np.uint32(n_labels)
    np.add(key, said, out=key, casting="unsafe")
    return key


class KeyedVotes(NamedTuple):
    """Votes sorted by task in the layout of the kernels: worker and said label combined into one key."""

    start: Ints  # (n_tasks + 1,) the votes of task t are start[t]:start[t + 1]
    key: Ints  # (n_votes,) worker * n_labels + said
    weight: Floats | None  # (n_votes,) None: every row is one plain vote
    worker: Ints  # (n_votes,)
    said: Ints  # (n_votes,)

    @classmethod
    def from_columns_adding_keys(
        cls, start: Ints, worker: Ints, said: Ints, weight: Floats | None, n_labels: int
    ) -> Self:
        """Create KeyedVotes from columns of votes sorted by task (CSR offsets `start`); compute the key of each vote."""
        return cls(start, vote_keys(worker, said, n_labels), weight, worker, said)

    @classmethod
    def without_rows(cls, votes: Votes) -> Self:
        """Return KeyedVotes without rows whose columns have the types of those of `votes`: example arguments of kernels."""
        weight = None if votes.weight is None else readonly_view(np.empty(0))
        columns = readonly_view(votes.worker[:0]), readonly_view(votes.label[:0])
        return cls(np.empty(0, np.int64), np.empty(0, np.uint32), weight, *columns)

    def select_votes_on_tasks(self, task_mask: Bools) -> Self:
        """Return the KeyedVotes on the tasks where `task_mask` (n_tasks,) is true."""
        start, rows = csr_offsets_and_row_mask_of_tasks(self.start, task_mask)
        weight = None if self.weight is None else readonly_view(self.weight[rows])
        return type(self)(
            start, self.key[rows], weight, readonly_view(self.worker[rows]), readonly_view(self.said[rows])
        )


def confusion_kernel_calls(votes: KeyedVotes, n_labels: int, *, hard: bool = False) -> list[KernelCall]:
    """Return the kernels of a `ConfusionEM` fit of votes of these types, with example arguments."""
    vector, matrix = np.empty(0), np.empty((0, 0))
    width, coarse = simd_width_as_zeros_tuple(n_labels), simd_width_as_zeros_tuple(n_labels, coarse=True)
    e_step, e_step_width = (
        (confusion_e_step.hard_e_step_adding_counts, coarse)
        if hard
        else (confusion_e_step.e_step_adding_expected_counts, width)
    )
    return [
        (confusion_m_step.fill_log_confusion_from_counts, (0, 0, n_labels, vector, vector, coarse, vector)),
        (e_step, (0, 0, *votes[:3], vector, vector, e_step_width, vector, vector)),
        (confusion_m_step.renormalise_log_confusion, (0, 0, n_labels, coarse, vector)),
        (
            confusion_e_step.fill_posterior_and_add_agreement,
            (0, 0, *votes, matrix, vector, coarse, matrix, vector),
        ),
    ]


def csr_offsets_and_row_mask_of_tasks(start: Ints, task_mask: Bools) -> tuple[Ints, Bools | slice]:
    """Select the rows of some tasks from CSR offsets: return (CSR offsets of the selected rows, mask or slice of these rows).

    `start` (n_all_tasks + 1,) are the CSR offsets of all tasks. If all rows are selected, the second result is a
    slice, so that indexing does not copy.
    """
    size = np.diff(start)
    begins = np.concatenate([[0], np.cumsum(size[task_mask])])
    return begins, slice(None) if begins[-1] == start[-1] else np.repeat(task_mask, size)


def fits_numpy_expected_counts(votes: KeyedVotes, n_columns: int) -> bool:
    """Return whether `numpy_expected_counts` takes the votes: plain ones, few enough to need only one block."""
    n_votes = len(votes.key)
    return votes.weight is None and n_votes < MIN_BLOCK_VOTES and n_votes * n_columns <= MAX_NUMPY_CELLS


def numpy_expected_counts(votes: KeyedVotes, prob: Floats, n_cells: int) -> tuple[Floats, Floats]:
    """Return the expected counts of `add_expected_counts_under_posterior`, with the same bits, without compiled code.

    `prob` (n_tasks, n_columns) is the posterior; the results are (n_columns,) and (n_cells + PAD,), flat [key, column].
    """
    n_tasks, n_columns = prob.shape
    n_keys = n_cells // n_columns
    n_true, counts = np.empty(n_columns), np.zeros(n_cells + PAD)
    table, task = counts[:n_cells].reshape(n_keys, n_columns), np.repeat(np.arange(n_tasks), np.diff(votes.start))
    one_group = np.zeros(n_tasks, np.int64)
    for column in range(n_columns):  # bincount adds one number after another, as the kernel does
        n_true[column] = np.bincount(one_group, prob[:, column], 1)[0]
        table[:, column] = np.bincount(votes.key, prob[task, column], n_keys)
    return n_true, counts


class Params(NamedTuple):
    """Parameters of a confusion-matrix model, as logarithms: label prior and confusion matrices."""

    log_prior: Floats  # (n_labels,)
    log_confusion: Floats  # (n_workers * n_labels**2 + PAD,) flat table [worker, said, true]


class Counts(NamedTuple):
    """Expected counts under the posterior of a confusion-matrix model, the input of its M-step."""

    n_true: Floats  # (n_labels,) expected number of tasks with each true label
    confusion: Floats  # (n_workers * n_labels**2 + PAD,) flat table [worker, said, true] of vote weights


class ConfusionEM:
    """E-step and M-step of confusion-matrix models. Votes on `known` tasks are counted once, with their clamped posterior.

    >>> votes = KeyedVotes.from_columns_adding_keys(np.array([0, 2]), np.array([0, 1]), np.array([0, 0]), None, n_labels=2)
    >>> em = ConfusionEM(votes, n_workers=2, n_labels=2)
    >>> matrices = np.array([[[0.9, 0.1], [0.4, 0.6]]] * 2)  # [worker, true, said]
    >>> params = Params(np.log([0.5, 0.5]), em.log_confusion_from_matrices(matrices))
    >>> em.e_step(params)[0].round(3)  # .5 .9 .9 : .5 .4 .4
    array([[0.835, 0.165]])
    """

    def __init__(
        self, votes: KeyedVotes, n_workers: int, n_labels: int, known: tuple[KeyedVotes, Floats] | None = None
    ) -> None:
        self.votes, self.n_workers, self.n_labels = votes, n_workers, n_labels
        self.n_cells = n_workers * n_labels**2
        self.width, self.coarse_width = (
            simd_width_as_zeros_tuple(n_labels),
            simd_width_as_zeros_tuple(n_labels, coarse=True),
        )
        self.blocks = self._divide_tasks_into_blocks(votes)
        self.known = (
            None if known is None else self._expected_counts_of_votes(self._divide_tasks_into_blocks(known[0]), *known)
        )

    def _divide_tasks_into_blocks(self, votes: KeyedVotes) -> Blocks:
        """Divide the tasks of the votes into blocks that threads work on."""
        return Blocks(votes.start, n_sums=self.n_cells, sums_per_vote=self.n_labels)

    # ---- passes over the votes

    def expected_counts_and_log_likelihood(self, params: Params, *, hard: bool = False) -> tuple[Counts, float]:
        """Run the E-step over all votes; return (expected counts for the M-step, log-likelihood of votes and known labels).

        `hard`: each task gets probability 1 on its most probable label, and the likelihood is that of votes and labels.
        """
        kernel, width = (
            (confusion_e_step.hard_e_step_adding_counts, self.coarse_width)
            if hard
            else (confusion_e_step.e_step_adding_expected_counts, self.width)
        )

        def e_step_of_block_adding_counts(first_task: int, end_task: int, n_true: Floats, counts: Floats) -> float:
            return kernel(first_task, end_task, *self.votes[:3], *params, width, n_true, counts)

        value, (n_true, counts) = self.blocks.map_over_task_blocks_and_sum(
            e_step_of_block_adding_counts, self.n_labels + PAD, self.n_cells + PAD
        )
        if self.known is not None:
            value += float(self.known.n_true @ params.log_prior)
            value += float(np.einsum("i,i->", self.known.confusion, params.log_confusion))  # same bits for any threads
        return self._counts_plus_those_of_known_tasks(Counts(n_true[: self.n_labels], counts)), value

    def e_step(self, params: Params) -> tuple[Floats, float]:
        """Run the E-step: return ((n_tasks, n_labels) posterior of the true labels, log-likelihood). The prior may
        differ per task.
        """
        prob = np.empty((len(self.votes.start) - 1, self.n_labels))

        def fill_posterior_of_block(first_task: int, end_task: int) -> float:
            return self._fill_posterior_and_agreement_of_block(first_task, end_task, params, prob, None)

        value, _ = self.blocks.map_over_task_blocks_and_sum(fill_posterior_of_block)
        return prob, value

    def posterior_and_agreeing_weight_per_worker(self, params: Params) -> tuple[Floats, Floats]:
        """Return ((n_tasks, n_labels) posterior, (n_workers,) expected weight of each worker's votes that are correct).

        A vote is compared with the posterior under the other workers' votes on its task, or with its known label.
        """
        prob = np.empty((len(self.votes.start) - 1, self.n_labels))

        def fill_posterior_and_agreement_of_block(first_task: int, end_task: int, agreeing_weight: Floats) -> float:
            return self._fill_posterior_and_agreement_of_block(first_task, end_task, params, prob, agreeing_weight)

        _, (agreeing_weight,) = self.blocks.map_over_task_blocks_and_sum(
            fill_posterior_and_agreement_of_block, self.n_workers
        )
        if self.known is not None:
            agreeing_weight += np.einsum("wkk->w", self.worker_said_true_view(self.known.confusion))
        return prob, agreeing_weight

    def _fill_posterior_and_agreement_of_block(
        self, first_task: int, end_task: int, params: Params, prob: Floats, agreeing_weight: Floats | None
    ) -> float:
        """Fill `prob`, the posterior of tasks first_task:end_task, and add to `agreeing_weight`, each worker's correct weight;
        return the log-likelihood.
        """
        log_prior = np.atleast_2d(params.log_prior)
        return confusion_e_step.fill_posterior_and_add_agreement(
            first_task, end_task, *self.votes, log_prior, params.log_confusion, self.coarse_width, prob, agreeing_weight
        )

    def expected_task_and_vote_counts(self, posterior: Floats) -> Counts:
        """Return the expected counts for the M-step, given a (n_tasks, n_labels) posterior of the true labels; known
        tasks included.
        """
        return self._counts_plus_those_of_known_tasks(
            self._expected_counts_of_votes(self.blocks, self.votes, posterior)
        )

    def _expected_counts_of_votes(self, blocks: Blocks, votes: KeyedVotes, posterior: Floats) -> Counts:
        """Return the expected counts for the M-step from `votes` alone, given the (n_tasks, n_labels) posterior of
        their tasks.
        """
        prob = np.ascontiguousarray(posterior, np.float64)
        if fits_numpy_expected_counts(votes, self.n_labels):
            return Counts(*numpy_expected_counts(votes, prob, self.n_cells))

        def add_expected_counts_of_block(first_task: int, end_task: int, n_true: Floats, counts: Floats) -> float:
            return confusion_e_step.add_expected_counts_under_posterior(
                first_task, end_task, *votes[:3], prob, self.coarse_width, n_true, counts
            )

        _, (n_true, counts) = blocks.map_over_task_blocks_and_sum(
            add_expected_counts_of_block, self.n_labels + PAD, self.n_cells + PAD
        )
        return Counts(n_true[: self.n_labels], counts)

    def _counts_plus_those_of_known_tasks(self, counts: Counts) -> Counts:
        """Return expected counts plus those of the tasks with known labels."""
        if self.known is None:
            return counts
        return Counts(counts.n_true + self.known.n_true, counts.confusion + self.known.confusion)

    # ---- tables: flat [worker, said, true] with PAD spare cells

    def m_step(self, vote_counts: Floats, pseudo_counts: Floats) -> Floats:
        """Return the flat table of log p(said | true) of all workers; `pseudo_counts` (said, true) are added to each
        worker's `vote_counts`.
        """
        table, added = cache_line_aligned_zeros(self.n_cells + PAD), flatten_align_and_pad(pseudo_counts)

        def fill_log_confusion_of_worker_range(first_worker: int, last_worker: int) -> None:
            confusion_m_step.fill_log_confusion_from_counts(
                first_worker, last_worker, self.n_labels, vote_counts, added, self.coarse_width, table
            )

        self._run_on_worker_ranges(fill_log_confusion_of_worker_range)
        return table

    def _run_on_worker_ranges(self, work: Callable[[int, int], None]) -> None:
        """Call work(first_worker, last_worker) for consecutive ranges of workers, on several threads."""
        step = max(1, CELLS_PER_CHUNK // self.n_labels**2)
        parallel_map(lambda i: work(i * step, min((i + 1) * step, self.n_workers)), -(-self.n_workers // step))

    def worker_said_true_view(self, flat_table: Floats) -> Floats:
        """Return a view of a flat table over workers as a (n_workers, said, true) array, without the spare cells at its end."""
        return flat_table[: self.n_cells].reshape(self.n_workers, self.n_labels, self.n_labels)

    def flat_table_with_spare_cells_at_end(self, worker_said_true: Floats) -> Floats:
        """Return a (n_workers, said, true) array as a flat table with spare cells at its end."""
        table = cache_line_aligned_zeros(self.n_cells + PAD)
        self.worker_said_true_view(table)[:] = worker_said_true
        return table

    def confusion_matrices_from_flat_logs(self, flat_log_confusion: Floats) -> Floats:
        """Return the (n_workers, true, said) confusion matrices, given their flat table of log-probabilities."""
        matrices = np.exp(self.worker_said_true_view(flat_log_confusion).transpose(0, 2, 1))
        matrices[matrices < 2 * TINY] = 0
        return matrices

    def log_confusion_from_matrices(self, confusion_matrices: Floats, floor: float = TINY) -> Floats:
        """Return the flat table of log-probabilities of (n_workers, true, said) confusion matrices,
        clipped from below to `floor`.
        """
        return self.flat_table_with_spare_cells_at_end(np.log(np.maximum(confusion_matrices, floor)).transpose(0, 2, 1))

    # ---- vector form of the parameters for SQUAREM, which extrapolates log-probabilities

    def params_to_squarem_vector(self, params: Params) -> Floats:
        """Return label prior and confusion matrices as one vector of log-probabilities, clipped from below to -40."""
        whole = np.concatenate([params.log_prior, params.log_confusion[: self.n_cells]])
        return np.maximum(whole, MIN_LOG, out=whole)

    def params_from_squarem_vector(self, vector: Floats, _: Params) -> Params:
        """Return prior and confusion matrices from one vector of log-probabilities, renormalised so
        that probabilities sum to one.
        """
        log_prior, table = vector[: self.n_labels], flatten_align_and_pad(vector[self.n_labels :])

        def renormalise_log_confusion_of_worker_range(first_worker: int, last_worker: int) -> None:
            confusion_m_step.renormalise_log_confusion(
                first_worker, last_worker, self.n_labels, self.coarse_width, table
            )

        self._run_on_worker_ranges(renormalise_log_confusion_of_worker_range)
        return Params(log_prior - np.logaddexp.reduce(log_prior), table)


def worker_accuracy(confusion_matrices: Floats, label_prior: Floats) -> Floats:
    """(n_workers,) the probability that each worker labels a random task correctly: the diagonal weighted by the prior."""
    return np.asarray(np.einsum("wkk,k->w", confusion_matrices, label_prior))
