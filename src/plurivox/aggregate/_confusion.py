"""What the models with confusion matrices share: options in words, a first guess, steps in logs, the answer."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from plurivox.aggregate._crowd import Crowd, Params
from plurivox.core.errors import InputError, OptionError, some
from plurivox.core.labels import SoftLabels
from plurivox.core.names import Floats, Names, as_names, positions
from plurivox.core.results import Confusion, Fit
from plurivox.core.rows import Dense
from plurivox.core.votes import Votes
from plurivox.engine.kernels.matrices import TINY
from plurivox.engine.kernels.rows import PAD
from plurivox.engine.memory import available, gigabytes

PRIOR_HELP = "how frequent the labels are: learnt, even, or shares in their order such as .7/.3 or no=.7/yes=.3"
TOL_HELP = "stop when a pass gains less than this, in nats a vote"
LOWEST = -40.0  # logs below it are all the same to a long step: e^-40 is no more than nothing
DOUBT = 0.01  # share of doubt put into an earlier fit's matrices, so that new votes can change every cell of them


def check_room(votes: Votes, name: str, cells: int | None = None) -> None:
    """Refuse tables that cannot fit into memory, before anything is made: `cells` numbers for the workers.

    None: a confusion matrix each.
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


# ---- how frequent labels are


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


# ---- where to begin


def earlier_params(crowd: Crowd, start: Fit | None) -> Params | None:
    """The parameters of an earlier fit for the workers of these votes; None where it has none over the same labels.

    A worker it did not know gets the mean of its matrices.
    """
    if start is None or start.confusion is None or start.prior is None or not len(start.workers):
        return None
    place = positions(start.confusion.labels, crowd.votes.labels)
    if (place < 0).any() or len(place) != len(start.confusion.labels):
        return None
    dense = start.confusion.dense()[:, place[:, None], place]
    whose = positions(start.workers, crowd.votes.workers)
    mine = np.where((whose >= 0)[:, None, None], dense[whose], dense.mean(0))  # (n_workers, true, said)
    mine = (1 - DOUBT) * mine + DOUBT / crowd.n_labels
    table = crowd.flat(np.log(np.maximum(mine, TINY)).transpose(0, 2, 1))
    return Params(log_prior(start.prior[place] + TINY, None), table)


@dataclass(frozen=True)
class LogSpace:
    """Steps are made in logs of probabilities, and what comes out is made to sum to one again."""

    crowd: Crowd

    def flat(self, state: Params) -> Floats:
        whole = np.concatenate([state.log_prior, state.table[: self.crowd.n_cells]])
        return np.maximum(whole, LOWEST, out=whole)

    def state(self, flat: Floats) -> Params:
        n = self.crowd.n_labels
        table = np.zeros(self.crowd.n_cells + PAD)
        table[: self.crowd.n_cells] = flat[n:]
        return Params(flat[:n] - np.logaddexp.reduce(flat[:n]), self.crowd.renormalise(table))


# ---- the answer


def soft_labels(votes: Votes, posterior: Floats) -> SoftLabels:
    """(n_tasks, n_labels) numbers as soft labels of the votes' tasks."""
    return SoftLabels(Dense(posterior), votes.tasks, votes.labels, votes.support, votes.scale)


def confusion_of(crowd: Crowd, table: Floats) -> Confusion:
    """The matrices [worker, true, said] of a table of logs."""
    matrices = np.exp(crowd.tensor(table).transpose(0, 2, 1))
    matrices[matrices < 2 * TINY] = 0
    return Confusion(matrices, crowd.votes.workers, crowd.votes.labels)


def accuracy(matrices: Floats, prior: Floats) -> Floats:
    """(n_workers,) how often each is right on a task drawn at random: the diagonal, weighted by the prior."""
    return np.asarray(np.einsum("wkk,k->w", matrices, prior))


def accuracy_interval(right: Floats, wrong: Floats, prior: Floats, point: Floats) -> tuple[Floats, Floats]:
    """95% credible interval of that accuracy: (low, high), each (n_workers,).

    `right`, `wrong` (n_workers, n_labels): how often a worker was right or wrong on each true label, prior counts
    included. Each chance of being right is Beta(right + 1/2, wrong + 1/2); their weighted mean is given the Beta
    distribution of the same mean and variance. The interval always holds the point estimate.
    """
    a, b = right + 0.5, wrong + 0.5
    mean = (a / (a + b)) @ prior
    variance = (a * b / ((a + b) ** 2 * (a + b + 1))) @ prior**2
    low, high = share_interval(mean, variance)
    return np.minimum(low, point), np.maximum(high, point)


def share_interval(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """(low, high) that hold 95% of the Beta distributions with these means and variances."""
    size = np.maximum(mean * (1 - mean) / np.maximum(variance, TINY) - 1, 1e-6)
    low, high = (betaincinv(mean * size, (1 - mean) * size, tail) for tail in (0.025, 0.975))
    return np.where(variance > 0, low, mean), np.where(variance > 0, high, mean)
