"""Runs stacked to one net: what one after another gives, but for rounding."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from plurivox.core.watch import Watch, quiet
from plurivox.train import Known, Plan, Trained, heads, nets
from plurivox.train.fitting import fitting
from plurivox.train.loop import Pause
from plurivox.train.runs import repeat
from plurivox.train.stack import runs_at_once
from plurivox.train.together import Fitting, finish, finish_stacked
from taught import world

X, GOLD, VOTES = world()
KNOWN = Known(VOTES, GOLD, GOLD)
DEV = X[:9] + 0.1, GOLD.on(GOLD.tasks[:9])
NET = "mlp[hidden=[8,6],dropout=0.3]"
PLAN = Plan(epochs=4, batch=16, lr=0.05, device="cpu")
SEEDS = (3, 4, 5)


def train_one(seed: int, folder: Path | None, watch: Watch, pause: Pause = "stack", **how: Any) -> Fitting:
    how = {"target": "soft", "net": NET, "plan": PLAN, "dev": DEV} | how
    plan = replace(how.pop("plan"), seed=seed)
    how |= {"tasks": GOLD.tasks, "known": KNOWN, "plan": plan, "folder": folder, "watch": watch, "save_seconds": 0}
    return fitting(X, how.pop("target"), pause=pause, **how)


def both_ways(**how: Any) -> list[tuple[Trained, Trained]]:
    """(alone, stacked) for every seed."""
    alone = [finish(train_one(seed, None, quiet, "epoch", **how)) for seed in SEEDS]
    return list(zip(alone, finish_stacked([partial(train_one, s, None, quiet, **how) for s in SEEDS]), strict=True))


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
        {"net": "labelme-head[hidden=8,activation=leaky-relu]", "target": "one-answer", "plan": STAGES},
        {"net": "mlp[hidden=8,activation=gelu]", "loss": "jensen-shannon", "plan": replace(PLAN, schedule="one-cycle")},
        {"target": "every-vote", "weight": np.linspace(0, 1, len(X)), "plan": replace(PLAN, best="loss")},
        {"target": "pair[soft=one-answer]", "head": "two-heads", "plan": replace(PLAN, clip=0.5)},
        {"target": "all-votes", "head": "crowd-layer", "plan": replace(PLAN, clip=0.5)},
        {"target": "all-votes", "head": "crowd-layer[variant=VW+B,on=logits]", "plan": SGD},
        {"target": "majority", "record": True, "dev": None},
    ],
    ids=lambda how: "-".join(str(how.get(name, "")) for name in ("net", "target", "head")),
)
def test_every_run_is_what_it_is_alone(how: dict[str, Any]) -> None:
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
    assert len(set(told)) == len(SEEDS)  # every seed is a run of its own
