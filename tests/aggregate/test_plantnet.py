"""plantnet against a plain loop of the published algorithm."""

from itertools import pairwise

import numpy as np
import pytest

from crowds import crowd
from plurivox.aggregate import PlantNet
from plurivox.core.errors import InputError
from plurivox.core.votes import Votes


def plain_plantnet(votes: Votes, authors: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (shares, weights, valid), computed by plain loops."""
    rows = list(zip(votes.task.tolist(), votes.worker.tolist(), votes.label.tolist(), strict=True))
    weight = np.full(votes.n_workers, np.log(2.1))
    for _ in range(100):
        score = np.zeros((votes.n_tasks, votes.n_labels))
        for task, worker, label in rows:
            score[task, label] += weight[worker]
        winner, best = score.argmax(1), score.max(1)
        valid = (best > 2) & (best / score.sum(1) > 0.7)
        sure: list[set] = [set() for _ in weight]
        further: list[set] = [set() for _ in weight]
        for task, worker, label in rows:
            if label == winner[task]:
                further[worker].add(label)
                if valid[task] and (authors is None or authors[task] == worker):
                    sure[worker].add(label)
        n = np.array([float(len(s)) for s in sure])
        if authors is not None:
            n += np.round([0.1 * len(f - s) for s, f in zip(sure, further, strict=True)])
        last, weight = weight, n**0.5 - n**0.2 + np.log(2.1)
        if np.array_equal(last, weight):
            break
    return score / score.sum(1, keepdims=True), weight, valid


def many_labels(**more: object) -> Votes:
    columns = crowd(n_tasks=150, n_workers=20, n_labels=25, feedback=3, seed=2)
    return Votes.of(**columns, **more)


def test_weights_equal_a_plain_loop() -> None:
    votes = many_labels()
    share, weight, valid = plain_plantnet(votes, None)
    fit = PlantNet().fit(votes)
    np.testing.assert_allclose(fit.soft.prob, share, atol=1e-12)
    np.testing.assert_allclose(fit.ability, weight, atol=1e-12)
    np.testing.assert_array_equal(fit.found["decided"], valid)
    assert fit.converged and fit.found["rounds"] > 2  # more than two, so that the test covers updates of the weights


def test_authors_are_the_workers_of_the_earliest_votes() -> None:
    when = np.random.default_rng(0).permutation(450).astype(float)
    votes = many_labels(when=when)
    assert votes.when is not None
    rows = [slice(a, b) for a, b in pairwise(votes.row_offsets_by_task)]
    authors = np.array([votes.worker[some][np.argmin(votes.when[some])] for some in rows])
    share, weight, valid = plain_plantnet(votes, authors)
    fit = PlantNet(authors="earliest").fit(votes)
    np.testing.assert_allclose(fit.ability, weight, atol=1e-12)
    np.testing.assert_allclose(fit.soft.prob, share, atol=1e-12)
    np.testing.assert_array_equal(fit.found["decided"], valid)
    with pytest.raises(InputError, match="use authors=unknown"):
        PlantNet(authors="earliest").fit(many_labels())


def test_three_new_workers_make_a_task_valid_and_two_do_not() -> None:
    """The published weight of a new worker is log 2.1."""
    two, three = (Votes.of(task=["a"] * n, worker=range(n), label=["x"] * n) for n in (2, 3))
    assert PlantNet().fit(two).found["undecided"] == 1 and PlantNet().fit(three).found["undecided"] == 0


def test_an_expert_outweighs_the_crowd() -> None:
    votes = Votes.of(task=["a"] * 9, worker=range(9), label=["x"] * 8 + ["y"])
    fit = PlantNet(experts="8, 7").fit(votes)
    assert fit.soft.hard().tolist() == ["x"] and fit.found["decided"].tolist() == [False]  # the two experts disagree
    assert PlantNet(experts="8").fit(votes).soft.hard().tolist() == ["y"]
    assert fit.made_by == "plantnet[experts=[8, 7]]"
    with pytest.raises(InputError, match="not among the workers: '12'"):
        PlantNet(experts="12").fit(votes)
