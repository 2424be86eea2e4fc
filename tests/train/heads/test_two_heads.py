"""Head `two-heads`: the sum of two losses on one trunk."""

import torch
from torch import nn

from plurivox.core.soft_labels import SoftLabels
from plurivox.train import Plan, Supervision, fit
from plurivox.train.heads import TwoHeads
from plurivox.train.heads._contract import Batch, HeadContext
from toy_training import toy_data


def test_the_loss_is_the_plain_sum() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
    _, gold, votes = toy_data(5)
    head = TwoHeads().build(net, HeadContext((4,), gold.tasks, gold.labels, votes.workers, votes))
    inputs, main = torch.randn(5, 4), torch.eye(3)[[0, 1, 2, 0, 1]]
    crowd = torch.softmax(torch.randn(5, 3), 1)
    got = head(net(inputs), Batch(inputs, torch.arange(5), (main, crowd)))
    features = net[1](net[0](inputs))
    soft = head.soft_head(features).log_softmax(1)  # type: ignore[operator]
    hard = nn.functional.cross_entropy(net[2](features), main.argmax(1), reduction="none")
    bits = (crowd * (crowd.log() - soft)).sum(1) / torch.log(torch.tensor(2.0))
    torch.testing.assert_close(got, hard + bits)


def test_both_heads_are_trained_and_the_net_has_no_soft_head() -> None:
    x, gold, votes = toy_data()
    soft = SoftLabels.shares(votes.counts(), votes.tasks, votes.labels)
    plan = Plan(epochs=20, batch=16, lr=0.02)
    for main in ("gold", "majority"):
        trained = fit(
            x, f"pair[main={main}]", tasks=gold.tasks, known=Supervision(votes, gold, soft), head="two-heads", plan=plan
        )
        assert (trained.predict(x, gold.tasks).hard() == gold.hard()).mean() > 0.8
        assert not any("soft_head" in name for name in trained.net.state_dict())
