"""What all EM methods share: help texts, prior, memory check, posterior to SoftLabels."""

import numpy as np

from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, OptionError, some
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Dense
from plurivox.core.types import Floats, Names
from plurivox.core.votes import Votes
from plurivox.engine.kernels.confusion_tables import TINY
from plurivox.engine.memory import available, gigabytes

PRIOR_HELP = "how frequent the labels are: learnt, even, or shares in their order such as .7/.3 or no=.7/yes=.3"
TOL_HELP = "stop when a pass gains less than this, in nats a vote"


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


# ---- the answer


def soft_labels(votes: Votes, posterior: Floats) -> SoftLabels:
    """(n_tasks, n_labels) numbers as soft labels of the votes' tasks."""
    return SoftLabels(Dense(posterior), votes.tasks, votes.labels, votes.support, votes.scale)
