"""one-coin against plain numpy."""

import numpy as np
import pytest

from aggregate.plain_dawid_skene import posterior_of
from crowds import crowd, soft_crowd
from plurivox.aggregate import OneCoin
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def matrices(ability: np.ndarray, n_labels: int) -> np.ndarray:
    """Return (n_workers, n_labels, n_labels) confusion matrices of workers with one accuracy each."""
    wrong = (1 - ability) / (n_labels - 1)
    return wrong[:, None, None] + (ability - wrong)[:, None, None] * np.eye(n_labels)


def plain_one_coin(votes: Votes, passes: int, smooth: float) -> tuple[np.ndarray, np.ndarray, list[float]]:
    posterior, trace = votes.counts() / votes.support[:, None], []
    for _ in range(passes):
        hit = votes.weights * posterior[votes.task, votes.label]
        right = np.bincount(votes.worker, hit, minlength=votes.n_workers)
        ability = (right + smooth) / (votes.n_answers_per_worker + 2 * smooth)
        log_prior = np.log(posterior.mean(0))
        posterior, value = posterior_of(votes, log_prior, matrices(ability, votes.n_labels))
        bonus = smooth * (np.log(ability) + np.log((1 - ability) / (votes.n_labels - 1))).sum()
        trace.append(value + bonus)
    return posterior, ability, trace


@pytest.mark.parametrize("votes", [Votes.of(**crowd(n_labels=k)) for k in (2, 5, 21)] + [soft_crowd()])
def test_passes_equal_em_in_numpy(votes: Votes) -> None:
    fit = OneCoin(max_iter=8, tol=0.0, accelerate=False).fit(votes)
    posterior, ability, trace = plain_one_coin(votes, 8, 0.01)
    np.testing.assert_allclose(fit.soft.prob, posterior, atol=1e-10)
    np.testing.assert_allclose(fit.ability, ability, atol=1e-10)
    np.testing.assert_allclose(fit.trace, trace, rtol=1e-11)


def test_acceleration_converges_to_the_same_maximum() -> None:
    votes = Votes.of(**crowd(n_tasks=300, n_workers=30, feedback=3, seed=3))
    slow, fast = (OneCoin(accelerate=a, tol=1e-10, max_iter=1000).fit(votes) for a in (False, True))
    assert fast.found["passes"] < slow.found["passes"]
    np.testing.assert_allclose(fast.ability, slow.ability, atol=1e-3)
    assert (np.diff(fast.trace) >= -1e-9 * abs(fast.trace[-1])).all()


def test_gold_labels_are_clamped() -> None:
    columns = crowd(n_tasks=50)
    true = np.random.default_rng(0).integers(0, 3, 50)
    fit = OneCoin(smooth=0.0, max_iter=2).fit(Votes.of(**columns), gold=SoftLabels.gold(range(50), true))
    right = columns["label"] == true[columns["task"]]
    wanted = np.bincount(columns["worker"], right) / np.bincount(columns["worker"])
    np.testing.assert_allclose(fit.ability, wanted)
    np.testing.assert_allclose(fit.found["left_out"], wanted)
    assert (fit.ability_low < fit.ability).all() and (fit.ability < fit.ability_high).all()


def test_left_out_is_the_leave_one_out_agreement() -> None:
    for votes in (Votes.of(**crowd()), soft_crowd(seed=2)):
        fit = OneCoin().fit(votes)
        agreed = 0.0
        for row in np.flatnonzero(votes.worker == 2):
            task = votes.task[row]
            others = votes.where((votes.task == task) & (votes.worker != 2))
            rest, _ = posterior_of(others, np.log(fit.prior), matrices(fit.ability, votes.n_labels))
            agreed += votes.weights[row] * rest[task, votes.label[row]]
        np.testing.assert_allclose(fit.found["left_out"][2], agreed / votes.n_answers_per_worker[2], rtol=1e-9)


def test_a_warm_start_needs_fewer_passes() -> None:
    votes = Votes.of(**crowd(n_tasks=300, n_workers=30, feedback=3, seed=3))
    first = OneCoin(tol=1e-9).fit(votes)
    again = OneCoin().fit(votes, start=first)
    assert again.found["passes"] < first.found["passes"]
    assert len(OneCoin().fit(Votes.of(**crowd(n_workers=40, seed=9)), start=first).ability) == 40
