"""EM of models in which a vote is evidence for the label it names alone: what MACE and one-coin share."""

import numpy as np

from plurivox.aggregate._shared.open_tasks import UnlabelledTasks
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes
from plurivox.engine.kernels import mace_one_coin
from plurivox.engine.kernels.simd import PAD, simd_width
from plurivox.engine.threads import Blocks


class OwnLabelEM(UnlabelledTasks):
    """Votes whose evidence depends on their key: a vote adds base[key] to all labels and gain[key] to its own.

    `key` (n_rows,) of all votes counts up to `n_keys`: the worker, or worker and label in one number.
    """

    def __init__(self, votes: Votes, gold: SoftLabels | None, key: Ints, n_keys: int) -> None:
        super().__init__(votes, gold)
        self.all_keys, self.n_keys = key, n_keys
        self.columns = self.start, self.said, key[self.rows(self.is_open)], self.weight
        self.width = simd_width(votes.n_labels)
        self.blocks = Blocks(self.start, cells=n_keys, width=4)
        self.total = np.bincount(key, votes.weight, minlength=n_keys).astype(np.float64)  # (n_keys,) weight of votes
        truth = np.zeros((0, self.n_labels)) if self.gold is None else self.gold.prob
        self.known_true: Floats = truth.sum(0)  # (n_labels,) how many known tasks have each label
        self.known_right = self.right(self.is_known, truth)  # (n_keys,) weight of right votes on them

    def right(self, tasks: Bools, posterior: Floats) -> Floats:
        """(n_keys,) the weight of right votes on some tasks, given the (n, n_labels) posterior of these."""
        rows, votes = self.rows(tasks), self.votes
        place = (np.cumsum(tasks) - 1)[votes.task[rows]]
        weight = votes.weights[rows] * posterior[place, votes.label[rows]]
        return np.bincount(self.all_keys[rows], weight, minlength=self.n_keys).astype(np.float64)

    def em_pass(self, log_prior: Floats, base: Floats, gain: Floats) -> tuple[Floats, Floats, float]:
        """E-step and the counts of the M-step: (n_true, right, log-likelihood), known tasks included.

        `base`, `gain` and `right` (n_keys,), n_true (n_labels,).
        """

        def work(first: int, last: int, n_true: Floats, right: Floats) -> float:
            return mace_one_coin.em_pass(first, last, *self.columns, log_prior, gain, self.width, n_true, right)

        value, (n_true, right) = self.blocks.map_and_sum(work, self.n_labels + PAD, self.n_keys)
        value += float((self.total * base).sum())
        value += float((self.known_right * gain).sum()) + float(self.known_true @ log_prior)
        return n_true[: self.n_labels] + self.known_true, right + self.known_right, value

    def posterior(self, log_prior: Floats, gain: Floats) -> tuple[SoftLabels, Floats]:
        """(posterior of every task, for each worker the share of votes that the other workers agree with)."""
        prob = np.empty((len(self.open), self.n_labels))

        def work(first: int, last: int, agree: Floats) -> float:
            given = (*self.columns, self.worker, log_prior, gain, self.width, prob)
            return mace_one_coin.posterior(first, last, *given, agree)

        _, (agree,) = self.blocks.map_and_sum(work, self.n_workers)
        agree += self.known_right.reshape(self.n_workers, -1).sum(1)
        return self.soft_labels(prob, np.exp(log_prior)), self.left_out(agree)
