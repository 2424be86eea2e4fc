"""What every head promises, those not yet written included."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from net_fits import start_fit
from plurivox.core.errors import InputError, OptionError
from plurivox.train import Plan, Supervision, fit, heads, nets
from plurivox.train.heads._contract import Batch, HeadContext
from plurivox.train.loop.worker_table import WorkerTable
from plurivox.train.parallel.runs import run_stacked
from plurivox.train.targets._contract import PaddedVotes
from toy_training import spam, world

pytestmark = pytest.mark.training
every = pytest.mark.parametrize("name", heads.methods)
PLAIN = {"votes": "all-votes", "pair": "pair[main=majority]", "distribution": "soft"}


@every
def test_it_says_what_it_is(name: str) -> None:
    made = heads.methods.make(name)
    assert made.name() == name and made.summary() == heads.methods.summary(name) != ""
    assert heads.methods.make(made.spec) == made and all(one.help for one in made.options())


@every
def test_a_net_learns_under_it_and_predicts_without_it(name: str) -> None:
    torch.set_num_threads(1)
    x, gold, votes = world()
    known = Supervision(votes=votes, soft=gold)
    plan = Plan(epochs=30, batch=16, lr=0.02, seed=1)
    twice = [
        fit(x, PLAIN[heads.methods[name].wants], tasks=gold.tasks, known=known, head=name, plan=plan) for _ in range(2)
    ]
    trained = twice[0]
    assert trained.history["loss"][-1] < trained.history["loss"][0]
    assert (trained.predict(x, gold.tasks).hard() == gold.hard()).mean() > 0.8
    np.testing.assert_array_equal(trained.logits(x), twice[1].logits(x))
    assert np.isfinite(trained.history["loss"]).all()
    if heads.methods[name].wants == "votes":
        assert trained.fit is not None and trained.fit.confusion is not None
        assert trained.fit.workers.tolist() == votes.workers.tolist()
        assert trained.fit.soft.tasks.tolist() == gold.tasks.tolist()
        assert trained.fit.confusion.dense().shape == (4, 3, 3)  # its rows sum to one, else it would not be
        assert np.einsum("wkk->wk", trained.fit.confusion.dense()).min() > 0.5
        assert twice[1].fit is not None and twice[1].fit.confusion is not None
        np.testing.assert_array_equal(trained.fit.confusion.dense(), twice[1].fit.confusion.dense())
        assert heads.methods.make(trained.fit.made_by) == heads.methods.make(name)


def on_votes() -> list[str]:
    return [name for name in heads.methods if heads.methods[name].wants == "votes"]


VARIANTS = ["geo-crowd-net[variant=W]", "union-net[variant=A]"]  # which say something else than the head itself


@pytest.mark.slow
@pytest.mark.parametrize("name", [*on_votes(), *VARIANTS])
def test_it_sees_through_spammers_where_the_majority_does_not(name: str) -> None:
    torch.set_num_threads(1)
    x, gold, votes = spam()
    plan = Plan(epochs=60, batch=32, lr=0.01, seed=1)
    trained = fit(x, votes, net="linear", head=name, plan=plan)
    majority = fit(x, "majority", tasks=votes.tasks, known=Supervision(votes=votes), net="linear", plan=plan)
    right = [(one.predict(x, gold.tasks).hard() == gold.hard()).mean() for one in (trained, majority)]
    assert right[0] > right[1] + 0.2
    assert trained.fit is not None and trained.fit.ability is not None
    assert trained.fit.ability[:4].min() > 0.15 + trained.fit.ability[4:].max()


@pytest.mark.parametrize("name", on_votes())
def test_a_step_reaches_net_and_head_and_leaves_absent_workers_alone(name: str) -> None:
    x, gold, votes = world(6)
    context = HeadContext(x.shape[1:], gold.tasks, gold.labels, votes.workers, votes)
    torch.manual_seed(0)
    net = nets.methods.make("linear").build(x.shape[1:], 3)
    head = heads.methods.make(name).build(net, context)
    inputs, two = torch.tensor(x), torch.zeros(6, 2, dtype=torch.int64)
    said = PaddedVotes(two + torch.tensor([0, 2]), two, torch.tensor([1.0, 1.0]).repeat(6, 1))
    head.before_epoch(0, lambda: net(inputs))
    tables = [one for one in head.modules() if isinstance(one, WorkerTable)]
    for one in tables:  # where all are alike there may be nothing to learn of some weights
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
def test_a_training_that_was_stopped_goes_on_as_if_it_had_not(name: str, tmp_path: Path) -> None:
    x, _, votes = world()

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
def test_a_recorded_step_learns_what_a_plain_one_and_a_cpu_do(name: str, optimizer: str) -> None:
    x, _, votes = world(200)
    plan = Plan(epochs=6, batch=16, lr=0.02, optimizer=optimizer, device="cuda")  # type: ignore[arg-type]
    fastest = "graphs" if heads.methods[name].records else "auto"
    ways = [replace(plan, engine=one) for one in (fastest, fastest, "eager")] + [replace(plan, device="cpu")]
    found = [fit(x, votes, net="linear", head=name, plan=one).logits(x) for one in ways]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], found[2], atol=1e-3)
    assert np.abs(found[0] - found[3]).mean() < 0.5  # a CPU begins elsewhere


def inputs_and_target(name: str) -> tuple[np.ndarray, dict[str, Any]]:
    """Inputs, and what a head learns from."""
    x, gold, votes = world()
    known = Supervision(votes=votes, soft=gold)
    return x, {"target": PLAIN[heads.methods[name].wants], "tasks": gold.tasks, "known": known, "head": name}


@every
def test_what_cannot_be_recorded_as_a_graph_runs_plain_and_says_so(name: str) -> None:
    records, (x, what) = heads.methods[name].records, inputs_and_target(name)
    refusal = (
        "engine=graphs needs CUDA" if records else f"under {name} is not recorded as a CUDA graph; take engine=auto"
    )
    with pytest.raises(OptionError, match=refusal):
        fit(x, plan=Plan(engine="graphs", device="cpu"), **what)
    begun = start_fit(x, plan=Plan(epochs=1, device="cpu"), **what).trainer
    assert begun.plan.engine == ("auto" if records else "eager")


@every
def test_logits_at_the_visit_are_those_of_tasks_or_are_refused(name: str) -> None:
    x, what = inputs_and_target(name)
    how = {"net": "linear", "plan": Plan(epochs=1, batch=len(x), lr=0.0, device="cpu"), **what}
    begun = start_fit(x, **how).trainer
    assert begun.head is not None
    if begun.head.changes_inputs:
        with pytest.raises(OptionError, match=f"{name} shows the net mixtures"):
            fit(x, record=True, **how)
        return
    trained = fit(x, record=True, **how)
    assert trained.dynamics is not None
    np.testing.assert_allclose(trained.dynamics.logits[0], trained.logits(x), atol=1e-5)


@pytest.mark.parametrize("name", [name for name in heads.methods if heads.methods[name].stacks])
def test_where_it_stacks_every_run_is_what_it_is_alone(name: str) -> None:
    x, what = inputs_and_target(name)
    plans = [Plan(epochs=3, batch=16, lr=0.02, seed=seed, device="cpu") for seed in (1, 2)]
    alone = [fit(x, plan=plan, **what).logits(x) for plan in plans]
    stacked = run_stacked([partial(start_fit, x, plan=plan, **what) for plan in plans])
    np.testing.assert_allclose([one.logits(x) for one in stacked], alone, atol=2e-4)


@pytest.mark.parametrize("name", on_votes())
def test_without_votes_it_says_so(name: str) -> None:
    x, gold, _ = world(6)
    context = HeadContext(x.shape[1:], gold.tasks, gold.labels, np.empty(0, np.int64), None)
    with pytest.raises(InputError, match=f"the head {name} learns from votes"):
        heads.methods.make(name).build(torch.nn.Linear(1, 1), context)


@pytest.mark.parametrize("name", on_votes())
def test_votes_without_names_are_refused(name: str) -> None:
    x, _, votes = world(6)
    worker = np.where(np.arange(len(votes)) % 3, votes.worker, -1)
    with pytest.raises(InputError, match="needs worker names; these votes contain counts without names"):
        fit(x, replace(votes, worker=worker), head=name, plan=Plan(epochs=1))
