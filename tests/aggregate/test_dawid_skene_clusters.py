"""dawid-skene-clusters: the bound against plain numpy, and crowds with known clusters."""

import numpy as np
import pytest

from crowds import crowd, soft_crowd
from plurivox.aggregate import DawidSkene, DawidSkeneClusters
from plurivox.aggregate._shared.tasks_without_gold import TasksWithoutGold
from plurivox.aggregate.dawid_skene_clusters import _Clusters
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.em import run_em


def two_kinds(n_tasks: int = 120, seed: int = 0) -> tuple[Votes, np.ndarray]:
    """Return votes of seven good workers and five who swap labels 0 and 1, each on all tasks, and the truth."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, n_tasks)
    task, worker = np.repeat(np.arange(n_tasks), 12), np.tile(np.arange(12), n_tasks)
    seen = np.where(worker < 7, true[task], np.array([1, 0, 2])[true[task]])
    label = np.where(rng.random(len(task)) < 0.85, seen, rng.integers(0, 3, len(task)))
    return Votes.of(task, worker, label), true


@pytest.mark.parametrize("clusters", [2, 5, 12])
def test_clusters_of_workers_are_recovered(clusters: int) -> None:
    votes, true = two_kinds()
    fit = DawidSkeneClusters(clusters=clusters).fit(votes)
    assert (fit.soft.most_probable_label_codes() == true).mean() > 0.97
    assert not set(fit.found["cluster"][:7]) & set(fit.found["cluster"][7:])
    np.testing.assert_allclose(fit.confusion.of(9)[0], [0.05, 0.9, 0.05], atol=0.06)


def test_one_cluster_is_one_matrix_and_clusters_are_limited_to_the_number_of_workers() -> None:
    votes = Votes.of(**crowd())
    assert len(DawidSkeneClusters(clusters=1).fit(votes).confusion.matrices) == 1
    assert len(DawidSkeneClusters(clusters=99).fit(votes).confusion.matrices) == 6


def bound(votes: Votes, theta: np.ndarray, phi: np.ndarray) -> float:
    """Return the best bound for q(label) = theta and q(cluster) = phi, in plain numpy."""
    said = np.zeros((phi.shape[1], votes.n_labels, votes.n_labels))
    for t, w, s, weight in zip(votes.task, votes.worker, votes.label, votes.weights, strict=True):
        said[:, :, s] += weight * np.outer(phi[w], theta[t])
    log = lambda x: np.log(np.maximum(x, 1e-300))  # noqa: E731
    matrix = said / np.maximum(said.sum(2, keepdims=True), 1e-300)
    value = (said * log(matrix)).sum() + (theta * log(theta.mean(0))).sum() + (phi * log(phi.mean(0))).sum()
    return float(value - (theta * log(theta)).sum() - (phi * log(phi)).sum())


@pytest.mark.parametrize("votes", [two_kinds(40)[0], soft_crowd(n_tasks=40)], ids=["plain", "soft"])
def test_the_trace_is_the_bound_and_never_decreases(votes: Votes) -> None:
    tasks = TasksWithoutGold(votes)
    model = _Clusters(tasks, 3, None)
    first = model.initial_worker_cluster_params(
        model.em.expected_task_and_vote_counts(tasks.vote_shares_of_open_tasks())
    )
    end = run_em(model.em_pass, first, max_iter=5000, tol=1e-10)
    assert end.converged and (np.diff(end.trace) >= -1e-9 * abs(end.trace[-1])).all()
    theta, _ = model.em.posterior_and_agreeing_weight_per_worker(model.expected_log_params_per_worker(end.params))
    np.testing.assert_allclose(end.trace[-1], bound(votes, theta, end.params.q_cluster), rtol=1e-7)


def test_a_solution_with_one_label_restarts_with_the_seed() -> None:
    """With random votes, the solution with one label is as probable as others."""
    rng = np.random.default_rng(7)
    votes = Votes.of(np.repeat(np.arange(30), 3), np.tile(np.arange(3), 30), rng.integers(0, 2, 90))
    fits = [DawidSkeneClusters(clusters=1, restarts=3, seed=s, max_iter=50).fit(votes) for s in (1, 1, 2)]
    np.testing.assert_array_equal(fits[0].soft.prob, fits[1].soft.prob)
    assert all(0 <= fit.found["restarts"] <= 3 for fit in fits)


def test_gold_labels_are_kept() -> None:
    votes, true = two_kinds()
    gold = SoftLabels.gold(range(10), (true[:10] + 1) % 3, labels=[0, 1, 2])
    fit = DawidSkeneClusters().fit(votes, gold=gold)
    np.testing.assert_array_equal(fit.soft.most_probable_label_codes()[:10], (true[:10] + 1) % 3)


def test_max_iter_limits_the_passes() -> None:
    fit = DawidSkeneClusters(max_iter=3, tol=0.0).fit(two_kinds()[0])
    assert len(fit.trace) == 3 and fit.converged is False
    assert DawidSkene().fit(two_kinds()[0]).converged
