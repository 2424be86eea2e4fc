"""The tasks that EM aggregators pass over, where they begin, and their soft labels."""

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Dense
from plurivox.core.types import Bools, Floats, Ints, readonly_view
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import ConfusionEM, KeyedVotes, Params, rows_of_tasks
from plurivox.engine.kernels import confusion
from plurivox.engine.kernels.confusion_tables import TINY
from plurivox.engine.threads import Blocks

DOUBT = 0.01  # share of doubt put into an earlier fit's matrices, so that new votes can change every cell of them


class UnlabelledTasks:
    """The tasks of votes that are open (no known label, at least one vote), and their votes, in the order of the tasks.

    A task without a vote says nothing about anybody, and what a known task says never changes: neither needs to be
    passed over again and again. `whole` puts them back in their places.
    """

    open: Ints  # (n_open,) codes of the open tasks
    start: Ints  # (n_open + 1,) where the rows of each begin; worker, said and weight are columns of these rows
    gold: SoftLabels | None  # known labels of tasks that are here, over the labels of the votes
    gold_place: Ints  # (n_known,) their codes, increasing

    def __init__(self, votes: Votes, gold: SoftLabels | None = None) -> None:
        self.votes, self.n_labels, self.n_workers = votes, votes.n_labels, votes.n_workers
        self.gold, self.gold_place = known_labels(votes, gold)
        self.is_known = np.zeros(votes.n_tasks, bool)
        self.is_known[self.gold_place] = True
        self.is_open = (np.diff(votes.start) > 0) & ~self.is_known
        self.open = np.flatnonzero(self.is_open)
        self.start, self.worker, self.said, self.weight = self._columns(self.is_open)
        _ = votes.workload, votes.support  # both are wanted in the end; counted now, while little else is in memory

    def rows(self, tasks: Bools) -> Bools | slice:
        """Which rows of the votes belong to these tasks."""
        return rows_of_tasks(self.votes.start, tasks)[1]

    def _columns(self, tasks: Bools) -> tuple[Ints, Ints, Ints, Floats | None]:
        """(start, worker, said, weight) of the votes on some tasks, where theirs are the only rows."""
        votes, (start, rows) = self.votes, rows_of_tasks(self.votes.start, tasks)
        weight = None if votes.weight is None else readonly_view(np.ascontiguousarray(votes.weight[rows], np.float64))
        return start, readonly_view(votes.worker[rows]), readonly_view(votes.label[rows]), weight

    def confusion_em(self) -> ConfusionEM:
        """E-step and M-step of confusion matrices over the open tasks, the known ones clamped."""
        known = None
        if self.gold is not None and len(self.gold_place):
            known = KeyedVotes.of(*self._columns(self.is_known), self.n_labels), self.gold.prob
        votes = KeyedVotes.of(self.start, self.worker, self.said, self.weight, self.n_labels)
        return ConfusionEM(votes, self.n_workers, self.n_labels, known)

    # ---- where to begin

    def vote_shares(self) -> Floats:
        """(n_open, n_labels) the share of a task's votes that each label got."""
        share, votes = np.empty((len(self.open), self.n_labels)), (self.start, self.said, self.weight)
        Blocks(self.start).map(lambda first, last: confusion.vote_shares(first, last, *votes, share))
        return share

    def first_posterior(self, start: Fit | None) -> Floats:
        """(n_open, n_labels) the posterior of each task in an earlier fit, else its vote shares."""
        guess = self.vote_shares()
        if start is not None:
            names = self.votes.tasks[self.open]
            seen = np.flatnonzero(positions(start.soft.tasks, names) >= 0)
            guess[seen] = start.soft.on(names[seen]).on_labels(self.votes.labels).prob
        return guess

    def earlier_matrices(self, start: Fit | None) -> tuple[Floats, Floats] | None:
        """(log prior, (n_workers, true, said) matrices) of an earlier fit; None where it has none over the same labels.

        A worker it did not know gets the mean of its matrices.
        """
        if start is None or start.confusion is None or start.prior is None or not len(start.workers):
            return None
        place = positions(start.confusion.labels, self.votes.labels)
        if (place < 0).any() or len(place) != len(start.confusion.labels):
            return None
        dense = start.confusion.dense()[:, place[:, None], place]
        whose = positions(start.workers, self.votes.workers)
        mine = np.where((whose >= 0)[:, None, None], dense[whose], dense.mean(0))
        return log_prior(start.prior[place] + TINY, None), (1 - DOUBT) * mine + DOUBT / self.n_labels

    def earlier_params(self, em: ConfusionEM, start: Fit | None) -> Params | None:
        """The same as parameters of a model with confusion matrices."""
        found = self.earlier_matrices(start)
        return None if found is None else Params(found[0], em.log_table(found[1]))

    # ---- the answer

    def soft_labels(self, posterior: Floats, prior: Floats) -> SoftLabels:
        """Open tasks with their (n_open, n_labels) posterior, known ones as known, those without a vote at the prior."""
        return soft_labels(self.votes, self.whole(posterior, prior))

    def whole(self, posterior: Floats, prior: Floats) -> Floats:
        """(n_tasks, n_labels) the same as numbers."""
        if len(self.open) == self.votes.n_tasks:
            return posterior
        full = np.repeat(prior[None] / prior.sum(), self.votes.n_tasks, 0)
        full[self.open] = posterior
        if self.gold is not None:
            full[self.gold_place] = self.gold.prob
        return full

    def left_out(self, agree: Floats) -> Floats:
        """(n_workers,) the weight of votes that the others agree with, as share of all that a worker gave; nan for none."""
        load = self.votes.workload
        return np.divide(agree, load, out=np.full(len(load), np.nan), where=load > 0)


