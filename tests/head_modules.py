"""A head on votes with numbers of its own, before five tasks: for tests that hold its loss against the formula."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.loop.worker_table import WorkerTable
from plurivox.train.targets._contract import PaddedVotes
from toy_training import world

N_TASKS, N_WORKERS, N_LABELS = 5, 4, 3


def attached(head: Head, seed: int = 1) -> tuple[HeadModule, Tensor, Batch]:
    """The head, the logits of five tasks, and all their votes: four workers, each on every task."""
    x, gold, votes = world(N_TASKS)
    made = head.build(nn.Linear(1, 1), HeadContext((3,), gold.tasks, gold.labels, votes.workers, votes))
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for one in made.modules():
            for weights in [one.table] if isinstance(one, WorkerTable) else one.parameters(recurse=False):
                weights.add_(torch.randn(weights.shape, generator=rng))
    worker, label = (torch.tensor(one.astype(np.int64)).view(N_TASKS, -1) for one in (votes.worker, votes.label))
    said = PaddedVotes(worker, label, torch.ones(worker.shape))
    logits = torch.randn(N_TASKS, N_LABELS, generator=rng).requires_grad_()
    return made, logits, Batch(torch.tensor(x), torch.arange(N_TASKS), said)


def votes_in(batch: Batch) -> Iterator[tuple[int, int, int]]:
    """(task, worker, label) of every vote."""
    said = batch.drawn
    assert isinstance(said, PaddedVotes)
    for i, (workers, labels) in enumerate(zip(said.worker.tolist(), said.label.tolist(), strict=True)):
        for worker, label in zip(workers, labels, strict=True):
            yield i, worker, label


def softmax(score: np.ndarray) -> np.ndarray:
    """Over the last axis."""
    powers = np.exp(score)
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def numbers(one: Tensor) -> np.ndarray:
    """As numpy has them, in double precision."""
    return np.asarray(one.detach().double().numpy())
