"""Our training step against a plain PyTorch loop of the same net, in one run: LabelMe features, or numbers of that size.

Both do what a user gets: the plain loop is what one writes by hand with torch's defaults; ours is `fit`.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from plurivox.core.labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import Plan, fit

EPOCHS, BATCH, N, WIDTH, LABELS = 20, 64, 1000, 512, 8
NET, ROUNDS = "labelme-head", 7
Row = tuple[str, str, str]


def data() -> tuple[np.ndarray, SoftLabels]:
    """1,000 tasks x 512 features with soft labels over 8 labels."""
    chance = np.random.default_rng(0)
    x = chance.normal(size=(N, WIDTH)).astype(np.float32)
    return x, SoftLabels.of(chance.dirichlet(np.ones(LABELS), N), range(N), range(LABELS))


def plain(x: np.ndarray, soft: SoftLabels) -> None:
    """The loop one writes by hand."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(WIDTH, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, LABELS))
    inputs, target = torch.tensor(x), torch.tensor(soft.prob, dtype=torch.float32)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(EPOCHS):
        net.train()
        for rows in torch.randperm(N).split(BATCH):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(inputs[rows]), target[rows])
            loss.backward()
            optimizer.step()


def ours(x: np.ndarray, target: SoftLabels | Votes, head: str | None = None) -> None:
    """The same net by `fit`."""
    fit(x, target, net=NET, head=head, plan=Plan(epochs=EPOCHS, batch=BATCH, device="cpu"))


def race(ways: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Seconds of each way: the median over rounds in which all take turns."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS + 1):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            taken[name].append(time.perf_counter() - begin)
    return {name: statistics.median(times[1:]) for name, times in taken.items()}  # the first warms up


def run() -> list[Row]:
    """(claim, measured, limit) rows."""
    torch.set_num_threads(2)
    x, soft = data()
    found = race({"plain": lambda: plain(x, soft), "ours": lambda: ours(x, soft)})
    steps = EPOCHS * -(-N // BATCH)
    told = f"{found['ours'] / found['plain']:.2f}x ({1e6 * found['ours'] / steps:.0f} / {1e6 * found['plain'] / steps:.0f} µs)"
    return [("a step on LabelMe-sized features, ours / plain PyTorch", told, "1.15x")]
