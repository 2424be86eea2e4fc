"""The tasks that EM runs on (with votes, without a gold label), their initial posterior, and soft labels of all tasks."""

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints, readonly_view
from plurivox.core.name_encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Dense
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import ConfusionEM, KeyedVotes, Params, csr_offsets_and_row_mask_of_tasks
from plurivox.engine.kernels import confusion_e_step
from plurivox.engine.kernels.confusion_m_step import TINY
from plurivox.engine.parallel_task_blocks import MIN_BLOCK_VOTES, Blocks

SMOOTHING = 0.01  # weight of the uniform distribution mixed into the matrices of an earlier fit, so that no entry is 0


class TasksWithoutGold:
    """The open tasks (at least one vote, no gold label) with their votes, in task order: the tasks that EM runs on.

    Tasks without votes carry no information, and the counts of tasks with a gold label never change: EM need not run on
    them. `add_gold_and_unvoted_tasks` adds them to the result.
    """

    open: Ints  # (n_open,) codes of the open tasks
    start: Ints  # (n_open + 1,) first row of each open task; worker, said and weight are columns of these rows
    gold: SoftLabels | None  # gold labels of tasks of the votes, over the labels of the votes
    gold_place: Ints  # (n_known,) codes of the tasks with a gold label, increasing

    def __init__(self, votes: Votes, gold: SoftLabels | None = None) -> None:
        self.votes, self.n_labels, self.n_workers = votes, votes.n_labels, votes.n_workers
        self.gold, self.gold_place = gold_matched_to_votes_and_task_codes(votes, gold)
        self.is_known = np.zeros(votes.n_tasks, bool)
        self.is_known[self.gold_place] = True
        self.is_open = (np.diff(votes.row_offsets_by_task) > 0) & ~self.is_known
        self.open = np.flatnonzero(self.is_open)
        self.start, self.worker, self.said, self.weight = self._csr_worker_label_weight_of_tasks(self.is_open)
        _ = votes.n_answers_per_worker, votes.support  # cached for later: computed now, while little else is in memory

    def vote_row_mask_of_tasks(self, task_mask: Bools) -> Bools | slice:
        """Return the rows of the votes on the tasks in `task_mask` (n_tasks,), as a mask (n_rows,) or a slice of all rows."""
        return csr_offsets_and_row_mask_of_tasks(self.votes.row_offsets_by_task, task_mask)[1]

    def _csr_worker_label_weight_of_tasks(self, task_mask: Bools) -> tuple[Ints, Ints, Ints, Floats | None]:
        """Return the columns (start, worker, said label, weight) of the votes on the tasks in `task_mask` (n_tasks,)."""
        votes, (start, rows) = self.votes, csr_offsets_and_row_mask_of_tasks(self.votes.row_offsets_by_task, task_mask)
        weight = None if votes.weight is None else readonly_view(np.ascontiguousarray(votes.weight[rows], np.float64))
        return start, readonly_view(votes.worker[rows]), readonly_view(votes.label[rows]), weight

    def make_confusion_em_from_votes_and_gold(self) -> ConfusionEM:
        """Return a `ConfusionEM`, the E- and M-step of confusion matrices, for the tasks without gold labels."""
        known = None
        if self.gold is not None and len(self.gold_place):
            known = (
                KeyedVotes.from_columns_adding_keys(
                    *self._csr_worker_label_weight_of_tasks(self.is_known), self.n_labels
                ),
                self.gold.prob,
            )
        votes = KeyedVotes.from_columns_adding_keys(self.start, self.worker, self.said, self.weight, self.n_labels)
        return ConfusionEM(votes, self.n_workers, self.n_labels, known)

    # ---- initial values

    def vote_shares_of_open_tasks(self) -> Floats:
        """(n_open, n_labels) the vote shares of each task that has votes and no gold label."""
        share, votes = np.empty((len(self.open), self.n_labels)), (self.start, self.said, self.weight)
        if len(self.said) < MIN_BLOCK_VOTES:  # the same bits as the kernel's, without compiling it
            task = np.repeat(np.arange(len(share)), np.diff(self.start))
            counts = np.bincount(task * self.n_labels + self.said, self.weight, share.size).reshape(share.shape)
            total = np.bincount(task, self.weight, len(share))[:, None]
            share[:] = 1 / self.n_labels
            return np.divide(counts, total, out=share, where=total > 0)
        Blocks(self.start).map_over_task_blocks(
            lambda first, last: confusion_e_step.fill_vote_shares_or_uniform(first, last, *votes, share)
        )
        return share

    def initial_posterior(self, earlier_fit: Fit | None) -> Floats:
        """(n_open, n_labels) the initial posterior of each open task: from the earlier fit, or vote shares if it has none."""
        posterior = self.vote_shares_of_open_tasks()
        if earlier_fit is not None:
            names = self.votes.tasks[self.open]
            fitted = np.flatnonzero(positions(earlier_fit.soft.tasks, names) >= 0)
            posterior[fitted] = earlier_fit.soft.on(names[fitted]).on_labels(self.votes.labels).prob
        return posterior

    def log_prior_and_matrices_of_fit_or_none(self, earlier_fit: Fit | None) -> tuple[Floats, Floats] | None:
        """Return (log prior, smoothed (n_workers, true, said) confusion matrices) of an earlier fit; None if its labels differ.

        A worker without votes in the earlier fit gets the mean of its matrices.
        """
        if (
            earlier_fit is None
            or earlier_fit.confusion is None
            or earlier_fit.prior is None
            or not len(earlier_fit.workers)
        ):
            return None
        place = positions(earlier_fit.confusion.labels, self.votes.labels)
        if (place < 0).any() or len(place) != len(earlier_fit.confusion.labels):
            return None
        dense = earlier_fit.confusion.dense()[:, place[:, None], place]
        whose = positions(earlier_fit.workers, self.votes.workers)
        own = np.where((whose >= 0)[:, None, None], dense[whose], dense.mean(0))
        smoothed = (1 - SMOOTHING) * own + SMOOTHING / self.n_labels
        return log_label_prior(earlier_fit.prior[place] + TINY, None), smoothed

    def warm_start_params(self, em: ConfusionEM, earlier_fit: Fit | None) -> Params | None:
        """Return prior and confusion matrices of an earlier fit as parameters of `em`; None if it has none for these labels."""
        found = self.log_prior_and_matrices_of_fit_or_none(earlier_fit)
        return None if found is None else Params(found[0], em.log_confusion_from_matrices(found[1]))

    # ---- result

    def soft_labels_of_all_tasks(self, posterior: Floats, prior: Floats) -> SoftLabels:
        """Return soft labels of all tasks: `posterior` for open tasks, gold labels, and the prior for tasks without votes."""
        return posterior_to_soft_labels(self.votes, self.add_gold_and_unvoted_tasks(posterior, prior))

    def add_gold_and_unvoted_tasks(self, posterior: Floats, prior: Floats) -> Floats:
        """(n_tasks, n_labels) `posterior` for open tasks, gold labels where given, the prior for tasks without votes."""
        if len(self.open) == self.votes.n_tasks:
            return posterior
        full = np.repeat(prior[None] / prior.sum(), self.votes.n_tasks, 0)
        full[self.open] = posterior
        if self.gold is not None:
            full[self.gold_place] = self.gold.prob
        return full

    def agreeing_share_per_worker(self, agreeing_weight: Floats) -> Floats:
        """(n_workers,) `agreeing_weight` (the weight of votes that other workers agree with) divided by the worker's votes."""
        load = self.votes.n_answers_per_worker
        return np.divide(agreeing_weight, load, out=np.full(len(load), np.nan), where=load > 0)


