"""Stacked runs give the same nets as runs one after another, but for rounding."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from plurivox.core.errors import PlurivoxWarning
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.train import Plan, Supervision, Trained
from plurivox.train.data.image_augmentation import augmentation
from plurivox.train.heads._contract import HeadModule
from plurivox.train.heads.crowd_layer import _CrowdLayerModule
from plurivox.train.loop.train_spec import TrainSpec
from plurivox.train.loop.training_run import TrainingRun
from plurivox.train.parallel.multi_seed_runs import (
    best_number_of_stacked_runs,
    choose_parallel_runs_and_stacking,
    run_series,
    train_runs_stacked,
)
from plurivox.train.targets._contract import DrawnLabels
from toy_training import toy_data
from training_runs_setup import start_fit

X, GOLD, VOTES = toy_data()
KNOWN = Supervision(VOTES, GOLD, GOLD)
DEV = X[:9] + 0.1, GOLD.on(GOLD.tasks[:9])
NET = "mlp[hidden=[8,6],dropout=0.3]"
PLAN = Plan(epochs=4, batch=16, lr=0.05, device="cpu")
SEEDS = (3, 4, 5)


def train_one(seed: int, folder: Path | None, progress: Progress, **how: Any) -> TrainingRun:
    how = {"target": "soft", "net": NET, "plan": PLAN, "dev": DEV} | how
    plan = replace(how.pop("plan"), seed=seed)
    how |= {
        "tasks": GOLD.tasks,
        "known": KNOWN,
        "plan": plan,
        "folder": folder,
        "progress": progress,
        "save_seconds": 0,
    }
    return start_fit(X, how.pop("target"), **how)


def both_ways(**how: Any) -> list[tuple[Trained, Trained]]:
    """Return (run trained alone, stacked run) for every seed."""
    alone = [train_one(seed, None, no_progress, **how).train_to_end() for seed in SEEDS]
    return list(
        zip(alone, train_runs_stacked([partial(train_one, s, None, no_progress, **how) for s in SEEDS]), strict=True)
    )


def same(alone: Trained, stacked: Trained) -> None:
    np.testing.assert_allclose(stacked.logits(X), alone.logits(X), atol=2e-4)
    assert list(alone.history) == list(stacked.history) and alone.best_epoch == stacked.best_epoch
    for name in set(alone.history) - {"seconds"}:
        np.testing.assert_allclose(stacked.history[name], alone.history[name], atol=2e-4)
    assert alone.made_by == stacked.made_by and alone.stopped == stacked.stopped


SGD = Plan(epochs=4, batch=16, lr=0.1, optimizer="sgd", weight_decay=0.01, clip=0.2, device="cpu", reduction="sum")
STAGES = replace(PLAN, schedule="multistep", milestones="1,3", restart=True, optimizer="adamw", weight_decay=0.1)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"net": "linear", "target": "gold", "plan": SGD},
        {"net": "labelme-head[hidden=8,activation=leaky-relu]", "target": "de-aggregated", "plan": STAGES},
        {"net": "mlp[hidden=8,activation=gelu]", "loss": "jensen-shannon", "plan": replace(PLAN, schedule="one-cycle")},
        {"target": "repeated-labelling", "weight": np.linspace(0, 1, len(X)), "plan": replace(PLAN, best="loss")},
        {"target": "pair[soft=de-aggregated]", "head": "two-heads", "plan": replace(PLAN, clip=0.5)},
        {"target": "all-votes", "head": "crowd-layer", "plan": replace(PLAN, clip=0.5)},
        {"target": "all-votes", "head": "crowd-layer[variant=VW+B,on=logits]", "plan": SGD},
        {"target": "majority", "record": True, "dev": None},
    ],
    ids=lambda how: "-".join(str(how.get(name, "")) for name in ("net", "target", "head")),
)
def test_every_stacked_run_gives_the_same_net_as_a_separate_run(how: dict[str, Any]) -> None:
    pairs = both_ways(**how)
    for alone, stacked in pairs:
        same(alone, stacked)
        if alone.dynamics is not None:
            assert stacked.dynamics is not None
            np.testing.assert_allclose(stacked.dynamics.logits, alone.dynamics.logits, atol=2e-4)
        if alone.fit is not None and alone.fit.confusion is not None:
            assert stacked.fit is not None and stacked.fit.confusion is not None
            np.testing.assert_allclose(stacked.fit.confusion.dense(), alone.fit.confusion.dense(), atol=2e-4)
    told = [stacked.history["loss"] for _, stacked in pairs]
    assert len(set(told)) == len(SEEDS)  # each seed gives different losses


class Stop(Exception):
    pass


@pytest.mark.parametrize("how", [{}, {"target": "all-votes", "head": "crowd-layer"}])
def test_a_series_interrupted_at_different_epochs_is_resumed(tmp_path: Path, how: dict[str, Any]) -> None:
    """Two runs are one epoch ahead when interrupted; the third run catches up alone, then all are stacked."""
    steps: list[int] = []

    def stop(step: int, total: int, value: float | None = None) -> None:
        steps.append(step)
        if len(steps) == 5:
            raise Stop

    def evaluate_labels(trained: Trained) -> dict[str, float]:
        return {"loss": trained.history["loss"][-1], "epochs": len(trained.history["loss"])}

    every = partial(
        run_series, partial(train_one, **how), evaluate_labels, runs=3, folder=tmp_path, at_once=3, stacked=True
    )
    with pytest.raises(Stop):
        every(progress=stop)
    saved = [tmp_path / f"run-00{i}" / "checkpoint.safetensors" for i in range(3)]
    assert steps == [0, 1, 2, 3, 4] and all(one.is_file() for one in saved)
    more = every(progress=lambda step, *_: steps.append(step))
    straight = run_series(partial(train_one, **how), evaluate_labels, runs=3)
    # seven epochs were left: three of run 2 and two of each other run
    assert len(steps) == 5 + 7 and [one["epochs"] for one in more] == [
        4,
        4,
        4,
    ]
    np.testing.assert_allclose(*([one["loss"] for one in runs] for runs in (more, straight)), atol=2e-4)
    assert every() == more and not any(one.exists() for one in saved)


def test_the_others_continue_if_a_run_ends_early() -> None:
    def begin(i: int) -> TrainingRun:
        marks = iter([0.0] * (i + 1) + [1.0] * 9)  # the measure is best up to epoch i
        plan = replace(PLAN, epochs=9, best="mark", goal="lowest", ties="last", patience=2)
        return train_one(i, None, no_progress, plan=plan, measures={"mark": lambda prediction, truth: next(marks)})

    alone = [begin(i).train_to_end() for i in range(3)]
    pairs = list(zip(alone, train_runs_stacked([partial(begin, i) for i in range(3)]), strict=True))
    assert [len(one.history["loss"]) for one in alone] == [3, 4, 5]
    for one, stacked in pairs:
        same(one, stacked)
        assert next(stacked.net.parameters()).untyped_storage().nbytes() == 4 * next(stacked.net.parameters()).numel()


def test_runs_on_different_inputs_or_tasks_are_stacked_separately() -> None:
    def begin(i: int) -> TrainingRun:
        n = (60, 50, 60)[i]
        return start_fit(X[:n] * (i + 1), GOLD.on(GOLD.tasks[:n]), net=NET, plan=replace(PLAN, seed=i))

    stacked = train_runs_stacked([partial(begin, i) for i in range(3)])
    for i, one in enumerate(stacked):
        np.testing.assert_allclose(one.logits(X), begin(i).train_to_end().logits(X), atol=2e-4)


def test_runs_with_different_losses_or_weights_are_stacked_separately() -> None:
    hows: list[dict[str, Any]] = [{}, {"loss": "jensen-shannon"}, {"weight": np.linspace(0.1, 1, len(X))}]
    stacked = train_runs_stacked([partial(train_one, 1, None, no_progress, **how) for how in hows])
    for one, how in zip(stacked, hows, strict=True):
        same(train_one(1, None, no_progress, **how).train_to_end(), one)


def test_a_head_can_change_the_inputs_of_stacked_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def shift(self: HeadModule, x: Tensor, drawn: DrawnLabels, rng: torch.Generator) -> tuple[Tensor, DrawnLabels]:
        return x + torch.rand(x.shape, generator=rng), drawn

    plain = both_ways(target="all-votes", head="crowd-layer")
    monkeypatch.setattr(_CrowdLayerModule, "transform_batch", shift)
    for (before, _), (alone, stacked) in zip(plain, both_ways(target="all-votes", head="crowd-layer"), strict=True):
        same(alone, stacked)
        assert np.abs(before.logits(X) - alone.logits(X)).max() > 0.01


def test_images_are_augmented_in_a_stack_too() -> None:
    pixels = np.random.default_rng(0).random((60, 3, 4, 4)).astype(np.float32)
    begin = partial(start_fit, pixels, GOLD, net="linear", augment=augmentation("crop-flip"))
    plans = [replace(PLAN, seed=seed) for seed in SEEDS]
    alone = [begin(plan=plan).train_to_end().logits(pixels) for plan in plans]
    stacked = train_runs_stacked([partial(begin, plan=plan) for plan in plans])
    np.testing.assert_allclose([one.logits(pixels) for one in stacked], alone, atol=2e-4)


@pytest.mark.parametrize(
    ("net", "head", "plan", "shape", "want"),
    [
        ("labelme-head", None, Plan(), (1000, 512), 10),
        ("labelme-head", "crowd-layer", Plan(), (1000, 512), 10),
        ("labelme-head", None, Plan(), (1000, 8192), 1),  # the matrices of one run are large enough to use all cores
        ("linear", None, Plan(), (2**21, 64), 2),  # large inputs, of which each run may have its own copy
        ("labelme-head", "conal", Plan(), (1000, 512), 1),
        ("cifar-resnet", None, Plan(), (1000, 3, 32, 32), 1),
        ("mlp", None, Plan(precision="bfloat16"), (1000, 64), 1),
        ("mlp", None, Plan(accumulate=2), (1000, 64), 1),
        ("mlp", None, Plan(engine="compile"), (1000, 64), 1),
    ],
)
def test_which_runs_are_stacked_and_how_many(
    net: str, head: str | None, plan: Plan, shape: tuple[int, ...], want: int
) -> None:
    spec = TrainSpec.from_names_or_objects(net=net, head=head, plan=replace(plan, device="cpu"))
    assert best_number_of_stacked_runs(spec, shape, 8) == want
    best = want > 1
    assert choose_parallel_runs_and_stacking(spec, shape, 8, 30, None) == (
        want,
        best,
    ) and choose_parallel_runs_and_stacking(spec, shape, 8, 30, 4) == (4, best)
    assert (
        choose_parallel_runs_and_stacking(spec, shape, 8, 1, None)
        == choose_parallel_runs_and_stacking(spec, shape, 8, 30, 1)
        == (1, False)
    )


def test_a_nan_loss_stops_only_its_run() -> None:
    mine = [X.copy() for _ in SEEDS]

    def begin(i: int, spoils: bool) -> TrainingRun:
        def spoil(step: int, total: int, value: float | None = None) -> None:
            if spoils and (i, step) == (1, 1):
                mine[i][:] = np.nan

        return start_fit(mine[i], GOLD, net=NET, plan=replace(PLAN, seed=i), progress=spoil)

    alone = [begin(i, False).train_to_end() for i in range(3)]
    with pytest.warns(PlurivoxWarning, match="NaN in epoch 2: training stops with the weights of epoch 1"):
        stacked = train_runs_stacked([partial(begin, i, True) for i in range(3)])
    same(alone[0], stacked[0])
    same(alone[2], stacked[2])
    assert stacked[1].best_epoch == 1 and np.isfinite(stacked[1].logits(X)).all()
