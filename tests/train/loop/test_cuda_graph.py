"""Steps recorded as CUDA graphs; needs CUDA."""

import gc
from dataclasses import replace

import numpy as np
import pytest
import torch

from plurivox.train import Plan, Supervision, fit
from plurivox.train.data.image_augmentation import augmentation
from toy_training import toy_data

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
X, GOLD, VOTES = toy_data(200)
PLAN = Plan(epochs=6, batch=16, lr=0.02, device="cuda")


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
@pytest.mark.parametrize("schedule", ["constant", "one-cycle"])
def test_a_recorded_step_gives_the_same_net_as_an_eager_one(optimizer: str, schedule: str) -> None:
    plan = replace(PLAN, optimizer=optimizer, schedule=schedule, clip=1.0)
    plain, recorded = (fit(X, GOLD, net="mlp[hidden=8]", plan=replace(plan, engine=e)) for e in ("eager", "graphs"))
    np.testing.assert_allclose(plain.logits(X), recorded.logits(X), atol=1e-3)
    np.testing.assert_allclose(plain.history["loss"], recorded.history["loss"], rtol=1e-3)


def test_draws_dropout_and_augmentation_are_new_at_every_replay() -> None:
    plan = replace(PLAN, engine="graphs")
    known = Supervision(votes=VOTES)
    trained = fit(X, "de-aggregated", tasks=GOLD.tasks, known=known, net="mlp[hidden=16,dropout=0.3]", plan=plan)
    assert (trained.predict(X, GOLD.tasks).hard() == GOLD.hard()).mean() > 0.8
    pixels = np.random.default_rng(0).random((200, 3, 8, 8)).astype(np.float32)
    net = "cifar-resnet[n=1,width=4]"
    images = fit(pixels, GOLD, net=net, plan=plan, augment=augmentation("crop-flip"))
    assert np.isfinite(images.logits(pixels)).all()


def test_two_heads_recorded_logits_and_bfloat16() -> None:
    known = Supervision(votes=VOTES, gold=GOLD, soft=GOLD)
    plan = replace(PLAN, engine="graphs", precision="bfloat16")
    trained = fit(X, "pair", tasks=GOLD.tasks, known=known, head="two-heads", plan=plan, record=True)
    assert trained.dynamics is not None and trained.dynamics.mask_tasks_with_finite_logits().all()
    assert trained.history["loss"][-1] < trained.history["loss"][0]


def test_no_graph_of_an_earlier_training_is_freed_while_one_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward_with_collection(module: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
        if torch.cuda.is_current_stream_capturing() and gc.isenabled():  # can happen in any recording
            gc.collect()
        return torch.nn.functional.linear(x, module.weight, module.bias)

    monkeypatch.setattr(torch.nn.Linear, "forward", forward_with_collection)
    thresholds = gc.get_threshold()
    gc.set_threshold(0)  # no other collection, so that the graph of the first training still exists in the second
    try:
        first, second = (fit(X, GOLD, net="linear", plan=replace(PLAN, engine="graphs")) for _ in range(2))
    finally:
        gc.set_threshold(*thresholds)
    np.testing.assert_array_equal(first.logits(X), second.logits(X))
    assert gc.isenabled()
