"""95% intervals of the probabilities of a fit, for the aggregators that tell how certain these are."""

import numpy as np

from plurivox import aggregate
from plurivox.core.array_types import Floats, Ints
from plurivox.core.method import parse_spec
from plurivox.core.results import Fit
from plurivox.engine.beta_intervals import beta_interval_95, jeffreys_interval_95

PER_TASK = "concentration per task"  # in `found` of a fit
TINY = 1e-9


def has_intervals(fit: Fit) -> bool:
    """Return whether the aggregator of a fit tells how certain its probabilities are."""
    return PER_TASK in fit.found or _made_by(fit) in ("dirichlet-shares", "vote-shares")


def intervals_of_probabilities(fit: Fit, probabilities: Floats, task: Ints) -> tuple[Floats, Floats]:
    """Return (low, high), each (n,), of 95% intervals of n probabilities of a fit; `task` (n,) is the row of each in it.

    With the concentration c of a task, the interval of a probability p is that of Beta(c p, c (1 - p)): of calibrated-shares,
    and of dirichlet-shares with c = n + a K. Vote shares have the Jeffreys interval of n votes. NaN for other aggregators.

    >>> from plurivox.core.votes import Votes
    >>> fit = aggregate.methods.make("dirichlet-shares").fit(Votes.of(["a", "a"], [1, 2], ["x", "x"], labels=["x", "y"]))
    >>> [end.round(3).tolist() for end in intervals_of_probabilities(fit, np.array([0.75]), np.array([0]))]
    [[0.292], [0.992]]
    """
    p = np.asarray(probabilities, np.float64)
    support = fit.soft.support
    if (per_task := fit.found.get(PER_TASK)) is not None:
        return _beta_interval(p, np.asarray(per_task)[task])
    if support is not None and _made_by(fit) == "dirichlet-shares":
        added = aggregate.DirichletShares.from_options(dict(parse_spec(fit.made_by)[1])).added
        return _beta_interval(p, support[task] + added * fit.soft.n_labels)
    if support is not None and _made_by(fit) == "vote-shares":
        return jeffreys_interval_95(p, np.rint(support[task]))
    return np.full(p.shape, np.nan), np.full(p.shape, np.nan)


def _beta_interval(p: Floats, concentration: Floats) -> tuple[Floats, Floats]:
    """Return (low, high) of the 95% intervals of Beta(c p, c (1 - p)), widened to contain p."""
    low, high = beta_interval_95(np.maximum(concentration * p, TINY), np.maximum(concentration * (1 - p), TINY))
    return np.minimum(low, p), np.maximum(high, p)


def _made_by(fit: Fit) -> str:
    """Return the name of the aggregator of a fit, without its options."""
    return parse_spec(fit.made_by)[0]
