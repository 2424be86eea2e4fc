"""Common noise and own noise: a matrix of the whole crowd and one of each worker, mixed by task and worker."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.worker_votes import (
    ON_HELP,
    cross_entropy,
    fit_of,
    identity,
    said_in,
    typical_output,
    votes_of,
)
from plurivox.train.loop.worker_table import WorkerTable
from plurivox.train.targets._shared.examples import on_device

AT_ONCE = 2**20  # numbers of input looked at in one go


@dataclass(frozen=True)
class CoNAL(Head):
    """CoNAL: noise that the crowd has in common and noise of each worker, mixed by task and worker.

    What worker j says of task i with the output f is softmax(w f G + (1 - w) f W_j), G the common matrix and W_j the own,
    both unconstrained and begun at `start` times the identity. w = sigmoid(u_j . v_i): u_j is an embedding of the worker, v_i
    one of the task, two linear layers on its input with nothing between; both of length one, so that w is .27 to .73. The
    loss of a task is the cross-entropy of its votes added up, over the mean number of votes of a task, less
    `scale` * sum over workers of |W_j - G|, which drives own and common noise apart; a batch takes an even share of that
    sum, from its own workers. Published: Adam with lr .01 begun anew each epoch, batch 1024, 100 epochs, the best on the
    validation tasks. In the fit a worker's matrix is the softmax of its mix, w being the mean over its own tasks;
    `found` holds that mean (`common_share`) and the common matrix (`common`).

    Chu, Ma & Wang (2021), https://doi.org/10.1609/aaai.v35i7.16730
    """

    scale: float = option(1e-5, "how hard own and common matrices are driven apart; 0: not at all", low=0)
    embedding: int = option(20, "numbers that describe a task or a worker", low=1)
    hidden: int = option(128, "numbers between a task's input and its embedding", low=1)
    normalise: Literal["both", "worker", "none"] = option("both", "which embeddings are brought to length one")
    start: float = option(2.0, "what both matrices have on their diagonal at the start")
    on: Literal["probabilities", "logits"] = option("probabilities", ON_HELP)

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _Noise(self, context)


class _Noise(HeadModule):
    n_answers: Tensor

    def __init__(self, head: CoNAL, context: HeadContext) -> None:
        super().__init__()
        votes, k, n = votes_of(context, head.name()), context.n_labels, context.n_workers
        self.head, self.context, self.votes = head, context, votes
        self.share = votes.n_tasks / float(votes.weights.sum())
        self.common = nn.Parameter(identity(1, k, head.start).view(k, k))
        self.own = WorkerTable(identity(n, k, head.start))
        bound = 1 / math.sqrt(n)  # a linear layer on the worker's one-hot, as torch begins it
        self.worker = WorkerTable(torch.empty(n, head.embedding).uniform_(-bound, bound))
        self.worker_bias = nn.Parameter(torch.empty(head.embedding).uniform_(-bound, bound))
        self.task = nn.Sequential(
            nn.Flatten(), nn.Linear(math.prod(context.shape), head.hidden), nn.Linear(head.hidden, head.embedding)
        )
        weight = np.bincount(votes.worker, votes.weights, minlength=n).clip(1e-12)
        self.register_buffer("n_answers", torch.tensor(weight, dtype=torch.float32), persistent=False)

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        said, k = said_in(batch), self.context.n_labels
        output = logits.softmax(1) if self.head.on == "probabilities" else logits
        own = self.own.take(said.worker, said.weight).unflatten(-1, (k, k))  # (n, most, true, said)
        u = self._of_worker(self.worker.take(said.worker, said.weight))
        mix = (u * self._of_task(batch.x)[:, None]).sum(-1, keepdim=True).sigmoid()  # (n, most, 1)
        mine = (output[:, None, None] @ own)[:, :, 0]
        score = mix * (output @ self.common)[:, None] + (1 - mix) * mine
        each = cross_entropy(score, said) * self.share
        if not self.head.scale:
            return each
        apart = torch.linalg.vector_norm(own - self.common, dim=(-2, -1))  # (n, most)
        times = said.weight / self.n_answers[said.worker]  # a worker's answers share its term among them
        return each - self.head.scale * self.votes.n_tasks * (times * apart).sum(1)

    def _of_worker(self, rows: Tensor) -> Tensor:
        u = rows + self.worker_bias
        return u if self.head.normalise == "none" else nn.functional.normalize(u, dim=-1)

    def _of_task(self, x: Tensor) -> Tensor:
        if not x.is_floating_point():
            raise InputError("conal embeds tasks by their inputs, which must be numbers; these are codes of words")
        v: Tensor = self.task(x)
        return nn.functional.normalize(v, dim=-1) if self.head.normalise == "both" else v

    def fit_result(self, soft: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        output, k = typical_output(self.head.on, soft, logits), self.context.n_labels
        share = self._common_share(x)
        own, mix = self.own.table.view(-1, k, k), on_device(share, x.device, torch.float32)[:, None, None]
        score = output @ (mix * self.common + (1 - mix) * own)
        common = np.asarray((output @ self.common).softmax(-1).double().cpu().numpy())
        return fit_of(self.head.spec, soft, self.context, score, {"common_share": share, "common": common})

    def _common_share(self, x: Tensor) -> Floats:
        """(n_workers,) the mean weight of the common matrix over each worker's tasks; a half for who has none."""
        v = torch.cat([self._of_task(part) for part in x.split(max(1, AT_ONCE // max(x[:1].numel(), 1)))])
        u, votes = self._of_worker(self.worker.table), self.votes
        who, what = (on_device(one, x.device, torch.int64) for one in (votes.worker, votes.task))
        mix = torch.cat(
            [(u[w] * v[t]).sum(-1).sigmoid() for w, t in zip(who.split(AT_ONCE), what.split(AT_ONCE), strict=True)]
        )
        each, n = mix.double().cpu().numpy(), len(u)
        total = np.bincount(votes.worker, votes.weights, minlength=n)
        weighed = np.bincount(votes.worker, votes.weights * each, minlength=n)
        return np.divide(weighed, total, out=np.full(n, 0.5), where=total > 0)
