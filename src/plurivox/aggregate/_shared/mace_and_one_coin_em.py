"""EM shared by mace and one-coin: models in which a vote raises the likelihood of its own label only."""

import numpy as np

from plurivox.aggregate._shared.tasks_without_gold import TasksWithoutGold
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import KeyedVotes
from plurivox.engine.kernels import mace_and_one_coin
from plurivox.engine.kernels.simd_vector_type import PAD, simd_width_as_zeros_tuple
from plurivox.engine.parallel_task_blocks import Blocks
from plurivox.engine.second_compiler import KernelCall


def own_label_kernel_calls(votes: Votes) -> list[KernelCall]:
    """Return the kernels of an `OwnLabelEM` fit of votes of these types, with example arguments."""
    start, key, weight, worker, said = KeyedVotes.without_rows(votes)
    vector, matrix, width = np.empty(0), np.empty((0, 0)), simd_width_as_zeros_tuple(votes.n_labels)
    columns = 0, 0, start, said, key, weight
    return [
        (mace_and_one_coin.e_step_adding_expected_counts, (*columns, vector, vector, width, vector, vector)),
        (
            mace_and_one_coin.fill_posterior_and_add_agreement,
            (*columns, worker, vector, vector, width, matrix, vector),
        ),
    ]


class OwnLabelEM(TasksWithoutGold):
    """EM in which a vote adds a constant to the log-likelihood of all labels, and a gain to that of the label voted for.

    `key` (n_rows,), 0 to n_keys - 1, is the worker of the vote, or its worker and label in one integer. Constant and gain
    depend on the key of the vote.
    """

    def __init__(self, votes: Votes, gold: SoftLabels | None, key: Ints, n_keys: int) -> None:
        super().__init__(votes, gold)
        key = key.astype(np.uint32, copy=False)  # one integer type for all models, so that the kernels compile once
        self.all_keys, self.n_keys = key, n_keys
        self.columns = self.start, self.said, key[self.vote_row_mask_of_tasks(self.is_open)], self.weight
        self.width = simd_width_as_zeros_tuple(votes.n_labels)
        self.blocks = Blocks(self.start, n_sums=n_keys, sums_per_vote=4)
        self.total = np.bincount(key, votes.weight, minlength=n_keys).astype(np.float64)  # (n_keys,) weight of votes
        truth = np.zeros((0, self.n_labels)) if self.gold is None else self.gold.prob
        self.known_true: Floats = truth.sum(0)  # (n_labels,) gold labels, counted
        # (n_keys,) right votes on tasks with a gold label
        self.known_right = self.expected_right_votes_per_key(self.is_known, truth)

    def expected_right_votes_per_key(self, task_mask: Bools, posterior: Floats) -> Floats:
        """(n_keys,) expected weight of right votes on the tasks in `task_mask`; `posterior` has one row per selected task."""
        rows, votes = self.vote_row_mask_of_tasks(task_mask), self.votes
        place = (np.cumsum(task_mask) - 1)[votes.task[rows]]
        weight = votes.weights[rows] * posterior[place, votes.label[rows]]
        return np.bincount(self.all_keys[rows], weight, minlength=self.n_keys).astype(np.float64)

    def expected_counts_and_log_likelihood(
        self, log_prior: Floats, log_if_wrong: Floats, gain_if_right: Floats
    ) -> tuple[Floats, Floats, float]:
        """Run an E-step: return (expected tasks per label, expected right votes per key, log-likelihood), gold labels included.

        `log_if_wrong` (n_keys,) is the log probability of a vote for a label that is not true, `gain_if_right` (n_keys,) the
        difference if it is true.
        """

        def e_step_of_block_adding_counts(
            first_task: int, end_task: int, tasks_per_label: Floats, right_votes: Floats
        ) -> float:
            return mace_and_one_coin.e_step_adding_expected_counts(
                first_task, end_task, *self.columns, log_prior, gain_if_right, self.width, tasks_per_label, right_votes
            )

        value, (tasks_per_label, right_votes) = self.blocks.map_over_task_blocks_and_sum(
            e_step_of_block_adding_counts, self.n_labels + PAD, self.n_keys
        )
        value += float((self.total * log_if_wrong).sum())
        value += float((self.known_right * gain_if_right).sum()) + float(self.known_true @ log_prior)
        return tasks_per_label[: self.n_labels] + self.known_true, right_votes + self.known_right, value

    def soft_labels_and_worker_agreement(self, log_prior: Floats, gain_if_right: Floats) -> tuple[SoftLabels, Floats]:
        """Return (soft labels of all tasks, (n_workers,) each worker's agreement with the posterior from other votes)."""
        prob = np.empty((len(self.open), self.n_labels))

        def fill_posterior_and_agreement_of_block(first_task: int, end_task: int, agreeing_weight: Floats) -> float:
            given = (*self.columns, self.worker, log_prior, gain_if_right, self.width, prob)
            return mace_and_one_coin.fill_posterior_and_add_agreement(first_task, end_task, *given, agreeing_weight)

        _, (agreeing_weight,) = self.blocks.map_over_task_blocks_and_sum(
            fill_posterior_and_agreement_of_block, self.n_workers
        )
        agreeing_weight += self.known_right.reshape(self.n_workers, -1).sum(1)
        return self.soft_labels_of_all_tasks(prob, np.exp(log_prior)), self.agreeing_share_per_worker(agreeing_weight)