class ClampedTasks(UnlabelledTasks):
    """All tasks that have votes; the posterior of those with a gold label is clamped to it."""

    clamped: Bools  # (n_open,) whose label is known
    posterior: Floats  # (n_open, n_labels) the known label, or a first guess

    def __init__(self, votes: Votes, gold: SoftLabels | None, start: Fit | None) -> None:
        super().__init__(votes)
        self.known, self.known_place = known_labels(votes, gold)
        self.posterior, self.clamped = self._first_posterior(start), np.zeros(len(self.open), bool)
        silent = np.diff(votes.start)[self.known_place] == 0
        self.n_silent = np.zeros(votes.n_labels)  # (n_labels,) how many known tasks without a vote have each label
        if self.known is not None and len(self.known):
            place = positions(self.known.tasks, votes.tasks[self.open])
            self.clamped = place >= 0
            self.posterior[self.clamped] = self.known.prob[place[self.clamped]]
            self.n_silent += self.known.prob[silent].sum(0)

    def _first_posterior(self, start: Fit | None) -> Floats:
        """(n_open, n_labels) the posterior under an earlier fit's matrices; else that of the fit; else vote shares."""
        if start is not None and start.confusion is not None:
            em = self.confusion_em()
            if (params := self.earlier_params(em, start)) is not None:
                return em.e_step(params)[0]
        return self.first_posterior(start)

    def whole_posterior(self, prior: Floats) -> Floats:
        """(n_tasks, n_labels) the posterior of every task: known ones as known, those without a vote at the prior."""
        full = self.whole(self.posterior, prior)
        if self.known is not None:
            full[self.known_place] = self.known.prob
        return full


def known_labels(votes: Votes, gold: SoftLabels | None) -> tuple[SoftLabels | None, Ints]:
    """(the gold labels of tasks of the votes, over the labels of the votes; the codes of these tasks, increasing)."""
    if gold is None:
        return None, np.zeros(0, np.int64)
    known = gold.shared(votes.tasks).on_labels(votes.labels)
    return known, positions(votes.tasks, known.tasks)


def soft_labels(votes: Votes, posterior: Floats) -> SoftLabels:
    """(n_tasks, n_labels) numbers as soft labels of the votes' tasks."""
    return SoftLabels(Dense(posterior), votes.tasks, votes.labels, votes.support, votes.scale)


def log_prior(n_true: Floats, fixed: Floats | None) -> Floats:
    """(n_labels,) log of the prior: as fixed, or the share of tasks that truly have each label."""
    if fixed is None:
        total = n_true.sum()
        fixed = n_true / total if total > 0 else np.full(len(n_true), 1 / len(n_true))
    return np.log(np.maximum(fixed, TINY))
