"""Steps of heads on votes against a plain PyTorch loop of the same net on soft labels, in one run; numbers of LabelMe's size.

The plain loop is what one writes by hand with torch's defaults; ours is `fit` with a head.
"""

import numpy as np
import torch
from torch import nn

from benchmarks.train import race
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import Plan, fit

EPOCHS, BATCH, N, WIDTH = 20, 64, 1000, 512
Row = tuple[str, str, str]


def data(n_workers: int, n_labels: int, most: int) -> tuple[np.ndarray, SoftLabels, Votes]:
    """1,000 tasks x 512 features, each with up to `most` votes of a crowd."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, WIDTH)).astype(np.float32)
    task = np.repeat(np.arange(N), np.maximum(1, most - (rng.random(N) < 0.5)))
    worker, said = rng.integers(0, n_workers, len(task)), rng.integers(0, n_labels, len(task))
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


def ratio(n_workers: int, n_labels: int, most: int, head: str, limit: str) -> Row:
    """One row: a step with this head on this crowd over a plain step."""
    x, soft, votes = data(n_workers, n_labels, most)
    found = race({"plain": lambda: plain(x, soft), "head": lambda: ours(x, votes, head)})
    steps = EPOCHS * -(-N // BATCH)
    told = f"{found['head'] / found['plain']:.2f}x ({1e6 * found['head'] / steps:.0f} / {1e6 * found['plain'] / steps:.0f} µs)"
    claim = (
        f"a step of {head}, {n_workers:,} workers, {n_labels} labels, {most} votes a task, ours / plain PyTorch without"
    )
    return claim, told, limit


def run() -> list[Row]:
    """(claim, measured, limit) rows."""
    torch.set_num_threads(2)
    return [
        ratio(59, 8, 3, "crowd-layer", "1.3x"),
        ratio(2571, 10, 3, "crowd-layer", "1.3x"),
        ratio(2571, 10, 51, "crowd-layer", ""),
        ratio(59, 8, 3, "conal", ""),
        ratio(59, 8, 3, "raykar", ""),
    ]
