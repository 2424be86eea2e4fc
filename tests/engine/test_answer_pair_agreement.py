"""Agreement of pairs of answers against a loop over all pairs."""

from itertools import permutations

import numpy as np
import pytest

from plurivox.core.votes import Votes
from plurivox.engine.answer_pair_agreement import agreeing_pair_share_per_task


def by_pairs(answers: list[np.ndarray]) -> float:
    """Return the probability that labels drawn from two answers are equal, averaged over pairs of different answers."""
    pairs = list(permutations(answers, 2))
    return float(np.mean([one @ other for one, other in pairs])) if pairs else np.nan


def test_two_identical_soft_answers() -> None:
    votes = Votes.of(["a"] * 4, [1, 1, 2, 2], list("xyxy"), weight=[0.7, 0.3, 0.7, 0.3], answer=[0, 0, 1, 1])
    assert agreeing_pair_share_per_task(votes) == pytest.approx([0.58])  # .7 * .7 + .3 * .3


@pytest.mark.parametrize("soft", [False, True])
def test_all_pairs_of_random_answers(soft: bool) -> None:
    rng, rows = np.random.default_rng(0), []
    said: dict[int, list[np.ndarray]] = {}
    for answer in range(60):
        task = int(rng.integers(20))
        share = rng.dirichlet(np.ones(3)) if soft else np.eye(3)[rng.integers(3)]
        said.setdefault(task, []).append(share)
        rows += [(task, answer, label, share[label]) for label in np.flatnonzero(share)]
    task, answer, label, weight = zip(*rows, strict=True)
    columns = {"weight": weight, "answer": answer} if soft else {}
    found = agreeing_pair_share_per_task(Votes.of(task, answer, label, **columns))
    np.testing.assert_allclose(found, [by_pairs(said[task]) for task in sorted(said)], atol=1e-12)
