"""Our training step against a plain PyTorch loop of the same net, in one run: LabelMe features, or numbers of that size.

Both do what a user gets: the plain loop is what one writes by hand with torch's defaults; ours is `fit`.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import nn

from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train import Plan, Supervision, fit, nets
from plurivox.train.loop.prepared_data import PreparedData
from plurivox.train.loop.train_spec import TrainSpec
from plurivox.train.loop.training_run import TrainingRun
from plurivox.train.parallel.runs import run_stacked

EPOCHS, BATCH, N, WIDTH, LABELS = 20, 64, 1000, 512, 8
NET, ROUNDS = "labelme-head", 7
Row = tuple[str, str, str]


def data() -> tuple[np.ndarray, SoftLabels]:
    """1,000 tasks x 512 features with soft labels over 8 labels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, WIDTH)).astype(np.float32)
    return x, SoftLabels.of(rng.dirichlet(np.ones(LABELS), N), range(N), range(LABELS))


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


def race(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of each way: the median over rounds in which all take turns."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS + 1):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            taken[name].append(time.perf_counter() - begin)
    return {name: statistics.median(times[1:]) for name, times in taken.items()}  # the first warms up


def resnet_on_cuda() -> Row:
    """CIFAR ResNet n=7, batch 32: the step of `fit` on CUDA (a CUDA graph) against a plain eager loop."""
    n, net_word = 3200, "cifar-resnet[n=7]"
    x = np.random.default_rng(0).random((n, 3, 32, 32)).astype(np.float32)
    soft = SoftLabels.one_hot(np.arange(n) % 10, range(n), range(10))
    plan = Plan(epochs=3, batch=32, optimizer="sgd", lr=0.1, device="cuda")
    inputs, target = torch.tensor(x, device="cuda"), torch.tensor(soft.prob, dtype=torch.float32, device="cuda")
    net = nets.methods.make(net_word).build((3, 32, 32), 10).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    taken = []
    for _ in range(3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for rows in torch.randperm(n, device="cuda").split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs[rows]), target[rows]).backward()
            optimizer.step()
        torch.cuda.synchronize()
        taken.append((time.perf_counter() - begin) / (n / 32))
    ours_step = min(fit(x, soft, net=net_word, plan=plan).history["seconds"][1:]) / (n / 32)
    told = f"{ours_step / min(taken[1:]):.2f}x ({1e3 * ours_step:.1f} / {1e3 * min(taken[1:]):.1f} ms)"
    return "a step of CIFAR ResNet n=7, batch 32, on CUDA, ours / eager PyTorch", told, "0.5x"


def many_runs(net: str, x: np.ndarray, soft: SoftLabels, runs: int = 10) -> Row:
    """Several seeds of one training: one after another, and stacked to one net."""
    plan = Plan(epochs=EPOCHS, batch=BATCH, device="cpu")

    def begin(seed: int) -> TrainingRun:
        spec = TrainSpec.of(net=net, plan=replace(plan, seed=seed))
        return TrainingRun(spec, PreparedData.of(x, spec, Supervision(soft=soft), tasks=soft.tasks))

    found = race(
        {
            "apart": lambda: [begin(seed).finish() for seed in range(runs)],
            "stacked": lambda: run_stacked([partial(begin, seed) for seed in range(runs)]),
        }
    )
    steps = runs * EPOCHS * -(-N // BATCH)
    each = " / ".join(f"{1e6 * found[way] / steps:.0f}" for way in ("apart", "stacked"))
    claim = f"{runs} runs of {net} on {WIDTH} features, one after another / stacked"
    return claim, f"{found['apart'] / found['stacked']:.2f}x ({each} µs a step and run)", "at least 2x"


def run() -> list[Row]:
    """(claim, measured, limit) rows."""
    torch.set_num_threads(2)
    x, soft = data()
    found = race({"plain": lambda: plain(x, soft), "ours": lambda: ours(x, soft)})
    steps = EPOCHS * -(-N // BATCH)
    told = f"{found['ours'] / found['plain']:.2f}x ({1e6 * found['ours'] / steps:.0f} / {1e6 * found['plain'] / steps:.0f} µs)"
    cuda = [resnet_on_cuda()] if torch.cuda.is_available() else []
    many = [many_runs(net, x, soft) for net in (NET, "mlp")]
    return [*cuda, ("a step on LabelMe-sized features, ours / plain PyTorch", told, "1.15x"), *many]
