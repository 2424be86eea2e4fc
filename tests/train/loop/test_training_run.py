"""An interrupted training is resumed with the same result."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.train import Plan, Supervision, fit
from plurivox.train.loop.checkpoint import check_same_training_settings
from toy_training import toy_data

CODE = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import torch
torch.set_num_threads(1)
from toy_training import toy_data
from plurivox.train import Plan, fit
x, gold, votes = toy_data()
def die(step, total, value=None):
    if step == 5:
        os.kill(os.getpid(), signal.SIGKILL)
plan = Plan(epochs=9, batch=16, lr=.02, device="cpu", best="loss", schedule="one-cycle")
fit(x, votes, net="mlp[hidden=8,dropout=.3]", plan=plan, dev=(x[:9], gold.on(gold.tasks[:9])), record=True,
    folder={folder!r}, save_seconds={seconds}, progress=die)
"""
PLAN = Plan(epochs=9, batch=16, lr=0.02, device="cpu", best="loss", schedule="one-cycle")


@pytest.mark.parametrize("seconds", [0.0, pytest.param(1000.0, marks=pytest.mark.slow)])
def test_a_killed_training_is_resumed_with_the_same_result(tmp_path: Path, seconds: float) -> None:
    code = CODE.format(tests=str(Path(__file__).parents[2]), folder=str(tmp_path), seconds=seconds)
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (tmp_path / "checkpoint.safetensors").is_file() == (seconds == 0)
    x, gold, votes = toy_data()
    dev, how = (x[:9], gold.on(gold.tasks[:9])), {"net": "mlp[hidden=8,dropout=.3]", "plan": PLAN, "record": True}
    steps: list[int] = []
    resumed = fit(
        x, votes, dev=dev, folder=tmp_path, progress=lambda step, total, value=None: steps.append(step), **how
    )  # type: ignore[arg-type]
    straight = fit(x, votes, dev=dev, **how)  # type: ignore[arg-type]
    assert steps[0] == (6 if seconds == 0 else 0)
    np.testing.assert_array_equal(resumed.logits(x), straight.logits(x))
    assert resumed.dynamics is not None and straight.dynamics is not None
    np.testing.assert_array_equal(resumed.dynamics.logits, straight.dynamics.logits)
    assert resumed.best_epoch == straight.best_epoch
    assert all(resumed.history[name] == straight.history[name] for name in straight.history if name != "seconds")
    assert not list(tmp_path.glob("logits-*")) and not (tmp_path / "checkpoint.safetensors").exists()


class Stop(Exception):
    pass


def stop_at(epoch: int) -> object:
    def progress(step: int, total: int, value: float | None = None) -> None:
        if step == epoch:
            raise Stop

    return progress


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_state_of_heads_and_optimizers_is_resumed(tmp_path: Path, optimizer: str) -> None:
    x, gold, votes = toy_data()
    plan = Plan(epochs=6, batch=16, lr=0.02, device="cpu", optimizer=optimizer)  # type: ignore[arg-type]
    how = {"tasks": gold.tasks, "known": Supervision(votes, gold, gold), "head": "two-heads", "plan": plan}
    with pytest.raises(Stop):
        fit(x, "pair[soft=de-aggregated]", folder=tmp_path, save_seconds=0, progress=stop_at(2), **how)  # type: ignore[arg-type]
    resumed = fit(x, "pair[soft=de-aggregated]", folder=tmp_path, **how)  # type: ignore[arg-type]
    np.testing.assert_array_equal(resumed.logits(x), fit(x, "pair[soft=de-aggregated]", **how).logits(x))  # type: ignore[arg-type]


def test_a_checkpoint_of_another_training_raises_an_error(tmp_path: Path) -> None:
    x, _, votes = toy_data()
    plan = Plan(epochs=6, batch=16, device="cpu")
    with pytest.raises(Stop):
        fit(x, votes, plan=plan, folder=tmp_path, save_seconds=0, progress=stop_at(2))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="belongs to another training: its plan is"):
        fit(x, votes, plan=Plan(epochs=7, batch=16, device="cpu"), folder=tmp_path)
    with pytest.raises(InputError, match="its data is"):
        fit(x + 1, votes, plan=plan, folder=tmp_path)
    with pytest.raises(InputError, match="another list of labels"):
        fit(x, votes, plan=plan, folder=tmp_path, labels=[*votes.labels.tolist(), "more"])
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_dev_measures_are_those_of_the_predictions_of_the_net(precision: str) -> None:
    x, gold, _ = toy_data(40)
    seen: list[SoftLabels] = []

    def keep(prediction: SoftLabels, truth: SoftLabels) -> float:
        del truth
        seen.append(prediction)
        return 0.0

    plan = Plan(epochs=3, lr=0.1, precision=precision, device="cpu")  # type: ignore[arg-type]
    trained = fit(
        x[:30],
        gold.on(gold.tasks[:30]),
        plan=plan,
        dev=(x[30:], gold.on(gold.tasks[30:]), gold.tasks[30:]),
        measures={"k": keep},
    )
    np.testing.assert_allclose(seen[-1].prob, trained.predict(x[30:]).prob, rtol=1e-12)


def test_fit_records_whether_gold_labels_are_training_labels() -> None:
    x, gold, votes = toy_data(20)
    known, plan = Supervision(votes, gold), Plan(epochs=1, device="cpu")
    for target, used in (("gold", ["training labels"]), ("majority", []), ("smoothed[of=gold]", ["training labels"])):
        assert fit(x, target, tasks=gold.tasks, known=known, plan=plan).made_by["gold_used"] == used


def test_a_saved_smoothed_target_of_version_0_1_is_gold() -> None:
    old = {"target": "smoothed[beta=0.1]", "plan": "plan"}
    check_same_training_settings(old, {"target": "smoothed[of=gold,beta=0.1]", "plan": "plan", "gold_used": []}, "run")
    with pytest.raises(
        InputError, match=r"its target is 'smoothed\[of=gold,beta=0.1\]', here it is 'smoothed\[of=majority"
    ):
        check_same_training_settings(old, {"target": "smoothed[of=majority,beta=0.1]", "gold_used": []}, "run")
    nested = {"target": "mixed[rest=smoothed]", "gold_used": []}
    check_same_training_settings(nested, nested, "run")
