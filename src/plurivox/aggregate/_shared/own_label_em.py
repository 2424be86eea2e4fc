"""EM of models in which a vote changes the evidence of its own label only: shared by mace and one-coin."""

import numpy as np

from plurivox.aggregate._shared.unlabelled_tasks import UnlabelledTasks
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes
from plurivox.engine.kernels import mace_one_coin
from plurivox.engine.kernels.simd import PAD, simd_width
from plurivox.engine.threads import Blocks


class OwnLabelEM(UnlabelledTasks):
    """EM in which a vote adds base[key] to the log-likelihood of all labels, and gain[key] to that of its own label.

    `key` (n_rows,), 0 to n_keys - 1, is the worker of the vote, or its worker and label in one integer.
    """

    def __init__(self, votes: Votes, gold: SoftLabels | None, key: Ints, n_keys: int) -> None:
        super().__init__(votes, gold)
        self.all_keys, self.n_keys = key, n_keys
        self.columns = self.start, self.said, key[self.vote_rows(self.is_open)], self.weight
        self.width = simd_width(votes.n_labels)
        self.blocks = Blocks(self.start, n_sums=n_keys, sums_per_vote=4)
        self.total = np.bincount(key, votes.weight, minlength=n_keys).astype(np.float64)  # (n_keys,) weight of votes
        truth = np.zeros((0, self.n_labels)) if self.gold is None else self.gold.prob
        self.known_true: Floats = truth.sum(0)  # (n_labels,) gold labels, counted
        self.known_right = self.count_right(self.is_known, truth)  # (n_keys,) right votes on tasks with a gold label

    def count_right(self, tasks: Bools, posterior: Floats) -> Floats:
        """(n_keys,) the expected weight of right votes on `tasks` (n_tasks,), given their posterior (n_selected, n_labels)."""
        rows, votes = self.vote_rows(tasks), self.votes
        place = (np.cumsum(tasks) - 1)[votes.task[rows]]
        weight = votes.weights[rows] * posterior[place, votes.label[rows]]
        return np.bincount(self.all_keys[rows], weight, minlength=self.n_keys).astype(np.float64)

    def em_pass(self, log_prior: Floats, base: Floats, gain: Floats) -> tuple[Floats, Floats, float]:
        """E-step and counts for the M-step: (n_true, right, log-likelihood), gold labels included.

        n_true (n_labels,) counts tasks per label, right (n_keys,) right votes per key; `base` and `gain` are (n_keys,).
        """

        def work(first: int, last: int, n_true: Floats, right: Floats) -> float:
            return mace_one_coin.em_pass(first, last, *self.columns, log_prior, gain, self.width, n_true, right)

        value, (n_true, right) = self.blocks.map_and_sum(work, self.n_labels + PAD, self.n_keys)
        value += float((self.total * base).sum())
        value += float((self.known_right * gain).sum()) + float(self.known_true @ log_prior)
        return n_true[: self.n_labels] + self.known_true, right + self.known_right, value

    def posterior(self, log_prior: Floats, gain: Floats) -> tuple[SoftLabels, Floats]:
        """Return (soft labels of all tasks, (n_workers,) each worker's agreement with the posterior under the other votes)."""
        prob = np.empty((len(self.open), self.n_labels))

        def work(first: int, last: int, agree: Floats) -> float:
            given = (*self.columns, self.worker, log_prior, gain, self.width, prob)
            return mace_one_coin.posterior(first, last, *given, agree)

        _, (agree,) = self.blocks.map_and_sum(work, self.n_workers)
        agree += self.known_right.reshape(self.n_workers, -1).sum(1)
        return self.soft_labels(prob, np.exp(log_prior)), self.leave_one_out_agreement(agree)
