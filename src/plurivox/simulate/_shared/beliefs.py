"""Beliefs of people about tasks: distributions over labels that mean what they say.

Who holds belief b is right with the chance that b gives: b | true ~ Dirichlet(a + e_true), where b ~ Dirichlet(a) before the
truth is known and a is the same for all labels. The smaller a, the sharper the beliefs and the more often they are right.
"""

import numpy as np
from scipy.special import gammainc

from plurivox.core.types import Bools, Floats, Ints

STEADY = (
    10.0  # a repeated belief is drawn from Dirichlet(STEADY * b): 7 in 100 change their top label, as in Collins et al.
)
GRID = 64  # values at which the expected top is worked out; between them a line


def draw_beliefs(evenness: Floats, true: Ints, knows: Bools, n_labels: int, rng: np.random.Generator) -> Floats:
    """(n, n_labels) a belief each; who does not know has one that owes nothing to the truth."""
    shape = np.repeat(evenness[:, None], n_labels, axis=1)
    shape[np.flatnonzero(knows), true[knows]] += 1
    return _normal(rng.standard_gamma(shape), rng)


def draw_again(belief: Floats, rng: np.random.Generator) -> Floats:
    """(n, n_labels) what the same people believe of the same tasks when they are asked again."""
    return _normal(rng.standard_gamma(STEADY * belief), rng)


def state(belief: Floats, boast: Floats) -> Floats:
    """(n, n_labels) the belief as it is stated: its power `boast` (n,), above 1 for those who overstate."""
    stated = (belief / belief.max(1, keepdims=True)) ** boast[:, None]
    return stated / stated.sum(1, keepdims=True)


def expected_top(evenness: Floats, n_labels: int) -> Floats:
    """(n,) the mean of the largest number of Dirichlet(evenness, ..., evenness), which is how often its label is right.

    The largest of K gamma variables over their sum: (1 / K a) times the integral of 1 - F(x)^K.
    """
    grid = np.geomspace(evenness.min(), evenness.max(), GRID)
    log_x = np.linspace(-50, np.log(40 + 4 * grid[-1]), 1000)
    x = np.exp(log_x)
    above = 1 - gammainc(grid[:, None], x) ** n_labels  # (GRID, 1000)
    top = np.trapezoid(above * x, log_x, axis=1) / (n_labels * grid)
    return np.interp(evenness, grid, np.clip(top, 1 / n_labels, 1))


def matrices_of(evenness: Floats, honesty: Floats, n_labels: int) -> Floats:
    """(n_workers, n_labels, n_labels) how each names a top label: right as often as beliefs are, if honest; else anything."""
    right = honesty * expected_top(evenness, n_labels) + (1 - honesty) / n_labels
    wrong = (1 - right) / (n_labels - 1)
    return wrong[:, None, None] + (right - wrong)[:, None, None] * np.eye(n_labels)


def _normal(mass: Floats, rng: np.random.Generator) -> Floats:
    """Rows that sum to one; where all numbers are too small to be held, one label takes everything."""
    total = mass.sum(1, keepdims=True)
    lost = np.flatnonzero(total[:, 0] <= 0)
    mass[lost, rng.integers(0, mass.shape[1], len(lost))] = 1.0
    total[lost] = 1.0
    return mass / total
