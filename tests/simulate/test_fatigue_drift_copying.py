"""Optional effects of simulations: long tails, fatigue, drift, copying, times, features."""

import numpy as np
import pytest

from plurivox.core.errors import OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.simulate import HammerSpammer, IndependentConfusion, Simulated
from plurivox.simulate._shared.names_truth_and_features import power_law_shares
from plurivox.simulate._shared.worker_assignment import VoteDesign, choose_distinct_workers_per_task


def right(crowd: Simulated) -> np.ndarray:
    """Return (n_votes,) whether each vote is for the true label."""
    return crowd.votes.label == crowd.truth.most_probable_label_codes()[crowd.votes.task]


def in_order(crowd: Simulated) -> np.ndarray:
    """Return (n_votes,) the rank of each vote among its worker's votes by time, scaled to 0..1."""
    order = np.lexsort((crowd.votes.when, crowd.votes.worker))
    load = crowd.votes.n_answers_per_worker.astype(int)
    done = np.empty(len(order))
    done[order] = np.concatenate([np.arange(n) / (n - 1) for n in load])
    return done


def test_workloads_follow_the_power_law() -> None:
    votes = IndependentConfusion(n_tasks=40_000, n_workers=50, feedback=1, worker_tail=1).draw().votes
    np.testing.assert_allclose(votes.n_answers_per_worker / 40_000, power_law_shares(50, 1), atol=0.006)
    assert votes.n_answers_per_worker[0] > 30 * votes.n_answers_per_worker[-1]


@pytest.mark.parametrize("exponent", [1.0, 9.0])
def test_choosing_by_share_equals_sequential_draws_without_replacement(exponent: float) -> None:
    """The probability of an ordered pair is p_a p_b / (1 - p_a)."""
    share = power_law_shares(4, exponent)
    first, second = choose_distinct_workers_per_task(
        VoteDesign(60_000, 4, 2, worker_shares=share), np.random.default_rng(0)
    )
    assert (first != second).all()
    for a in range(4):
        for b in set(range(4)) - {a}:
            expected = share[a] * share[b] / (1 - share[a])
            assert ((first == a) & (second == b)).mean() == pytest.approx(expected, abs=0.01)


def test_tired_workers_guess_more_towards_the_end() -> None:
    crowd = HammerSpammer(n_tasks=2000, n_workers=20, n_labels=4, ratio=0, tire=0.8, times=True).draw()
    early, late = in_order(crowd) < 0.1, in_order(crowd) > 0.9
    assert right(crowd)[early].mean() == pytest.approx(1 - 0.05 * 0.8 * 0.75, abs=0.015)
    assert right(crowd)[late].mean() == pytest.approx(1 - 0.95 * 0.8 * 0.75, abs=0.03)
    fresh = HammerSpammer(n_tasks=2000, n_workers=20, n_labels=4, ratio=0, times=True).draw()
    assert right(fresh).all()


def test_drifting_workers_approach_the_accuracy_of_their_target() -> None:
    crowd = HammerSpammer(n_tasks=4000, n_workers=20, n_labels=4, ratio=0.5, drift=1, times=True).draw()
    names = crowd.votes.workers.tolist()
    becomes = np.array([names.index(name) for name in crowd.traits["drifts_to"].tolist()])
    worsens = np.flatnonzero((np.arange(20) < 10) & (becomes >= 10))
    improves = np.flatnonzero((np.arange(20) >= 10) & (becomes < 10))
    assert len(worsens) and len(improves)
    late = in_order(crowd) > 0.9
    assert right(crowd)[late & np.isin(crowd.votes.worker, worsens)].mean() < 0.4
    assert right(crowd)[late & np.isin(crowd.votes.worker, improves)].mean() > 0.85


def agreement_in_error(crowd: Simulated, a: int, b: int) -> float:
    """Return how often two workers give the same label to tasks on which the first is wrong."""
    votes = crowd.votes
    wrong = ~right(crowd)
    said = {
        who: dict(zip(votes.task[votes.worker == who], votes.label[votes.worker == who], strict=True)) for who in (a, b)
    }
    shared = [task for task in votes.task[(votes.worker == a) & wrong] if task in said[b]]
    return float(np.mean([said[a][task] == said[b][task] for task in shared]))


