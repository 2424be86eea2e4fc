"""iwmv against a plain loop of the algorithm of Li and Yu."""

import numpy as np
import pytest

from crowds import crowd
from plurivox.aggregate import IWMV, Wawa
from plurivox.core.votes import Votes


def plain_iwmv(votes: Votes, li_yu: bool, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (labels, scores of the last round) by plain loops; a tie gets the first label."""
    rows = list(zip(votes.task, votes.worker, votes.label, strict=True))
    weight = np.ones(votes.n_workers)
    for _ in range(rounds + 1):
        score = np.zeros((votes.n_tasks, votes.n_labels))
        for task, worker, label in rows:
            score[task, label] += weight[worker]
        winner = score.argmax(1)
        for j in range(votes.n_workers):
            own = [label == winner[task] for task, worker, label in rows if worker == j]
            weight[j] = votes.n_labels * np.mean(own) - 1 if li_yu else np.mean(own)
    return winner, score


@pytest.mark.parametrize("rounds", [1, 10])
@pytest.mark.parametrize("weights", ["plain", "li-yu"])
def test_rounds_equal_a_plain_loop(weights: str, rounds: int) -> None:
    votes = Votes.of(**crowd(n_tasks=60, n_workers=9, n_labels=5, feedback=4, seed=11))
    winner, score = plain_iwmv(votes, weights == "li-yu", rounds)
    fit = IWMV(weights=weights, max_iter=rounds).fit(votes)
    np.testing.assert_array_equal(fit.soft.most_probable_label_codes(), winner)
    kept = np.maximum(score, 0)
    np.testing.assert_allclose(fit.soft.prob, kept / kept.sum(1, keepdims=True), atol=1e-12)


def test_one_round_equals_wawa() -> None:
    votes = Votes.of(**crowd(seed=2))
    np.testing.assert_array_equal(IWMV(max_iter=1).fit(votes).soft.prob, Wawa().fit(votes).soft.prob)


def test_li_yu_gives_workers_worse_than_chance_negative_weight() -> None:
    """Worker 4 is wrong on tasks a, b and c, and the only worker on task d."""
    votes = Votes.of(task=list("aaaabbbbccccd"), worker=[1, 2, 3, 4] * 3 + [4], label=list("nnnyyyynnnnyy"))
    assert IWMV(weights="plain").fit(votes).soft.hard().tolist() == ["n", "y", "n", "y"]
    fit = IWMV(weights="li-yu").fit(votes)
    assert fit.soft.hard().tolist() == ["n", "y", "n", "n"] and fit.ability is not None and fit.ability[3] < 0.5
    np.testing.assert_allclose(fit.soft.prob[3], [1, 0])
    three = IWMV(weights="li-yu").fit(votes.with_labels(["m", "n", "y"]))
    # the negative weight moves the probability of task d to the labels without votes
    np.testing.assert_allclose(three.soft.prob[3], [0.5, 0.5, 0])


def test_converged_and_rounds_are_reported() -> None:
    fit = IWMV().fit(Votes.of(**crowd(seed=4)))
    assert fit.converged and 1 <= fit.found["rounds"] <= 10
