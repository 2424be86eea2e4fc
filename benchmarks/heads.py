"""Training steps with crowd heads, relative to a plain PyTorch loop without a head, on random data of LabelMe's size.

The plain loop trains the same network on soft labels with torch's defaults; ours is `fit` with a head.
"""

import numpy as np
import torch
from torch import nn

from benchmarks.train import time_alternating
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import Plan, fit

EPOCHS, BATCH, N, WIDTH = 20, 64, 1000, 512
Row = tuple[str, str, str]


def make_data(n_workers: int, n_labels: int, max_votes: int) -> tuple[np.ndarray, SoftLabels, Votes]:
    """Return 1,000 tasks x 512 random features, their vote shares, and up to `max_votes` random votes per task."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, WIDTH)).astype(np.float32)
    task = np.repeat(np.arange(N), np.maximum(1, max_votes - (rng.random(N) < 0.5)))
    worker, label = rng.integers(0, n_workers, len(task)), rng.integers(0, n_labels, len(task))
    votes = Votes.of(task, worker, label, workers=np.arange(n_workers), labels=np.arange(n_labels))
    return x, SoftLabels.shares(votes.counts(), votes.tasks, votes.labels), votes


def train_plain(x: np.ndarray, soft: SoftLabels) -> None:
    """Train with a hand-written PyTorch loop."""
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


def train_ours(x: np.ndarray, target: SoftLabels | Votes, head: str | None = None) -> None:
    """Train the network of the hand-written loop with `plurivox.train.fit`."""
    fit(x, target, net="labelme-head", head=head, plan=Plan(epochs=EPOCHS, batch=BATCH, device="cpu"))


def ratio_row(n_workers: int, n_labels: int, max_votes: int, head: str, limit: str) -> Row:
    """Return the row of a head: the time of a training step with it, divided by that of a plain step."""
    x, soft, votes = make_data(n_workers, n_labels, max_votes)
    found = time_alternating({"plain": lambda: train_plain(x, soft), "head": lambda: train_ours(x, votes, head)})
    steps = EPOCHS * -(-N // BATCH)
    times = f"{1e6 * found['head'] / steps:.0f} / {1e6 * found['plain'] / steps:.0f} µs"
    measured = f"{found['head'] / found['plain']:.2f}x ({times})"
    claim = (
        f"a training step with {head}, {n_workers:,} workers, {n_labels} labels, {max_votes} votes per task, "
        "ours / plain PyTorch without a head"
    )
    return claim, measured, limit


def run() -> list[Row]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    torch.set_num_threads(2)
    return [
        ratio_row(59, 8, 3, "crowd-layer", "1.3x"),
        ratio_row(2571, 10, 3, "crowd-layer", "1.3x"),
        ratio_row(2571, 10, 51, "crowd-layer", ""),
        ratio_row(59, 8, 3, "conal", ""),
        ratio_row(59, 8, 3, "raykar", ""),
    ]
