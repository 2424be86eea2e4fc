"""The tasks that EM runs on (with votes, without a gold label), their initial posterior, and soft labels of all tasks."""

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Dense
from plurivox.core.types import Bools, Floats, Ints, readonly_view
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import ConfusionEM, KeyedVotes, Params, csr_rows_of_tasks
from plurivox.engine.kernels import confusion_e_step
from plurivox.engine.kernels.confusion_m_step import TINY
from plurivox.engine.threads import Blocks

SMOOTHING = 0.01  # weight of the uniform distribution mixed into the matrices of an earlier fit, so that no cell is 0


class UnlabelledTasks:
    """The open tasks of votes (no gold label, at least one vote) with their votes, in the order of the tasks.

    Tasks without votes carry no information, and the counts of tasks with a gold label never change: EM need not pass over
    them. `fill_all_tasks` adds them to the result.
    """

    open: Ints  # (n_open,) codes of the open tasks
    start: Ints  # (n_open + 1,) first row of each open task; worker, said and weight are columns of these rows
    gold: SoftLabels | None  # gold labels of tasks of the votes, over the labels of the votes
    gold_place: Ints  # (n_known,) codes of the tasks with a gold label, increasing

    def __init__(self, votes: Votes, gold: SoftLabels | None = None) -> None:
        self.votes, self.n_labels, self.n_workers = votes, votes.n_labels, votes.n_workers
        self.gold, self.gold_place = known_labels(votes, gold)
        self.is_known = np.zeros(votes.n_tasks, bool)
        self.is_known[self.gold_place] = True
        self.is_open = (np.diff(votes.start) > 0) & ~self.is_known
        self.open = np.flatnonzero(self.is_open)
        self.start, self.worker, self.said, self.weight = self._columns(self.is_open)
        _ = votes.workload, votes.support  # cached for later: computed now, while little else is in memory

    def vote_rows(self, tasks: Bools) -> Bools | slice:
        """(n_rows,) mask of the rows of the votes on `tasks` (n_tasks,), or a slice of all rows."""
        return csr_rows_of_tasks(self.votes.start, tasks)[1]

    def _columns(self, tasks: Bools) -> tuple[Ints, Ints, Ints, Floats | None]:
        """Return the columns (start, worker, said, weight) of the votes on `tasks` (n_tasks,) only."""
        votes, (start, rows) = self.votes, csr_rows_of_tasks(self.votes.start, tasks)
        weight = None if votes.weight is None else readonly_view(np.ascontiguousarray(votes.weight[rows], np.float64))
        return start, readonly_view(votes.worker[rows]), readonly_view(votes.label[rows]), weight

    def confusion_em(self) -> ConfusionEM:
        """Return the E-step and M-step of confusion matrices over the open tasks, with gold labels clamped."""
        known = None
        if self.gold is not None and len(self.gold_place):
            known = KeyedVotes.from_columns(*self._columns(self.is_known), self.n_labels), self.gold.prob
        votes = KeyedVotes.from_columns(self.start, self.worker, self.said, self.weight, self.n_labels)
        return ConfusionEM(votes, self.n_workers, self.n_labels, known)

    # ---- initial values

    def vote_shares(self) -> Floats:
        """(n_open, n_labels) the vote shares of each open task."""
        share, votes = np.empty((len(self.open), self.n_labels)), (self.start, self.said, self.weight)
        Blocks(self.start).map(lambda first, last: confusion_e_step.vote_shares(first, last, *votes, share))
        return share

    def initial_posterior(self, start: Fit | None) -> Floats:
        """(n_open, n_labels) the posterior of each open task in the earlier fit `start`, or its vote shares if not there."""
        posterior = self.vote_shares()
        if start is not None:
            names = self.votes.tasks[self.open]
            fitted = np.flatnonzero(positions(start.soft.tasks, names) >= 0)
            posterior[fitted] = start.soft.on(names[fitted]).on_labels(self.votes.labels).prob
        return posterior

    def warm_start_matrices(self, start: Fit | None) -> tuple[Floats, Floats] | None:
        """Return (log prior, (n_workers, true, said) matrices) of the earlier fit `start`; None without any for these labels.

        A worker without votes in the earlier fit gets the mean of its matrices.
        """
        if start is None or start.confusion is None or start.prior is None or not len(start.workers):
            return None
        place = positions(start.confusion.labels, self.votes.labels)
        if (place < 0).any() or len(place) != len(start.confusion.labels):
            return None
        dense = start.confusion.dense()[:, place[:, None], place]
        whose = positions(start.workers, self.votes.workers)
        own = np.where((whose >= 0)[:, None, None], dense[whose], dense.mean(0))
        smoothed = (1 - SMOOTHING) * own + SMOOTHING / self.n_labels
        return log_prior(start.prior[place] + TINY, None), smoothed

    def warm_start_params(self, em: ConfusionEM, start: Fit | None) -> Params | None:
        """Return prior and matrices of the earlier fit `start` as parameters of `em`; None without any for these labels."""
        found = self.warm_start_matrices(start)
        return None if found is None else Params(found[0], em.log_table(found[1]))

    # ---- result

    def soft_labels(self, posterior: Floats, prior: Floats) -> SoftLabels:
        """Return soft labels of all tasks: `posterior` (n_open, n_labels), gold labels, the prior for tasks without votes."""
        return soft_labels(self.votes, self.fill_all_tasks(posterior, prior))

    def fill_all_tasks(self, posterior: Floats, prior: Floats) -> Floats:
        """(n_tasks, n_labels) `posterior` (n_open, n_labels) of open tasks, gold labels, the prior for tasks without votes."""
        if len(self.open) == self.votes.n_tasks:
            return posterior
        full = np.repeat(prior[None] / prior.sum(), self.votes.n_tasks, 0)
        full[self.open] = posterior
        if self.gold is not None:
            full[self.gold_place] = self.gold.prob
        return full

    def leave_one_out_agreement(self, agree: Floats) -> Floats:
        """(n_workers,) the weight `agree` of votes that other workers agree with, divided by all votes; nan without votes."""
        load = self.votes.workload
        return np.divide(agree, load, out=np.full(len(load), np.nan), where=load > 0)


