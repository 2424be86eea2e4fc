"""Steps recorded as CUDA graphs; most tests need CUDA, one also runs with a stand-in for the graph."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from plurivox.train import Plan, Supervision, fit
from plurivox.train.data.image_augmentation import augmentation
from plurivox.train.loop.cuda_graph import WARM_STEPS, GraphStep
from toy_training import toy_data

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
X, GOLD, VOTES = toy_data(200)
PLAN = Plan(epochs=6, batch=16, lr=0.02, device="cuda")


@needs_cuda
@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
@pytest.mark.parametrize("schedule", ["constant", "one-cycle"])
def test_a_recorded_step_gives_the_same_net_as_an_eager_one(optimizer: str, schedule: str) -> None:
    plan = replace(PLAN, optimizer=optimizer, schedule=schedule, clip=1.0)
    plain, recorded = (fit(X, GOLD, net="mlp[hidden=8]", plan=replace(plan, engine=e)) for e in ("eager", "graphs"))
    np.testing.assert_allclose(plain.logits(X), recorded.logits(X), atol=1e-3)
    np.testing.assert_allclose(plain.history["loss"], recorded.history["loss"], rtol=1e-3)


recording: "list[GraphStandIn]" = []  # the stand-in that is being recorded, if any


class GraphStandIn:
    """Behaves like a CUDA graph on the CPU: a replay runs the recorded work with the random state of the recording, unless
    the generator was registered.
    """

    rng: torch.Generator
    state: torch.Tensor
    work: Callable[[], None]

    def __init__(self) -> None:
        self.registered: list[torch.Generator] = []

    def register_generator_state(self, rng: torch.Generator) -> None:
        self.registered.append(rng)

    def replay(self) -> None:
        if self.rng not in self.registered:
            self.rng.set_state(self.state)
        self.work()


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=needs_cuda)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a device on which steps can be recorded: CUDA, or the CPU with stand-ins for graphs and streams."""
    if request.param == "cpu":

        @contextmanager
        def record(graph: GraphStandIn, stream: Any) -> Iterator[None]:
            recording.append(graph)
            yield
            recording.clear()

        stream = SimpleNamespace(wait_stream=lambda other: None)
        for name, stand_in in {
            "CUDAGraph": GraphStandIn,
            "graph": record,
            "Stream": lambda device: stream,
            "current_stream": lambda device: stream,
            "stream": nullcontext,
        }.items():
            monkeypatch.setattr(torch.cuda, name, stand_in)
    return str(request.param)


def test_every_replay_has_new_draws_and_its_own_examples(device: str) -> None:
    rng = torch.Generator(device).manual_seed(0)
    drawn, dropped, read = (torch.zeros(64, device=device) for _ in range(3))
    seen: list[list[list[float]]] = []

    def update(indices: torch.Tensor) -> None:
        if recording:  # as on CUDA: nothing runs while it is recorded
            recording[0].rng, recording[0].state, recording[0].work = rng, rng.get_state(), lambda: update(indices)
            return
        drawn.copy_(torch.rand(64, device=device, generator=rng))
        dropped.copy_(torch.nn.functional.dropout(torch.ones(64, device=device)))
        read.copy_(indices.float())

    optimizer: Any = SimpleNamespace(zero_grad=lambda: None)
    step = GraphStep(update, update, optimizer, Plan(batch=64, engine="graphs"), rng)
    for first in range(WARM_STEPS + 4):
        step(torch.arange(first, first + 64, device=device))
        seen.append([one.tolist() for one in (drawn, dropped, read)])
    assert step.graph is not None and not step.failed
    for at in range(2):
        assert len({tuple(one[at]) for one in seen}) == len(seen)
    assert [one[2][0] for one in seen] == list(range(len(seen)))


@needs_cuda
def test_nets_with_draws_dropout_and_augmentation_learn_in_replays() -> None:
    plan = replace(PLAN, engine="graphs")
    known = Supervision(votes=VOTES)
    trained = fit(X, "de-aggregated", tasks=GOLD.tasks, known=known, net="mlp[hidden=16,dropout=0.3]", plan=plan)
    assert (trained.predict(X, GOLD.tasks).hard() == GOLD.hard()).mean() > 0.8
    pixels = np.random.default_rng(0).random((200, 3, 8, 8)).astype(np.float32)
    net = "cifar-resnet[n=1,width=4]"
    images = fit(pixels, GOLD, net=net, plan=plan, augment=augmentation("crop-flip"))
    assert np.isfinite(images.logits(pixels)).all()


@needs_cuda
def test_two_heads_recorded_logits_and_bfloat16() -> None:
    known = Supervision(votes=VOTES, gold=GOLD, soft=GOLD)
    plan = replace(PLAN, engine="graphs", precision="bfloat16")
    trained = fit(X, "pair", tasks=GOLD.tasks, known=known, head="two-heads", plan=plan, record=True)
    assert trained.dynamics is not None and trained.dynamics.mask_tasks_with_finite_logits().all()
    assert trained.history["loss"][-1] < trained.history["loss"][0]


@needs_cuda
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
