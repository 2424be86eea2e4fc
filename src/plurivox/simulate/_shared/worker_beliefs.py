"""Calibrated beliefs of workers about tasks: distributions over labels.

A worker with belief b is right with probability b[label]: b | true ~ Dirichlet(a + e_true), where b ~ Dirichlet(a) before the
true label is known and a is the same for all labels. The smaller a, the sharper the beliefs and the more often they are right.
"""

import numpy as np
from scipy.special import gammainc

from plurivox.core.array_types import Bools, Floats, Ints

# a repeated belief is drawn from Dirichlet(10 b): 7 in 100 change their top label, as in Collins et al.
REPEAT_CONCENTRATION = 10.0
N_GRID = 64  # concentrations at which the expected largest probability is computed; linear interpolation between them


def draw_label_beliefs(
    concentration: Floats, true_label: Ints, is_informed: Bools, n_labels: int, rng: np.random.Generator
) -> Floats:
    """Return (n, n_labels) a random distribution over labels per answer; without regard to the truth if not `is_informed`."""
    shape = np.repeat(concentration[:, None], n_labels, axis=1)
    shape[np.flatnonzero(is_informed), true_label[is_informed]] += 1
    return _normalise_rows_or_random_one(rng.standard_gamma(shape), rng)


def redraw_beliefs_for_repeats(first_belief: Floats, rng: np.random.Generator) -> Floats:
    """Return (n, n_labels) random beliefs close to `first_belief`: those of the same workers when tasks are repeated."""
    return _normalise_rows_or_random_one(rng.standard_gamma(REPEAT_CONCENTRATION * first_belief), rng)


def stated_beliefs(belief: Floats, overstatement_exponent: Floats) -> Floats:
    """Return (n, n_labels) beliefs as workers state them: belief ** exponent (n,), normalised; exponents above 1 overstate."""
    stated = (belief / belief.max(1, keepdims=True)) ** overstatement_exponent[:, None]
    return stated / stated.sum(1, keepdims=True)


def expected_largest_probability(concentration: Floats, n_labels: int) -> Floats:
    """Return (n,) the expected largest probability in a draw from a symmetric Dirichlet with each concentration (n,).

    The largest of K gamma variables over their sum: (1 / K a) times the integral of 1 - F(x)^K.
    """
    grid = np.geomspace(concentration.min(), concentration.max(), N_GRID)
    log_x = np.linspace(-50, np.log(40 + 4 * grid[-1]), 1000)
    x = np.exp(log_x)
    above = 1 - gammainc(grid[:, None], x) ** n_labels  # (N_GRID, 1000)
    top = np.trapezoid(above * x, log_x, axis=1) / (n_labels * grid)
    return np.interp(concentration, grid, np.clip(top, 1 / n_labels, 1))


def confusion_matrices_of_top_labels(concentration: Floats, honesty: Floats, n_labels: int) -> Floats:
    """Return (n_workers, n_true, n_given) confusion matrices of the top labels of workers with these beliefs and honesty.

    Honest answers are right as often as beliefs are; the others are uniform.
    """
    right = honesty * expected_largest_probability(concentration, n_labels) + (1 - honesty) / n_labels
    wrong = (1 - right) / (n_labels - 1)
    return wrong[:, None, None] + (right - wrong)[:, None, None] * np.eye(n_labels)


def _normalise_rows_or_random_one(weights: Floats, rng: np.random.Generator) -> Floats:
    """Return rows scaled to sum 1; a row of zeros gets a random 1, which changes `weights` in place."""
    total = weights.sum(1, keepdims=True)
    empty = np.flatnonzero(total[:, 0] <= 0)
    weights[empty, rng.integers(0, weights.shape[1], len(empty))] = 1.0
    total[empty] = 1.0
    return weights / total
