"""Trainer: its events, single steps, restored states and recorded logits."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from plurivox.train import Plan, Supervision
from plurivox.train.loop.trainer import EpochDone, StepDone, Trainer
from plurivox.train.parallel.stacked_trainers import StackedTrainers
from toy_training import toy_data
from training_runs_setup import start_fit

X, GOLD, VOTES = toy_data(40)
PLAN = Plan(epochs=2, batch=16, lr=0.05, device="cpu", schedule="one-cycle")
WAYS: list[dict[str, Any]] = [
    {"target": "de-aggregated"},
    {"target": "all-votes", "head": "crowd-layer", "weight": np.linspace(0.1, 1, 40)},
]


def trainer(seed: int = 0, **how: Any) -> Trainer:
    plan = Plan(**{one.name: getattr(PLAN, one.name) for one in PLAN.options()} | {"seed": seed})
    how = {
        "tasks": GOLD.tasks,
        "known": Supervision(VOTES, GOLD),
        "net": "mlp[hidden=6,dropout=0.3]",
        "plan": plan,
        **how,
    }
    return start_fit(X, how.pop("target", "gold"), **how).trainer


def same(one: dict[str, Tensor], two: dict[str, Tensor]) -> bool:
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("how", WAYS)
def test_events_of_epochs_and_of_steps(how: dict[str, Any]) -> None:
    whole, stepwise = trainer(**how), trainer(**how)
    epochs, events = list(whole.train_and_yield_events()), list(stepwise.train_and_yield_events(yield_steps=True))
    assert [type(one) for one in events] == [StepDone, StepDone, StepDone, EpochDone] * 2
    assert [(one.epoch, one.step) for one in events if isinstance(one, StepDone)] == [
        (epoch, step) for epoch in range(2) for step in range(3)
    ]
    done = [one for one in events if isinstance(one, EpochDone)]
    assert all(isinstance(one, EpochDone) and one.finite and one.logits is None for one in epochs)
    assert [(one.epoch, one.loss, one.lr) for one in done] == [(one.epoch, one.loss, one.lr) for one in epochs]  # type: ignore[union-attr]
    assert same(whole.training_state_tensors_by_name(), stepwise.training_state_tensors_by_name()) and whole.epoch == 2


@pytest.mark.parametrize("how", WAYS)
def test_steps_taken_by_hand_are_those_of_run(how: dict[str, Any]) -> None:
    by_run, by_hand = trainer(**how), trainer(**how)
    first = next(by_run.train_and_yield_events())
    with by_hand.rng.training_rng_as_global_rng_context():
        for step, indices in enumerate(by_hand.begin_epoch_and_shuffle_batch_indices()):
            by_hand.take_training_step(step, indices)
    done = by_hand.advance_epoch_and_make_event(by_hand.total)
    assert isinstance(first, EpochDone) and (done.loss, done.lr) == (first.loss, first.lr)
    assert same(by_run.training_state_tensors_by_name(), by_hand.training_state_tensors_by_name())


def test_a_restored_trainer_takes_the_same_steps() -> None:
    one, two = trainer(), trainer(seed=7)
    events = one.train_and_yield_events()
    next(events)
    two.load_training_state(
        {name: value.clone() for name, value in one.training_state_tensors_by_name().items()}, one.epoch
    )
    assert [event.loss for event in events if isinstance(event, EpochDone)] == [
        event.loss for event in two.train_and_yield_events() if isinstance(event, EpochDone)
    ]
    assert same(one.training_state_tensors_by_name(), two.training_state_tensors_by_name())


def test_a_stack_shares_weights_and_optimizer_state_with_its_trainers() -> None:
    trainers = [trainer(seed) for seed in (1, 2)]
    stack = StackedTrainers(trainers)
    done = stack.train_one_epoch_return_event_per_run()
    assert [one.epoch for one in done] == [0, 0] and [one.epoch for one in trainers] == [1, 1]
    for run, one in enumerate(trainers):
        for mine, whole in zip(
            one.optimizer.optimizer_state_per_parameter(), stack.optimizer.optimizer_state_per_parameter(), strict=True
        ):
            assert mine["exp_avg"].data_ptr() == whole["exp_avg"][run].data_ptr()
        assert all(
            p.data_ptr() == q[run].data_ptr() for p, q in zip(one.optimizer.params, stack.optimizer.params, strict=True)
        )
    again = StackedTrainers(trainers)  # a new stack starts with copies of the same state
    for mine, old in zip(
        again.optimizer.optimizer_state_per_parameter(), stack.optimizer.optimizer_state_per_parameter(), strict=True
    ):
        assert torch.equal(mine["exp_avg"], old["exp_avg"]) and mine["exp_avg"].any()


def test_recorded_logits_are_in_the_event() -> None:
    one = trainer(plan=Plan(epochs=1, batch=40, lr=0.0, device="cpu"), net="linear")
    one.start_recording_logits(3)
    (done,) = one.train_and_yield_events()
    assert isinstance(done, EpochDone) and done.logits is not None
    torch.testing.assert_close(done.logits, one.net(one.x).detach())