def test_copiers_make_the_same_mistakes() -> None:
    crowd = IndependentConfusion(n_tasks=1500, n_workers=12, feedback=8, copiers=0.5, group_size=3, copy_rate=1).draw()
    copies, names = crowd.traits["copies"].tolist(), crowd.votes.workers.tolist()
    groups = {leader: [i for i, whom in enumerate(copies) if whom == leader] for leader in set(copies) - {""}}
    assert [len(group) for group in groups.values()] == [3, 3]
    assert all(names.index(leader) in group for leader, group in groups.items())
    for group in groups.values():
        assert agreement_in_error(crowd, group[0], group[1]) == agreement_in_error(crowd, group[1], group[2]) == 1
    alone = [i for i, whom in enumerate(copies) if whom == ""]
    assert agreement_in_error(crowd, alone[0], alone[1]) < 0.7
    leader = names.index(next(iter(groups)))  # the votes of the copied worker still follow that worker's matrix
    votes, true = crowd.votes, crowd.truth.most_probable_label_codes()
    mine = votes.worker == leader
    said = np.zeros((5, 5))
    np.add.at(said, (true[votes.task[mine]], votes.label[mine]), 1)
    np.testing.assert_allclose(said / said.sum(1, keepdims=True), crowd.confusion.dense()[leader], atol=0.1)


def test_times_fall_with_practice_and_too_fast_workers_guess() -> None:
    crowd = HammerSpammer(n_tasks=4000, n_workers=200, ratio=0, times=True, too_fast=0.25).draw()
    votes, fast = crowd.votes, crowd.traits["too_fast"]
    assert fast.sum() == 50
    hasty = fast[votes.worker]
    first = in_order(crowd) == 0
    assert np.median(votes.seconds[~hasty]) == pytest.approx(1.85, rel=0.1)
    assert np.median(votes.seconds[first & ~hasty]) / np.median(votes.seconds[~hasty]) == pytest.approx(2.3, rel=0.2)
    assert np.median(votes.seconds[hasty]) < 0.4
    assert right(crowd)[hasty].mean() == pytest.approx(0.2, abs=0.01) and right(crowd)[~hasty].all()
    order = np.lexsort((votes.when, votes.worker))
    same = np.diff(votes.worker[order]) == 0
    np.testing.assert_allclose(np.diff(votes.when[order])[same], votes.seconds[order][1:][same], atol=1e-3)


def test_separated_features_classify_the_labels() -> None:
    near, far = (
        IndependentConfusion(n_tasks=3000, n_labels=3, features=6, separation=apart).draw() for apart in (0.0, 8.0)
    )
    for crowd, low, high in ((near, 0.25, 0.45), (far, 0.98, 1.0)):
        x, true = crowd.features, crowd.truth.most_probable_label_codes()
        centres = np.array([x[:1500][true[:1500] == k].mean(0) for k in range(3)])
        nearest = ((x[1500:, None] - centres) ** 2).sum(2).argmin(1)
        assert low <= (nearest == true[1500:]).mean() <= high


def test_times_and_features_do_not_change_the_votes() -> None:
    plain, more = (IndependentConfusion(seed=4, **how).draw() for how in ({}, {"times": True, "features": 2}))
    assert plain.votes.label.tolist() == more.votes.label.tolist()
    ordered = IndependentConfusion(order="peerannot", times=True, features=2).draw()
    assert ordered.votes.label.tolist() == IndependentConfusion(order="peerannot").draw().votes.label.tolist()


def test_a_prior_with_given_true_labels_raises_an_error() -> None:
    with pytest.raises(OptionError, match="true labels are given"):
        IndependentConfusion(label_tail=1).draw(SoftLabels.gold(["a", "b"], ["x", "y"]))


def test_the_peerannot_order_refuses_options_it_does_not_have() -> None:
    with pytest.raises(OptionError, match="which does not have 'worker-tail', 'tire'; use order=whole"):
        IndependentConfusion(order="peerannot", tire=0.5, worker_tail=1)


def test_labels_of_crowds_with_many_labels_follow_the_matrices() -> None:
    crowd = HammerSpammer(n_tasks=500, n_labels=300, ratio=0.5, n_workers=10).draw()
    hammer = crowd.votes.worker < 5
    assert right(crowd)[hammer].all() and right(crowd)[~hammer].mean() < 0.02
    assert len(np.unique(crowd.votes.label[~hammer])) == 300
