"""Training steps of `fit`, relative to a plain PyTorch loop of the same network, on random data of LabelMe's size.

The plain loop is written by hand with torch's defaults. Also: stacked runs on a CPU, and a CIFAR ResNet on CUDA.
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
from plurivox.train.loop.prepared_data_and_trainer import PreparedData
from plurivox.train.loop.train_spec import TrainSpec
from plurivox.train.loop.training_run import TrainingRun
from plurivox.train.parallel.multi_seed_runs import train_runs_stacked

EPOCHS, BATCH, N, WIDTH, LABELS = 20, 64, 1000, 512, 8
NET, N_ROUNDS = "labelme-head", 7
Row = tuple[str, str, str]


def make_data() -> tuple[np.ndarray, SoftLabels]:
    """Return 1,000 tasks x 512 random features, and random soft labels over 8 labels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, WIDTH)).astype(np.float32)
    return x, SoftLabels.of(rng.dirichlet(np.ones(LABELS), N), range(N), range(LABELS))


def train_plain(x: np.ndarray, soft: SoftLabels) -> None:
    """Train with a hand-written PyTorch loop."""
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


def train_ours(x: np.ndarray, target: SoftLabels | Votes, head: str | None = None) -> None:
    """Train the network of the hand-written loop with `plurivox.train.fit`."""
    fit(x, target, net=NET, head=head, plan=Plan(epochs=EPOCHS, batch=BATCH, device="cpu"))


def time_alternating(functions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Run the functions in turn for several rounds and return the median seconds of each."""
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(N_ROUNDS + 1):
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            taken[name].append(time.perf_counter() - begin)
    return {name: statistics.median(times[1:]) for name, times in taken.items()}  # the first round is a warm-up


def measure_cuda_resnet() -> Row:
    """Return the row of CIFAR ResNet n=7, batch 32: a step of `fit` (a CUDA graph) divided by one of an eager loop."""
    n, net_spec = 3200, "cifar-resnet[n=7]"
    x = np.random.default_rng(0).random((n, 3, 32, 32)).astype(np.float32)
    soft = SoftLabels.one_hot(np.arange(n) % 10, range(n), range(10))
    plan = Plan(epochs=3, batch=32, optimizer="sgd", lr=0.1, device="cuda")
    inputs, target = torch.tensor(x, device="cuda"), torch.tensor(soft.prob, dtype=torch.float32, device="cuda")
    net = nets.methods.make(net_spec).build((3, 32, 32), 10).cuda()
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
    ours_step = min(fit(x, soft, net=net_spec, plan=plan).history["seconds"][1:]) / (n / 32)
    measured = f"{ours_step / min(taken[1:]):.2f}x ({1e3 * ours_step:.1f} / {1e3 * min(taken[1:]):.1f} ms)"
    return "a training step of CIFAR ResNet n=7, batch 32, on CUDA, ours / eager PyTorch", measured, "0.5x"


def measure_stacked_runs(net: str, x: np.ndarray, soft: SoftLabels, runs: int = 10) -> Row:
    """Return the row of several runs: time one after another, divided by the time stacked into one network."""
    plan = Plan(epochs=EPOCHS, batch=BATCH, device="cpu")

    def start_run(seed: int) -> TrainingRun:
        spec = TrainSpec.from_names_or_objects(net=net, plan=replace(plan, seed=seed))
        return TrainingRun(
            spec, PreparedData.from_inputs_dropping_unusable_tasks(x, spec, Supervision(soft=soft), tasks=soft.tasks)
        )

    found = time_alternating(
        {
            "sequential": lambda: [start_run(seed).train_to_end() for seed in range(runs)],
            "stacked": lambda: train_runs_stacked([partial(start_run, seed) for seed in range(runs)]),
        }
    )
    steps = runs * EPOCHS * -(-N // BATCH)
    times = " / ".join(f"{1e6 * found[name] / steps:.0f}" for name in ("sequential", "stacked"))
    claim = f"{runs} runs of {net} on {WIDTH} features, one after another / stacked"
    return claim, f"{found['sequential'] / found['stacked']:.2f}x ({times} µs per step and run)", "at least 2x"


def run() -> list[Row]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    torch.set_num_threads(2)
    x, soft = make_data()
    found = time_alternating({"plain": lambda: train_plain(x, soft), "ours": lambda: train_ours(x, soft)})
    steps = EPOCHS * -(-N // BATCH)
    times = f"{1e6 * found['ours'] / steps:.0f} / {1e6 * found['plain'] / steps:.0f} µs"
    measured = f"{found['ours'] / found['plain']:.2f}x ({times})"
    cuda = [measure_cuda_resnet()] if torch.cuda.is_available() else []
    many = [measure_stacked_runs(net, x, soft) for net in (NET, "mlp")]
    return [*cuda, ("a training step on LabelMe-sized features, ours / plain PyTorch", measured, "1.15x"), *many]
