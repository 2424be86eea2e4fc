"""95% intervals of worker accuracies: what they cover, and when there are none."""

import pickle

import numpy as np
import pytest

from plurivox.aggregate import DawidSkene, FastDawidSkene, Ibcc, OneCoin
from plurivox.core.votes import Votes
from plurivox.engine.worker_accuracy_intervals import Hyper


def simulated(
    n_votes: int, n_labels: int, seed: int, n_tasks: int = 300, n_workers: int = 30
) -> tuple[Votes, np.ndarray]:
    """Return votes of workers with accuracies drawn from Beta(8, 2), and the accuracies in the order of the workers."""
    rng = np.random.default_rng([seed, n_votes, n_labels])
    accuracy, true = rng.beta(8, 2, n_workers), rng.integers(0, n_labels, n_tasks)
    task = np.repeat(np.arange(n_tasks), n_votes)
    worker = np.concatenate([rng.permutation(n_workers)[:n_votes] for _ in range(n_tasks)])
    wrong = (true[task] + rng.integers(1, n_labels, len(task))) % n_labels
    label = np.where(rng.random(len(task)) < accuracy[worker], true[task], wrong)
    votes = Votes.of(task=task, worker=[f"{w:02d}" for w in worker], label=label, labels=range(n_labels))
    return votes, accuracy[[int(str(name)) for name in votes.workers.tolist()]]


@pytest.mark.parametrize("method", [DawidSkene(), Ibcc()], ids=str)
def test_intervals_cover_the_true_accuracies_if_tasks_have_few_votes(method: DawidSkene | Ibcc) -> None:
    """Intervals that take the estimated labels as known cover 76% (dawid-skene) and 27% (ibcc) here."""
    covered = []
    for n_votes, n_labels in ((2, 4), (3, 4), (5, 10)):
        votes, accuracy = simulated(n_votes, n_labels, seed=1)
        fit = method.fit(votes)
        covered.append(((fit.ability_low <= accuracy) & (accuracy <= fit.ability_high)).mean())
        assert (fit.ability_high - fit.ability_low).mean() < 0.5
    assert np.mean(covered) > 0.9


def test_intervals_cover_95_percent_in_crowds_drawn_from_the_model() -> None:
    """`python -m benchmarks.interval_coverage` has other crowds, and more of each."""
    covered = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        matrices, prior = Hyper.draw_from_prior(3, rng).draw_matrices(20, rng), rng.dirichlet([1, 1, 1])
        task, true = np.repeat(np.arange(150), 4), rng.choice(3, 150, p=prior)
        worker = np.concatenate([rng.permutation(20)[:4] for _ in range(150)])
        said = (matrices[worker, true[task]].cumsum(1) < rng.random((600, 1))).sum(1)
        fit = DawidSkene().fit(Votes.of(task, worker, np.minimum(said, 2), workers=range(20), labels=range(3)))
        accuracy = np.einsum("wkk,k->w", matrices, prior)
        covered.append(((fit.ability_low <= accuracy) & (accuracy <= fit.ability_high)).mean())
    assert 0.92 < np.mean(covered) < 0.98


def test_there_are_no_intervals_with_one_vote_per_task_and_wide_ones_with_two_workers() -> None:
    one = Votes.of(task=range(40), worker=["x", "y"] * 20, label=["no", "yes", "no", "no"] * 10)
    fit = OneCoin().fit(one)
    assert np.isnan(fit.ability_low).all() and np.isnan(fit.ability_high).all()
    pair = Votes.of(task=np.repeat(range(20), 2), worker=["x", "y"] * 20, label=["no", "no", "yes", "no"] * 10)
    fit = OneCoin().fit(pair)
    assert (fit.ability_high - fit.ability_low > 0.4).all()


def test_intervals_are_computed_when_read_and_kept_in_pickles_and_files(tmp_path) -> None:  # type: ignore[no-untyped-def]
    votes, _ = simulated(3, 2, seed=0, n_tasks=30, n_workers=6)
    fit = FastDawidSkene().fit(votes)
    assert callable(vars(fit)["ability_low"])
    fit.save(tmp_path / "fit.npz")
    for again in (pickle.loads(pickle.dumps(fit)), type(fit).load(tmp_path / "fit.npz")):
        np.testing.assert_array_equal(again.ability_low, fit.ability_low)
        assert not again.ability_high.flags.writeable
