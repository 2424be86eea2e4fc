"""Assignment of workers, confusion matrices and levels of the simulation strategies."""

import numpy as np
import pytest

from plurivox.core.errors import OptionError
from plurivox.simulate import DiscreteDifficulty, HammerSpammer, IndependentConfusion, StudentTeacher
from plurivox.simulate._shared.worker_assignment import VoteDesign, choose_distinct_workers_per_task


def test_every_set_of_workers_is_equally_likely() -> None:
    pairs = np.sort(
        choose_distinct_workers_per_task(VoteDesign(60_000, 5, 2, None, False), np.random.default_rng(0)).T, 1
    )
    assert (pairs[:, 0] < pairs[:, 1]).all()
    _, count = np.unique(pairs, axis=0, return_counts=True)
    assert len(count) == 10 and abs(count / 6000 - 1).max() < 0.06


def test_all_workers_answer_if_feedback_is_their_number() -> None:
    chosen = choose_distinct_workers_per_task(VoteDesign(7, 4, 4, None, False), np.random.default_rng(0))
    assert np.sort(chosen.T, 1).tolist() == [[0, 1, 2, 3]] * 7


def test_the_true_label_is_the_most_probable_answer() -> None:
    matrices = IndependentConfusion().draw().confusion.dense()
    assert (matrices.argmax(2) == np.arange(5)).all()


def test_hammers_are_right_and_spammers_guess() -> None:
    crowd = HammerSpammer(n_tasks=2000, n_workers=10, feedback=10, ratio=0.3).draw()
    right = crowd.votes.label == crowd.truth.most_probable_label_codes()[crowd.votes.task]
    accuracy = np.bincount(crowd.votes.worker, right) / crowd.votes.n_answers_per_worker
    assert accuracy[:7].tolist() == [1] * 7 and abs(accuracy[7:] - 0.2).max() < 0.05


def test_imbalanced_votes_per_task_are_uniform() -> None:
    votes = IndependentConfusion(n_tasks=6000, n_workers=6, feedback=4, imbalance_votes=True).draw().votes
    assert abs(np.bincount(votes.support.astype(int))[1:] / 1500 - 1).max() < 0.1
    assert abs(votes.n_answers_per_worker / votes.n_answers_per_worker.mean() - 1).max() < 0.1


@pytest.mark.parametrize("order", ["whole", "peerannot"])
def test_no_worker_exceeds_the_workload(order: str) -> None:
    votes = HammerSpammer(n_tasks=60, n_workers=30, feedback=3, workload=6, order=order).draw().votes
    assert votes.n_answers_per_worker.max() <= 6 and votes.n_repeats == 0
    with pytest.raises(OptionError, match="60 tasks need 180 votes; 30 workers with a workload of 5 give 150"):
        HammerSpammer(n_tasks=60, n_workers=30, feedback=3, workload=5, order=order).draw()


@pytest.mark.parametrize("seed", range(5))
def test_a_just_sufficient_workload_gives_every_task_its_votes(seed: int) -> None:
    exact = HammerSpammer(n_tasks=30, n_workers=9, feedback=3, workload=10, seed=seed).draw().votes
    assert (
        exact.support.tolist() == [3] * 30 and exact.n_answers_per_worker.tolist() == [10] * 9 and exact.n_repeats == 0
    )
    tailed = HammerSpammer(n_tasks=30, n_workers=9, feedback=3, workload=11, worker_tail=2, seed=seed).draw().votes
    assert tailed.support.tolist() == [3] * 30 and tailed.n_answers_per_worker.max() == 11
    few = HammerSpammer(n_tasks=30, n_workers=9, feedback=3, workload=4, imbalance_votes=True, seed=seed).draw().votes
    assert few.support.min() == 1 and few.n_answers_per_worker.max() <= 4


def test_shares_of_levels_and_guesses_on_random_tasks() -> None:
    crowd = DiscreteDifficulty(n_tasks=9000, ratio_diff=2, random=0.25).draw()
    np.testing.assert_allclose(np.bincount(crowd.level) / 9000, [0.5, 0.25, 0.25], atol=0.02)
    right = crowd.votes.label == crowd.truth.most_probable_label_codes()[crowd.votes.task]
    assert abs(right[crowd.level[crowd.votes.task] == 2].mean() - 0.2) < 0.01


def test_the_peerannot_order_of_draws_gives_its_published_accuracies() -> None:
    """Lefort et al. (2024), Tables 1 to 4, NaiveSoft: the argmax of the vote shares, first label on ties."""
    crowds = {
        0.760: IndependentConfusion(order="peerannot"),
        0.830: IndependentConfusion(order="peerannot", feedback=30, imbalance_votes=True),
        0.690: StudentTeacher(order="peerannot", ratio=0.8),
        0.790: DiscreteDifficulty(order="peerannot", n_workers=100, ratio=0.35),
    }
    for published, simulator in crowds.items():
        crowd = simulator.draw()
        share = (crowd.votes.counts().argmax(1) == crowd.truth.most_probable_label_codes()).mean()
        assert share == pytest.approx(published), simulator
