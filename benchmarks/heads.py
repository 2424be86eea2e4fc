"""Steps of heads on votes against a plain PyTorch loop of the same net on soft labels, in one run; numbers of LabelMe's size.

The plain loop is what one writes by hand with torch's defaults; ours is `fit` with a head.
"""

import numpy as np
import torch
from torch import nn

from benchmarks.measure import interleaved
from plurivox.core.labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import Plan, fit

EPOCHS, BATCH, N, WIDTH = 10, 64, 1000, 512
LIMIT = "1.3x"
Row = tuple[str, str, str]


def data(n_workers: int, n_labels: int, most: int) -> tuple[np.ndarray, SoftLabels, Votes]:
    """1,000 tasks x 512 features, each with up to `most` votes of a crowd."""
    chance = np.random.default_rng(0)
    x = chance.normal(size=(N, WIDTH)).astype(np.float32)
    task = np.repeat(np.arange(N), np.maximum(1, most - (chance.random(N) < 0.5)))
    worker, said = chance.integers(0, n_workers, len(task)), chance.integers(0, n_labels, len(task))
    votes = Votes.of(task, worker, said, workers=np.arange(n_workers), labels=np.arange(n_labels))
    return x, SoftLabels.shares(votes.counts(), votes.tasks, votes.labels), votes


def plain(x: np.ndarray, soft: SoftLabels) -> None:
    """The loop one writes by hand."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(WIDTH, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, soft.n_labels))
    inputs, target = torch.tensor(x), torch.tensor(soft.prob, dtype=torch.float32)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(EPOCHS):
        net.train()
        for rows in torch.randperm(N).split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs[rows]), target[rows]).backward()
            optimizer.step()


def ours(x: np.ndarray, target: SoftLabels | Votes, head: str | None = None) -> None:
    """The same net by `fit`."""
    fit(x, target, net="labelme-head", head=head, plan=Plan(epochs=EPOCHS, batch=BATCH, device="cpu"))
