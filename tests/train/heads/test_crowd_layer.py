"""Head `crowd-layer`: the published formula, its variants, the rows updated in a step, accuracy above majority vote."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from plurivox.train import Plan, Supervision, fit
from plurivox.train.heads import CrowdLayer
from plurivox.train.heads._contract import Batch, HeadContext, HeadModule
from plurivox.train.loop.worker_parameter_table import WorkerTable
from plurivox.train.targets._contract import PaddedVotes
from toy_training import toy_data, toy_data_with_spammers

VARIANTS = ("MW", "VW", "VB", "VW+B", "SW")
every = pytest.mark.parametrize("variant", VARIANTS)


def attached(**options: str) -> tuple[HeadModule, Tensor, Batch]:
    """Return a head with random parameters, logits of five tasks, and their votes; the last column is padding."""
    _, gold, votes = toy_data(5)
    head = CrowdLayer(**options).build(
        nn.Linear(1, 1), HeadContext((4,), gold.tasks, gold.labels, votes.workers, votes)
    )  # type: ignore[arg-type]
    rng = torch.Generator().manual_seed(1)
    head.rows.table.add_(torch.randn(head.rows.table.shape, generator=rng))  # type: ignore[union-attr, arg-type, operator]
    worker, label = (torch.randint(0, n, (5, 4), generator=rng) for n in (3, 3))
    weight = torch.tensor([1.0, 1.0, 0.5, 0.0]).repeat(5, 1)
    logits = torch.randn(5, 3, generator=rng).requires_grad_()
    return head, logits, Batch(torch.zeros(5, 4), torch.arange(5), PaddedVotes(worker, label, weight))


@every
@pytest.mark.parametrize("on", ["probabilities", "logits"])
def test_the_loss_and_its_gradients_equal_the_published_formula(variant: str, on: str) -> None:
    head, logits, batch = attached(variant=variant, on=on)
    said, rows = batch.labels, head.rows
    assert isinstance(said, PaddedVotes) and isinstance(rows, WorkerTable)
    table = rows.table.detach().clone().requires_grad_()
    f = logits.softmax(1) if on == "probabilities" else logits
    want = torch.zeros(5)
    for i in range(5):
        for j in range(4):
            row = table[said.worker[i, j]]
            score = {
                "MW": lambda r=row, i=i: f[i] @ r.view(-1, 3),
                "VW": lambda r=row, i=i: f[i] * r,
                "VB": lambda r=row, i=i: f[i] + r,
                "VW+B": lambda r=row, i=i: f[i] * r[:3] + r[3:],
                "SW": lambda r=row, i=i: f[i] * r,
            }[variant]()
            want[i] = want[i] - said.weight[i, j] * score.log_softmax(0)[said.label[i, j]] / 4  # four votes per task
    weights = torch.tensor([1.0, 2, 0, 1, 3])
    want_back, want_rows = torch.autograd.grad((weights * want).sum(), [logits, table], retain_graph=True)
    for way in (head, lambda logits, batch: head.losses_by_torch(logits, batch.labels)):  # type: ignore[union-attr, operator]
        rows.clear_gradient_and_batch_workers()
        got = way(logits, batch)
        torch.testing.assert_close(got, want)
        logits.grad = None
        (weights * got).sum().backward(retain_graph=True)
        torch.testing.assert_close(logits.grad, want_back)
        torch.testing.assert_close(rows.grad, want_rows, atol=1e-6, rtol=1e-4)
        assert rows.touched.tolist() == [n in said.worker[:, :3] for n in range(4)]


@every
def test_on_logits_the_initial_loss_is_the_plain_cross_entropy(variant: str) -> None:
    _, gold, votes = toy_data(5)
    context = HeadContext((4,), gold.tasks, gold.labels, votes.workers, votes)
    head = CrowdLayer(variant=variant, on="logits").build(nn.Linear(1, 1), context)  # type: ignore[arg-type]
    logits, label = torch.randn(5, 3), torch.tensor([[0], [2], [1], [1], [0]])
    said = PaddedVotes(torch.zeros(5, 1, dtype=torch.int64), label, torch.ones(5, 1))
    got = 4 * head(logits, Batch(logits, torch.arange(5), said))  # four votes per task
    torch.testing.assert_close(got, nn.functional.cross_entropy(logits, label[:, 0], reduction="none"))


@pytest.mark.parametrize("capturable", [False, True])
@pytest.mark.parametrize(
    "plan", [Plan(optimizer="adam"), Plan(optimizer="adamw"), Plan(optimizer="sgd", nesterov=True)]
)
def test_rows_in_the_batch_are_updated_as_by_torch_and_others_do_not_change(
    plan: Plan, capturable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerTable, "are_updates_graph_capturable", capturable)
    plan = replace(plan, lr=0.1, weight_decay=0.05)
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    start = torch.randn(4, 3)
    rows, table = WorkerTable(start), nn.Parameter(start[:3].clone())
    more = {"momentum": 0.9, "nesterov": True} if plan.optimizer == "sgd" else {}
    other = kinds[plan.optimizer]([table], lr=0.1, weight_decay=0.05, **more)
    goal, who = torch.randn(4, 3), torch.tensor([0, 1, 2, 1, 3])
    for _ in range(5):
        weight = torch.tensor([1.0, 1, 1, 1, 0])
        (weight[:, None] * (rows.take_rows_ignoring_padding_gradient(who, weight) - goal[who]) ** 2).sum().backward()
        rows.step(plan, 0.1)
        other.zero_grad()
        ((table[who[:4]] - goal[who[:4]]) ** 2).sum().backward()
        other.step()
    torch.testing.assert_close(rows.table[:3], table.detach(), atol=1e-5, rtol=1e-4)
    assert torch.equal(rows.table[3], start[3]) and rows.steps.tolist() == [5, 5, 5, 0]


# without VW and SW, which only scale each label and cannot model spammers who prefer one label
@pytest.mark.parametrize("variant", ["MW", "VB", "VW+B"])
def test_accuracy_is_above_the_majority_vote_with_spammers_in_each_variant(variant: str) -> None:
    x, gold, votes = toy_data_with_spammers()
    plan = Plan(epochs=60, batch=32, lr=0.01)
    trained = fit(x, votes, net="linear", head=f"crowd-layer[variant={variant}]", plan=plan)
    majority = fit(x, "majority", tasks=votes.tasks, known=Supervision(votes=votes), net="linear", plan=plan)
    right = [(one.predict(x, gold.tasks).hard() == gold.hard()).mean() for one in (trained, majority)]
    assert right[0] > right[1] + 0.2


def test_clipping_and_gradient_accumulation_include_the_rows() -> None:
    x, _, votes = toy_data()
    one, parts = (
        fit(x, votes, net="linear", head="crowd-layer", plan=Plan(epochs=3, batch=30, clip=0.1, accumulate=n))
        for n in (1, 3)
    )
    assert one.fit is not None and parts.fit is not None and one.fit.confusion and parts.fit.confusion
    np.testing.assert_allclose(one.fit.confusion.dense(), parts.fit.confusion.dense(), atol=1e-4)
