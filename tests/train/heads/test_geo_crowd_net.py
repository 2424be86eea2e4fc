"""Head `geo-crowd-net`: the published formulas F and W, their gradients, and a batch of one task."""

from typing import Literal

import numpy as np
import pytest
import torch

from head_modules import N_LABELS, N_TASKS, N_WORKERS, attached, numbers, softmax, votes_in
from plurivox.train.heads import GeoCrowdNet
from plurivox.train.heads._contract import Batch
from plurivox.train.targets._contract import PaddedVotes

every = pytest.mark.parametrize("variant", ["F", "W"])


@every
def test_the_loss_is_the_published_one(variant: Literal["F", "W"]) -> None:
    head, logits, batch = attached(GeoCrowdNet(variant=variant, scale=0.25))
    matrices = softmax(numbers(head.own.table).reshape(N_WORKERS, N_LABELS, N_LABELS))  # type: ignore[union-attr, arg-type]
    f, want = softmax(numbers(logits)), 0.0
    for i, j, said in votes_in(batch):
        want -= np.log(f[i] @ matrices[j, :, said]) / (N_TASKS * N_WORKERS)
    stacked = np.concatenate([one.T for one in matrices])  # (workers x labels, true label), the matrix W of the paper
    square = f.T @ f if variant == "F" else stacked.T @ stacked
    volume = np.log(np.linalg.det(square))
    assert head(logits, batch).mean().item() == pytest.approx(want - 0.25 * volume, rel=1e-4)  # the batch has all votes


@every
def test_the_volume_grows_and_its_gradient_is_that_of_the_formula(variant: Literal["F", "W"]) -> None:
    head, logits, batch = attached(GeoCrowdNet(variant=variant, scale=0.25))
    head(logits, batch).mean().backward()
    plain, same, _ = attached(GeoCrowdNet(variant=variant, scale=0))
    plain(same, batch).mean().backward()
    assert logits.grad is not None and same.grad is not None
    if variant == "W":  # the volume of W depends on the matrices only, so it gives the net no gradient
        torch.testing.assert_close(logits.grad, same.grad)
        return
    f = logits.detach().double().softmax(1)
    by_f = -0.25 * 2 * f @ torch.linalg.inv(f.T @ f)
    by_logits = f * (by_f - (f * by_f).sum(1, keepdim=True))
    torch.testing.assert_close((logits.grad - same.grad).double(), by_logits, atol=1e-4, rtol=1e-3)


@every
def test_a_batch_of_one_task_has_a_finite_loss(variant: Literal["F", "W"]) -> None:
    head, logits, batch = attached(GeoCrowdNet(variant=variant))
    assert isinstance(batch.labels, PaddedVotes)
    labels = batch.labels
    one = Batch(batch.x[:1], batch.rows[:1], PaddedVotes(labels.worker[:1], labels.label[:1], labels.weight[:1]))
    loss = head((1e3 * logits[:1]), one)  # the net is certain of one label
    loss.mean().backward()
    assert loss.isfinite().all() and logits.grad is not None and logits.grad.isfinite().all()
    assert head.own.grad.isfinite().all()  # type: ignore[union-attr, operator]
