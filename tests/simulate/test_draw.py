"""The draws behind every simulation."""

import numpy as np

from plurivox.simulate import HammerSpammer, IndependentConfusion
from plurivox.simulate._draw import choose_workers


def test_every_set_of_workers_is_as_likely_as_any_other() -> None:
    _, worker = choose_workers(60_000, 5, 2, np.random.default_rng(0))
    pairs = np.sort(worker.reshape(-1, 2), 1)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    _, count = np.unique(pairs, axis=0, return_counts=True)
    assert len(count) == 10 and abs(count / 6000 - 1).max() < 0.06


def test_everyone_answers_when_everyone_is_asked() -> None:
    _, worker = choose_workers(7, 4, 4, np.random.default_rng(0))
    assert np.sort(worker.reshape(7, 4), 1).tolist() == [[0, 1, 2, 3]] * 7


def test_the_true_label_is_the_likeliest_answer() -> None:
    matrices = IndependentConfusion().draw().confusion.dense()
    assert (matrices.argmax(2) == np.arange(5)).all()


def test_hammers_are_right_and_spammers_guess() -> None:
    crowd = HammerSpammer(n_tasks=2000, n_workers=10, feedback=10, ratio=0.3).draw()
    right = crowd.votes.label == crowd.truth.codes()[crowd.votes.task]
    accuracy = np.bincount(crowd.votes.worker, right) / crowd.votes.workload
    assert accuracy[:7].tolist() == [1] * 7 and abs(accuracy[7:] - 0.2).max() < 0.05
