"""The finite-vote floor: what the true distributions would have against a few votes."""

import numpy as np
import pytest

from plurivox.core.array_types import Floats
from plurivox.core.soft_rows_dense_sparse import Dense
from plurivox.evaluate import finite_vote_numbers
from plurivox.evaluate.distance_to_people import measures_from_sums, numbers_per_task

N = 2000


def true_shares(kind: str) -> Floats:
    """Return (N, 6) distributions: one Dirichlet, tasks with a label of their own, or sure tasks and tasks with two rivals."""
    rng, eye = np.random.default_rng(0), np.eye(6)
    own = rng.integers(0, 6, N)
    if kind == "alike":
        return rng.dirichlet([3.0, 2, 1, 1, 1, 1], N)
    if kind == "own label":
        return np.array([rng.dirichlet(0.1 + 9 * eye[k]) for k in own])
    rivals = np.where(rng.random(N) < 0.6, 0.03, 0.5)[:, None]
    return (1 - rivals) * eye[own] + rivals * eye[(own + 2) % 6]


@pytest.mark.parametrize("kind", ["alike", "own label", "rivals"])
def test_the_floor_is_what_the_true_distributions_have(kind: str) -> None:
    rng, true = np.random.default_rng(1), true_shares(kind)
    seen, hidden = (np.array([rng.multinomial(n, row) for row in true], float) for n in (5, 1))
    expected = measures_from_sums(numbers_per_task(Dense(true), Dense(hidden), np.ones(N), 0.01).sum(0))
    found = measures_from_sums(finite_vote_numbers(seen + hidden, np.ones(N)))
    np.testing.assert_allclose(found[[0, 2]], expected[[0, 2]], rtol=0.08)
