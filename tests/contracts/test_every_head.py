"""Contract tests that every head in the registry must pass, including any added later."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from plurivox.core.errors import InputError, OptionError
from plurivox.train import Plan, Supervision, fit, heads, nets
from plurivox.train.heads._contract import Batch, HeadContext
from plurivox.train.loop.worker_parameter_table import WorkerTable
from plurivox.train.parallel.multi_seed_runs import train_runs_stacked
from plurivox.train.targets._contract import PaddedVotes
from toy_training import toy_data, toy_data_with_spammers
from training_runs_setup import start_fit

pytestmark = pytest.mark.training
every = pytest.mark.parametrize("name", heads.methods)
TARGETS = {"votes": "all-votes", "pair": "pair[main=majority]", "distribution": "soft"}


@every
def test_name_summary_and_spec(name: str) -> None:
    made = heads.methods.make(name)
    assert made.name() == name and made.summary() == heads.methods.summary(name) != ""
    assert heads.methods.make(made.spec) == made and all(one.help for one in made.options())


@every
def test_a_net_is_trained_with_the_head_and_predicts_without_it(name: str) -> None:
    torch.set_num_threads(1)
    x, gold, votes = toy_data()
    known = Supervision(votes=votes, soft=gold)
    plan = Plan(epochs=30, batch=16, lr=0.02, seed=1)
    twice = [
        fit(x, TARGETS[heads.methods[name].target_kind], tasks=gold.tasks, known=known, head=name, plan=plan)
        for _ in range(2)
    ]
    trained = twice[0]
    assert trained.history["loss"][-1] < trained.history["loss"][0]
    assert (trained.predict(x, gold.tasks).hard() == gold.hard()).mean() > 0.8
    np.testing.assert_array_equal(trained.logits(x), twice[1].logits(x))
    assert np.isfinite(trained.history["loss"]).all()
    if heads.methods[name].target_kind == "votes":
        assert trained.fit is not None and trained.fit.confusion is not None
        assert trained.fit.workers.tolist() == votes.workers.tolist()
        assert trained.fit.soft.tasks.tolist() == gold.tasks.tolist()
        assert trained.fit.confusion.dense().shape == (4, 3, 3)  # rows sum to one, checked by Confusion
        assert np.einsum("wkk->wk", trained.fit.confusion.dense()).min() > 0.5
        assert twice[1].fit is not None and twice[1].fit.confusion is not None
        np.testing.assert_array_equal(trained.fit.confusion.dense(), twice[1].fit.confusion.dense())
        assert heads.methods.make(trained.fit.made_by) == heads.methods.make(name)


def on_votes() -> list[str]:
    return [name for name in heads.methods if heads.methods[name].target_kind == "votes"]


VARIANTS = ["geo-crowd-net[variant=W]", "union-net[variant=A]"]  # variants with other losses than the default


@pytest.mark.slow
@pytest.mark.parametrize("name", [*on_votes(), *VARIANTS])
def test_accuracy_is_above_the_majority_vote_with_spammers(name: str) -> None:
    torch.set_num_threads(1)
    x, gold, votes = toy_data_with_spammers()
    plan = Plan(epochs=60, batch=32, lr=0.01, seed=1)
    trained = fit(x, votes, net="linear", head=name, plan=plan)
    majority = fit(x, "majority", tasks=votes.tasks, known=Supervision(votes=votes), net="linear", plan=plan)
    right = [(one.predict(x, gold.tasks).hard() == gold.hard()).mean() for one in (trained, majority)]
    assert right[0] > right[1] + 0.2
    assert trained.fit is not None and trained.fit.ability is not None
    assert trained.fit.ability[:4].min() > 0.15 + trained.fit.ability[4:].max()


@pytest.mark.parametrize("name", on_votes())
def test_a_step_updates_net_and_head_but_not_absent_workers(name: str) -> None:
    x, gold, votes = toy_data(6)
    context = HeadContext(x.shape[1:], gold.tasks, gold.labels, votes.workers, votes)
    torch.manual_seed(0)
    net = nets.methods.make("linear").build(x.shape[1:], 3)
    head = heads.methods.make(name).build(net, context)
    inputs, two = torch.tensor(x), torch.zeros(6, 2, dtype=torch.int64)
    said = PaddedVotes(two + torch.tensor([0, 2]), two, torch.tensor([1.0, 1.0]).repeat(6, 1))
    head.update_head_before_epoch(0, lambda: net(inputs))
    tables = [one for one in head.modules() if isinstance(one, WorkerTable)]
    for one in tables:  # random values, because some gradients are zero if all rows are equal
        one.table += 0.1 * torch.randn(one.table.shape)
    start = [one.table.clone() for one in tables]
    loss = head(net(inputs), Batch(inputs, torch.arange(6), said))
    assert loss.shape == (6,) and loss.isfinite().all()
    loss.mean().backward()
    weights = [*net.parameters(), *(one for one in head.parameters() if one.requires_grad)]
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in weights)
    for table, before in zip(tables, start, strict=True):
        assert table.touched.tolist() == [True, False, True, False] and table.grad[[0, 2]].abs().sum() > 0
        table.step(Plan(), 1e-3)
        assert torch.equal(table.table[[1, 3]], before[[1, 3]]) and not torch.equal(table.table, before)


@pytest.mark.parametrize("name", on_votes())
def test_an_interrupted_training_is_resumed_with_the_same_result(name: str, tmp_path: Path) -> None:
    x, _, votes = toy_data()

    def stop(step: int, total: int, value: float | None) -> None:
        if step == 2:
            raise KeyboardInterrupt

    plan = Plan(epochs=6, batch=16, lr=0.02)
    whole = fit(x, votes, head=name, plan=plan)
    with pytest.raises(KeyboardInterrupt):
        fit(x, votes, head=name, plan=plan, folder=tmp_path, save_seconds=0, progress=stop)
    again = fit(x, votes, head=name, plan=plan, folder=tmp_path)
    np.testing.assert_array_equal(whole.logits(x), again.logits(x))
    assert whole.fit is not None and again.fit is not None and whole.fit.confusion and again.fit.confusion
    np.testing.assert_array_equal(whole.fit.confusion.dense(), again.fit.confusion.dense())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("name", on_votes())
def test_a_cuda_graph_step_gives_the_same_as_an_eager_step_and_a_cpu(name: str, optimizer: str) -> None:
    x, _, votes = toy_data(200)
    plan = Plan(epochs=6, batch=16, lr=0.02, optimizer=optimizer, device="cuda")  # type: ignore[arg-type]
    fastest = "graphs" if heads.methods[name].capturable else "auto"
    ways = [replace(plan, engine=one) for one in (fastest, fastest, "eager")] + [replace(plan, device="cpu")]
    found = [fit(x, votes, net="linear", head=name, plan=one).logits(x) for one in ways]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], found[2], atol=1e-3)
    assert np.abs(found[0] - found[3]).mean() < 0.5  # initial weights differ on a CPU


def inputs_and_target(name: str) -> tuple[np.ndarray, dict[str, Any]]:
    """Return inputs, and the target and head as arguments of fit."""
    x, gold, votes = toy_data()
    known = Supervision(votes=votes, soft=gold)
    return x, {"target": TARGETS[heads.methods[name].target_kind], "tasks": gold.tasks, "known": known, "head": name}


@every
def test_heads_that_are_not_capturable_run_eagerly_or_raise_an_error(name: str) -> None:
    capturable, (x, what) = heads.methods[name].capturable, inputs_and_target(name)
    message = (
        "engine=graphs needs CUDA"
        if capturable
        else f"the head {name} cannot be recorded as a CUDA graph; use engine=auto"
    )
    with pytest.raises(OptionError, match=message):
        fit(x, plan=Plan(engine="graphs", device="cpu"), **what)
    trainer = start_fit(x, plan=Plan(epochs=1, device="cpu"), **what).trainer
    assert trainer.plan.engine == ("auto" if capturable else "eager")


@every
def test_logits_recorded_in_steps_are_those_of_tasks_or_raise_an_error(name: str) -> None:
    x, what = inputs_and_target(name)
    how = {"net": "linear", "plan": Plan(epochs=1, batch=len(x), lr=0.0, device="cpu"), **what}
    trainer = start_fit(x, **how).trainer
    assert trainer.head is not None
    if trainer.head.changes_inputs:
        with pytest.raises(OptionError, match=f"{name} trains on mixtures"):
            fit(x, record=True, **how)
        return
    trained = fit(x, record=True, **how)
    assert trained.dynamics is not None
    np.testing.assert_allclose(trained.dynamics.logits[0], trained.logits(x), atol=1e-5)


@pytest.mark.parametrize("name", [name for name in heads.methods if heads.methods[name].can_stack])
def test_stacked_runs_give_the_same_as_separate_runs(name: str) -> None:
    x, what = inputs_and_target(name)
    plans = [Plan(epochs=3, batch=16, lr=0.02, seed=seed, device="cpu") for seed in (1, 2)]
    alone = [fit(x, plan=plan, **what).logits(x) for plan in plans]
    stacked = train_runs_stacked([partial(start_fit, x, plan=plan, **what) for plan in plans])
    np.testing.assert_allclose([one.logits(x) for one in stacked], alone, atol=2e-4)


@pytest.mark.parametrize("name", on_votes())
def test_missing_votes_raise_an_error(name: str) -> None:
    x, gold, _ = toy_data(6)
    context = HeadContext(x.shape[1:], gold.tasks, gold.labels, np.empty(0, np.int64), None)
    with pytest.raises(InputError, match=f"the head {name} is trained on votes"):
        heads.methods.make(name).build(torch.nn.Linear(1, 1), context)


@pytest.mark.parametrize("name", on_votes())
def test_votes_without_workers_raise_an_error(name: str) -> None:
    x, _, votes = toy_data(6)
    worker = np.where(np.arange(len(votes)) % 3, votes.worker, -1)
    with pytest.raises(InputError, match="needs worker names; these votes contain counts without names"):
        fit(x, replace(votes, worker=worker), head=name, plan=Plan(epochs=1))
