"""Calibrated beliefs of workers about tasks: distributions over labels.

A worker with belief b is right with probability b[label]: b | true ~ Dirichlet(a + e_true), where b ~ Dirichlet(a) before the
true label is known and a is the same for all labels. The smaller a, the sharper the beliefs and the more often they are right.
"""

import numpy as np
from scipy.special import gammainc

from plurivox.core.types import Bools, Floats, Ints

# a repeated belief is drawn from Dirichlet(10 b): 7 in 100 change their top label, as in Collins et al.
REPEAT_CONCENTRATION = 10.0
N_GRID = 64  # concentrations at which the expected largest probability is computed; linear interpolation between them


def draw_beliefs(concentration: Floats, true: Ints, informed: Bools, n_labels: int, rng: np.random.Generator) -> Floats:
    """(n, n_labels) one belief per answer; where `informed` (n,) is false it does not depend on the true label."""
    shape = np.repeat(concentration[:, None], n_labels, axis=1)
    shape[np.flatnonzero(informed), true[informed]] += 1
    return _normalise_rows(rng.standard_gamma(shape), rng)


def redraw_beliefs(belief: Floats, rng: np.random.Generator) -> Floats:
    """(n, n_labels) the beliefs of the same workers about the same tasks when the tasks are repeated."""
    return _normalise_rows(rng.standard_gamma(REPEAT_CONCENTRATION * belief), rng)


def stated_beliefs(belief: Floats, exponent: Floats) -> Floats:
    """(n, n_labels) beliefs as workers state them: raised to `exponent` (n,) and normalised; above 1 is overstated."""
    stated = (belief / belief.max(1, keepdims=True)) ** exponent[:, None]
    return stated / stated.sum(1, keepdims=True)


def expected_top(concentration: Floats, n_labels: int) -> Floats:
    """(n,) the mean largest probability of a symmetric Dirichlet, which is the probability that its label is right.

    The largest of K gamma variables over their sum: (1 / K a) times the integral of 1 - F(x)^K.
    """
    grid = np.geomspace(concentration.min(), concentration.max(), N_GRID)
    log_x = np.linspace(-50, np.log(40 + 4 * grid[-1]), 1000)
    x = np.exp(log_x)
    above = 1 - gammainc(grid[:, None], x) ** n_labels  # (N_GRID, 1000)
    top = np.trapezoid(above * x, log_x, axis=1) / (n_labels * grid)
    return np.interp(concentration, grid, np.clip(top, 1 / n_labels, 1))


def top_label_matrices(concentration: Floats, honesty: Floats, n_labels: int) -> Floats:
    """(n_workers, n_true, n_given) confusion matrices of the top labels of workers with these concentrations and honesty.

    Honest answers are right as often as beliefs are; the others are uniform.
    """
    right = honesty * expected_top(concentration, n_labels) + (1 - honesty) / n_labels
    wrong = (1 - right) / (n_labels - 1)
    return wrong[:, None, None] + (right - wrong)[:, None, None] * np.eye(n_labels)


def _normalise_rows(mass: Floats, rng: np.random.Generator) -> Floats:
    """Return rows scaled to sum 1, changing `mass`; a row that underflowed to zeros becomes one random label."""
    total = mass.sum(1, keepdims=True)
    empty = np.flatnonzero(total[:, 0] <= 0)
    mass[empty, rng.integers(0, mass.shape[1], len(empty))] = 1.0
    total[empty] = 1.0
    return mass / total
