"""What all EM aggregators share: their options, the prior, the tasks they pass over, the start and the answer."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import betaincinv

from plurivox.aggregate._contract import Aggregator
from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, OptionError, some
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Dense
from plurivox.core.types import Bools, Floats, Ints, Names, frozen
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import ConfusionEM, KeyedVotes, Params, task_rows
from plurivox.engine.em import ParamSpace
from plurivox.engine.kernels import confusion
from plurivox.engine.kernels.confusion_tables import TINY
from plurivox.engine.memory import available, gigabytes
from plurivox.engine.threads import Blocks

DOUBT = 0.01  # share of doubt put into an earlier fit's matrices, so that new votes can change every cell of them


@dataclass(frozen=True)
class EMAggregator(Aggregator):
    """An aggregator that runs EM: it can use soft answers, clamp gold labels and start from an earlier fit."""

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def em_settings(self, votes: Votes, watch: Watch, space: ParamSpace[Any] | None = None) -> dict[str, Any]:
        """What `run_em` is told by the options `max_iter`, `tol` and, for SQUAREM in `space`, `accelerate`."""
        options = vars(self)
        accelerated = space if options.get("accelerate") else None
        tol = options["tol"] * votes.n_answers
        return {"max_iter": options["max_iter"], "tol": tol, "watch": watch, "space": accelerated}


# ---- options: a function each, since the fields of a base class would come first in help, repr and saved words


def prior_option(default: str = "learnt") -> Any:
    """The option `prior`; `fixed_prior` reads it."""
    return option(
        default, "how frequent the labels are: learnt, even, or shares in their order such as .7/.3 or no=.7/yes=.3"
    )


def max_iter_option(default: int = 100, when: str = "") -> Any:
    """The option `max_iter`; `when` is added to its help."""
    return option(default, f"most passes over the votes{when}", low=1)


def tol_option(default: float = 1e-6) -> Any:
    """The option `tol`."""
    return option(default, "stop when a pass gains less than this, in nats a vote", low=0)


def accelerate_option() -> Any:
    """The option `accelerate`: SQUAREM steps."""
    return option(True, "try longer steps, and take back those that do not pay")


def fixed_prior(text: str, labels: Names) -> Floats | None:
    """(n_labels,) the prior that the option asks for; None: it is to be learnt.

    >>> fixed_prior("no=1/yes=3", as_names(["no", "yes"]))
    array([0.25, 0.75])
    """
    if text == "learnt":
        return None
    if text == "even":
        return np.full(len(labels), 1 / len(labels))
    names, _, shares = zip(*(part.rpartition("=") for part in text.split("/")), strict=True)
    try:
        share = np.array([float(word) for word in shares])
    except ValueError:
        raise OptionError(f"prior is learnt, even, or shares such as .7/.3 or no=.7/yes=.3; got {text!r}") from None
    if any(names):
        place = positions(as_names(names), labels)
        if len(share) != len(labels) or (place < 0).any():
            raise OptionError(f"prior must name every label once; {some(labels[place < 0])} got none in {text!r}")
        share = share[place]
    if len(share) != len(labels) or not (share >= 0).all() or not 0 < share.sum() < np.inf:
        raise OptionError(f"prior needs {len(labels)} shares, 0 or more, for the labels {some(labels)}; got {text!r}")
    return share / share.sum()


def log_prior(n_true: Floats, fixed: Floats | None) -> Floats:
    """(n_labels,) log of the prior: as fixed, or the share of tasks that truly have each label."""
    if fixed is None:
        total = n_true.sum()
        fixed = n_true / total if total > 0 else np.full(len(n_true), 1 / len(n_true))
    return np.log(np.maximum(fixed, TINY))


def check_memory(votes: Votes, name: str, cells: int | None = None) -> None:
    """Raise InputError where tables of `cells` numbers for the workers cannot fit into memory, before any is made.

    None: a confusion matrix for each worker.
    """
    cells = votes.n_workers * votes.n_labels**2 if cells is None else cells
    rows = votes.n_tasks * votes.n_labels
    need, have = 8 * (12 * cells + 3 * rows), available()
    if votes.n_workers * votes.n_labels >= 2**32 or (have is not None and need > have):
        free = "far more than any machine has" if have is None else f"{gigabytes(have)} are free"
        raise InputError(
            f"{name} needs about {gigabytes(need)} for {votes.n_workers:,} workers, {votes.n_labels:,} labels and "
            f"{votes.n_tasks:,} tasks; {free}. Take one-coin or wawa, which keep one number a worker, or fewer labels"
        )


# ---- the tasks


class OpenTasks:
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
        return task_rows(self.votes.start, tasks)[1]

    def _columns(self, tasks: Bools) -> tuple[Ints, Ints, Ints, Floats | None]:
        """(start, worker, said, weight) of the votes on some tasks, where theirs are the only rows."""
        votes, (start, rows) = self.votes, task_rows(self.votes.start, tasks)
        weight = None if votes.weight is None else frozen(np.ascontiguousarray(votes.weight[rows], np.float64))
        return start, frozen(votes.worker[rows]), frozen(votes.label[rows]), weight

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


def known_labels(votes: Votes, gold: SoftLabels | None) -> tuple[SoftLabels | None, Ints]:
    """(the gold labels of tasks of the votes, over the labels of the votes; the codes of these tasks, increasing)."""
    if gold is None:
        return None, np.zeros(0, np.int64)
    known = gold.shared(votes.tasks).on_labels(votes.labels)
    return known, positions(votes.tasks, known.tasks)


def soft_labels(votes: Votes, posterior: Floats) -> SoftLabels:
    """(n_tasks, n_labels) numbers as soft labels of the votes' tasks."""
    return SoftLabels(Dense(posterior), votes.tasks, votes.labels, votes.support, votes.scale)


def beta_interval(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """(low, high) that hold 95% of the distributions Beta(a, b)."""
    return betaincinv(a, b, 0.025), betaincinv(a, b, 0.975)


def beta_interval_of_moments(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """(low, high) that hold 95% of the Beta distributions with these means and variances."""
    size = np.maximum(mean * (1 - mean) / np.maximum(variance, TINY) - 1, 1e-6)
    low, high = beta_interval(mean * size, (1 - mean) * size)
    return np.where(variance > 0, low, mean), np.where(variance > 0, high, mean)
