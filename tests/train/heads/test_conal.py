"""Head `conal`: the published formula with its regulariser, initial matrices, and the fit."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from plurivox.core.errors import InputError
from plurivox.train import Plan, fit
from plurivox.train.heads import CoNAL
from plurivox.train.heads._contract import Batch, HeadContext
from plurivox.train.targets._contract import PaddedVotes
from toy_training import toy_data, toy_data_with_spammers


def made(**options: object) -> tuple[nn.Module, torch.Tensor, Batch]:
    """Return the head, logits and a batch with every vote of five tasks."""
    x, gold, votes = toy_data(5)
    torch.manual_seed(0)
    head = CoNAL(**options).build(nn.Linear(1, 1), HeadContext((3,), gold.tasks, gold.labels, votes.workers, votes))  # type: ignore[arg-type]
    head.own.table.add_(torch.randn(head.own.table.shape))  # type: ignore[union-attr, arg-type, operator]
    worker, label = (torch.tensor(one.astype(np.int64)).view(5, 4) for one in (votes.worker, votes.label))
    said = PaddedVotes(worker, label, torch.ones(5, 4))
    return head, torch.randn(5, 3), Batch(torch.tensor(x), torch.arange(5), said)


@pytest.mark.parametrize("on", ["probabilities", "logits"])
@pytest.mark.parametrize("normalise", ["both", "worker", "none"])
def test_the_loss_is_the_published_one(on: str, normalise: str) -> None:
    head, logits, batch = made(on=on, normalise=normalise, scale=0.1)
    said, own, common = batch.labels, head.own.table.view(-1, 3, 3), head.common  # type: ignore[union-attr, operator]
    u = head.worker.table + head.worker_bias  # type: ignore[union-attr, operator]
    v = head.task[2](head.task[1](batch.x))  # type: ignore[index, operator]
    u = u if normalise == "none" else u / u.norm(dim=1, keepdim=True)
    v = v / v.norm(dim=1, keepdim=True) if normalise == "both" else v
    f = logits.softmax(1) if on == "probabilities" else logits
    want, low = torch.zeros(5), 1 / (1 + math.e)
    for i in range(5):
        for j in range(4):
            who = said.worker[i, j]  # type: ignore[union-attr]
            w = torch.sigmoid(u[who] @ v[i])
            assert normalise != "both" or low <= w <= 1 - low  # .27 to .73
            score = w * (f[i] @ common) + (1 - w) * (f[i] @ own[who])
            want[i] -= score.log_softmax(0)[said.label[i, j]] / 4  # type: ignore[union-attr]
    got = head(logits, batch)
    apart = 0.1 * sum((one - common).norm() for one in own)
    # the batch has all votes, so the regulariser enters with its full weight
    torch.testing.assert_close(got.mean(), want.mean() - apart)
    plain, *_ = made(on=on, normalise=normalise, scale=0)
    torch.testing.assert_close(plain(logits, batch), want)


def test_matrices_start_at_twice_the_identity_and_inputs_have_any_shape() -> None:
    _, gold, votes = toy_data(5)
    head = CoNAL().build(nn.Linear(1, 1), HeadContext((2, 3), gold.tasks, gold.labels, votes.workers, votes))
    assert torch.equal(head.common, 2 * torch.eye(3))  # type: ignore[arg-type]
    assert torch.equal(head.own.table.view(4, 3, 3)[1], 2 * torch.eye(3))  # type: ignore[union-attr, operator]
    said = PaddedVotes(*(torch.zeros(5, 1, dtype=torch.int64) for _ in "ab"), torch.ones(5, 1))
    assert head(torch.zeros(5, 3), Batch(torch.rand(5, 2, 3), torch.arange(5), said)).isfinite().all()
    with pytest.raises(InputError, match="must be floats; these are integers"):
        head(torch.zeros(5, 3), Batch(torch.zeros(5, 2, 3, dtype=torch.int64), torch.arange(5), said))


def test_the_fit_contains_the_common_share_and_matrix() -> None:
    x, _, votes = toy_data_with_spammers()
    learnt = fit(x, votes, net="linear", head="conal[scale=1e-4]", plan=Plan(epochs=30, batch=64, lr=0.01)).fit
    assert learnt is not None and learnt.confusion is not None
    share, common = learnt.found["common_share"], learnt.found["common"]
    assert share.shape == (10,) and ((share > 0.26) & (share < 0.74)).all()
    np.testing.assert_allclose(common.sum(1), 1, atol=1e-6)
