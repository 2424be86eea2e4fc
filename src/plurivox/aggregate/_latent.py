"""What models of a hidden true label share: which labels are known, where to begin, how frequent labels are."""

import numpy as np

from plurivox.core.errors import InputError, OptionError
from plurivox.core.labels import SoftLabels
from plurivox.core.names import Bools, Floats, frozen, positions
from plurivox.core.results import Fit
from plurivox.core.rows import DENSE_CELLS
from plurivox.core.votes import Votes

NOBODY: Bools = frozen(np.zeros(0, bool))
NO_WEIGHT: Floats = frozen(np.zeros(0))


def weight_of(votes: Votes) -> Floats:
    """(n_rows,) or, where all rows are plain votes, nothing: a kernel takes 1 for it."""
    return NO_WEIGHT if votes.weight is None else votes.weight


def fixed_prior(told: str, votes: Votes) -> Floats | None:
    """(n_labels,) what the option `prior` says; None where it is to be learnt."""
    if told == "learnt":
        return None
    if told == "uniform":
        return np.full(votes.n_labels, 1 / votes.n_labels)
    try:
        given = np.array([float(part) for part in told.split(",")])
    except ValueError:
        raise OptionError(f"prior is learnt, uniform, or numbers such as .2,.8; got {told!r}") from None
    if len(given) != votes.n_labels or (given < 0).any() or not given.sum() > 0:
        raise OptionError(f"prior needs {votes.n_labels} numbers, 0 or more, one a label; got {told!r}")
    return given / given.sum()


def held_tasks(votes: Votes, gold: SoftLabels | None) -> tuple[Bools, Floats]:
    """(n_tasks,) which labels are known, or nothing where none is; (n_known, n_labels) what they are."""
    if gold is None:
        return NOBODY, np.zeros((0, votes.n_labels))
    known = gold.shared(votes.tasks)
    held = np.zeros(votes.n_tasks, bool)
    held[positions(votes.tasks, known.tasks)] = True
    return frozen(held), known.on_labels(votes.labels).prob


def first_guess(votes: Votes, start: Fit | None) -> Floats:
    """(n_tasks, n_labels) the shares of the votes; for tasks that `start` knows, what it believed."""
    need = votes.n_tasks * votes.n_labels
    if need > 16 * DENSE_CELLS:
        raise InputError(f"{need:,} numbers for the tasks")
    rows = votes.counts() + 1e-300
    rows /= rows.sum(1, keepdims=True)
    if start is not None:
        known = start.soft.shared(votes.tasks)
        rows[positions(votes.tasks, known.tasks)] = known.on_labels(votes.labels).prob
    return rows
