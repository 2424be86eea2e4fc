"""Helper: a head with random parameters and a batch of five tasks, for tests of its loss against the formula."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.loop.worker_parameter_table import WorkerTable
from plurivox.train.targets._contract import PaddedVotes
from toy_training import toy_data

N_TASKS, N_WORKERS, N_LABELS = 5, 4, 3


def built(head: Head) -> HeadModule:
    """Return the head with its initial parameters, for five tasks and four workers."""
    _, gold, votes = toy_data(N_TASKS)
    return head.build(nn.Linear(1, 1), HeadContext((3,), gold.tasks, gold.labels, votes.workers, votes))


def attached(head: Head, seed: int = 1) -> tuple[HeadModule, Tensor, Batch]:
    """Return the head, the logits of five tasks and a batch with all votes: four workers, each on every task."""
    x, _, votes = toy_data(N_TASKS)
    made = built(head)
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for one in made.modules():
            for weights in [one.table] if isinstance(one, WorkerTable) else one.parameters(recurse=False):
                weights.add_(torch.randn(weights.shape, generator=rng))
    worker, label = (torch.tensor(one.astype(np.int64)).view(N_TASKS, -1) for one in (votes.worker, votes.label))
    padded = PaddedVotes(worker, label, torch.ones(worker.shape))
    logits = torch.randn(N_TASKS, N_LABELS, generator=rng).requires_grad_()
    return made, logits, Batch(torch.tensor(x), torch.arange(N_TASKS), padded)


def votes_in(batch: Batch) -> Iterator[tuple[int, int, int]]:
    """Yield (task, worker, label) of every vote."""
    padded = batch.labels
    assert isinstance(padded, PaddedVotes)
    for i, (workers, labels) in enumerate(zip(padded.worker.tolist(), padded.label.tolist(), strict=True)):
        for worker, label in zip(workers, labels, strict=True):
            yield i, worker, label


def softmax(score: np.ndarray) -> np.ndarray:
    """Return the softmax over the last axis."""
    powers = np.exp(score)
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def numbers(one: Tensor) -> np.ndarray:
    """Return a tensor as a numpy array in double precision."""
    return np.asarray(one.detach().double().numpy())