class ClampedTasks(TasksWithoutGold):
    """All tasks with votes and their posterior; the posterior of a task with a gold label is clamped to that label."""

    clamped: Bools  # (n_open,) whether the task has a gold label
    posterior: Floats  # (n_open, n_labels) the gold label, or the initial posterior

    def __init__(self, votes: Votes, gold: SoftLabels | None, earlier_fit: Fit | None) -> None:
        super().__init__(votes)
        self.known, self.known_place = gold_matched_to_votes_and_task_codes(votes, gold)
        self.posterior, self.clamped = (
            self._earlier_posterior_or_vote_shares(earlier_fit),
            np.zeros(len(self.open), bool),
        )
        unvoted = np.diff(votes.row_offsets_by_task)[self.known_place] == 0
        self.n_unvoted = np.zeros(votes.n_labels)  # (n_labels,) gold labels of tasks without votes, counted
        if self.known is not None and len(self.known):
            place = positions(self.known.tasks, votes.tasks[self.open])
            self.clamped = place >= 0
            self.posterior[self.clamped] = self.known.prob[place[self.clamped]]
            self.n_unvoted += self.known.prob[unvoted].sum(0)

    def _earlier_posterior_or_vote_shares(self, earlier_fit: Fit | None) -> Floats:
        """(n_open, n_labels) initial posterior: under the matrices of the earlier fit, else its posterior, else vote shares."""
        if earlier_fit is not None and earlier_fit.confusion is not None:
            em = self.make_confusion_em_from_votes_and_gold()
            if (params := self.warm_start_params(em, earlier_fit)) is not None:
                return em.e_step(params)[0]
        return self.initial_posterior(earlier_fit)

    def posterior_of_all_tasks(self, prior: Floats) -> Floats:
        """(n_tasks, n_labels) the posterior of every task: its gold label if there is one, the prior if it has no votes."""
        full = self.add_gold_and_unvoted_tasks(self.posterior, prior)
        if self.known is not None:
            full[self.known_place] = self.known.prob
        return full


def gold_matched_to_votes_and_task_codes(votes: Votes, gold: SoftLabels | None) -> tuple[SoftLabels | None, Ints]:
    """Return (gold labels restricted to the tasks of the votes and recoded to their labels, sorted codes of these tasks)."""
    if gold is None:
        return None, np.zeros(0, np.int64)
    known = gold.shared(votes.tasks).on_labels(votes.labels)
    return known, positions(votes.tasks, known.tasks)


def posterior_to_soft_labels(votes: Votes, posterior: Floats) -> SoftLabels:
    """Return a posterior (n_tasks, n_labels) as a `SoftLabels` object with the task names, labels and support of the votes."""
    return SoftLabels(Dense(posterior), votes.tasks, votes.labels, votes.support, votes.scale)


def log_label_prior(tasks_per_label: Floats, fixed_prior: Floats | None) -> Floats:
    """(n_labels,) log of `fixed_prior`, or, if that is None, log of the shares of the expected tasks per label."""
    if fixed_prior is None:
        total = tasks_per_label.sum()
        fixed_prior = tasks_per_label / total if total > 0 else np.full(len(tasks_per_label), 1 / len(tasks_per_label))
    return np.log(np.maximum(fixed_prior, TINY))