class ClampedTasks(UnlabelledTasks):
    """All tasks with votes; the posterior of a task with a gold label is clamped to it."""

    clamped: Bools  # (n_open,) whether the task has a gold label
    posterior: Floats  # (n_open, n_labels) the gold label, or the initial posterior

    def __init__(self, votes: Votes, gold: SoftLabels | None, start: Fit | None) -> None:
        super().__init__(votes)
        self.known, self.known_place = known_labels(votes, gold)
        self.posterior, self.clamped = self._warm_start_posterior(start), np.zeros(len(self.open), bool)
        unvoted = np.diff(votes.start)[self.known_place] == 0
        self.n_unvoted = np.zeros(votes.n_labels)  # (n_labels,) gold labels of tasks without votes, counted
        if self.known is not None and len(self.known):
            place = positions(self.known.tasks, votes.tasks[self.open])
            self.clamped = place >= 0
            self.posterior[self.clamped] = self.known.prob[place[self.clamped]]
            self.n_unvoted += self.known.prob[unvoted].sum(0)

    def _warm_start_posterior(self, start: Fit | None) -> Floats:
        """(n_open, n_labels) the posterior under the matrices of the earlier fit `start`, or its posterior, or vote shares."""
        if start is not None and start.confusion is not None:
            em = self.confusion_em()
            if (params := self.warm_start_params(em, start)) is not None:
                return em.e_step(params)[0]
        return self.initial_posterior(start)

    def posterior_of_all_tasks(self, prior: Floats) -> Floats:
        """(n_tasks, n_labels) the posterior of all tasks; gold labels stay, tasks without votes get the prior."""
        full = self.fill_all_tasks(self.posterior, prior)
        if self.known is not None:
            full[self.known_place] = self.known.prob
        return full


def known_labels(votes: Votes, gold: SoftLabels | None) -> tuple[SoftLabels | None, Ints]:
    """Return (gold labels of the tasks of the votes, over the labels of the votes; codes of these tasks, increasing)."""
    if gold is None:
        return None, np.zeros(0, np.int64)
    known = gold.shared(votes.tasks).on_labels(votes.labels)
    return known, positions(votes.tasks, known.tasks)


def soft_labels(votes: Votes, posterior: Floats) -> SoftLabels:
    """Return a posterior (n_tasks, n_labels) as soft labels of the tasks of the votes."""
    return SoftLabels(Dense(posterior), votes.tasks, votes.labels, votes.support, votes.scale)


def log_prior(n_true: Floats, fixed: Floats | None) -> Floats:
    """(n_labels,) log of the label prior: of `fixed`, or of the shares of the expected counts `n_true` (n_labels,)."""
    if fixed is None:
        total = n_true.sum()
        fixed = n_true / total if total > 0 else np.full(len(n_true), 1 / len(n_true))
    return np.log(np.maximum(fixed, TINY))
