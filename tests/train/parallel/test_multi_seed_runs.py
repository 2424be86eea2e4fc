"""Series of runs: seeds, resuming, parallel runs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from plurivox.core.errors import InputError
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.train import Plan, Trained
from plurivox.train.loop.training_run import TrainingRun
from plurivox.train.parallel.multi_seed_runs import run_series
from toy_training import toy_data
from training_runs_setup import start_fit

X, GOLD, VOTES = toy_data()
SHARES = SoftLabels.shares(VOTES.counts(), VOTES.tasks, VOTES.labels)
PLAN = Plan(epochs=3, batch=16, device="cpu")


def train_one(seed: int, folder: Path | None, progress: Progress) -> TrainingRun:
    plan = replace(PLAN, seed=seed)
    net = "mlp[hidden=4,dropout=0.2]"
    return start_fit(X, SHARES, net=net, plan=plan, folder=folder, save_seconds=0, progress=progress)


def evaluate_labels(trained: Trained) -> Mapping[str, float]:
    return {"loss": trained.history["loss"][-1]}


def test_every_run_has_its_seed() -> None:
    steps: list[tuple[int, int]] = []
    found = run_series(
        train_one, evaluate_labels, runs=3, seed=5, progress=lambda step, total, value=None: steps.append((step, total))
    )
    assert found == [evaluate_labels(train_one(seed, None, no_progress).train_to_end()) for seed in (5, 6, 7)]
    assert len({one["loss"] for one in found}) == 3 and steps == [(i, 9) for i in range(9)]


def test_an_interrupted_series_is_resumed(tmp_path: Path) -> None:
    def stop(step: int, total: int, value: float | None = None) -> None:
        if step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_series(train_one, evaluate_labels, runs=3, folder=tmp_path, progress=stop)
    steps: list[int] = []
    found = run_series(
        train_one, evaluate_labels, runs=3, folder=tmp_path, progress=lambda step, total, value=None: steps.append(step)
    )
    assert steps == [5, 6, 7, 8] and found == run_series(train_one, evaluate_labels, runs=3)
    again = run_series(
        train_one, lambda trained: {"twice": 2 * evaluate_labels(trained)["loss"]}, runs=3, folder=tmp_path
    )
    assert again == [{"twice": 2 * one["loss"]} for one in found]  # finished runs are evaluated again, not trained
    with pytest.raises(InputError, match="at least one run"):
        run_series(train_one, evaluate_labels, runs=0)


def test_interleaved_runs_give_the_same_as_one_after_another(tmp_path: Path) -> None:
    """Every run has its own random generators, so that the order of their steps does not matter."""
    alone = run_series(train_one, evaluate_labels, runs=5)
    together = run_series(train_one, evaluate_labels, runs=5, at_once=3, folder=tmp_path)
    assert together == alone and len({one["loss"] for one in alone}) == 5
