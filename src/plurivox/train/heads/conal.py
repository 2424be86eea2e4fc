"""Head `conal`: a noise matrix shared by the crowd and one per worker, mixed by task and worker."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.vote_cross_entropy_and_fit_result import (
    ON_HELP,
    flat_identity_matrices,
    get_padded_votes_or_raise,
    get_votes_with_workers_or_raise,
    make_fit_from_confusion_logits,
    one_hot_or_mean_logits_per_label,
    summed_vote_cross_entropy_per_task,
)
from plurivox.train.loop.worker_parameter_table import WorkerTable
from plurivox.train.targets._shared.training_examples import copy_to_device

BATCH_CELLS = 2**20  # input numbers, or votes, that are processed at a time


@dataclass(frozen=True)
class CoNAL(Head):
    """CoNAL: noise common to the crowd and noise of each worker, mixed by task and worker.

    The label that worker j gives to task i with the net's output f has the distribution softmax(w f G + (1 - w) f W_j), G the
    common matrix and W_j the worker's, both unconstrained and initialised to `start` times the identity. w = sigmoid(u_j .
    v_i): u_j is an embedding of the worker, v_i one of the task, two linear layers on its input without an activation; both
    are normalised to length one, so that w is .27 to .73. The loss of a task is the summed cross-entropy of its votes,
    divided by the mean number of votes per task, minus `scale` * sum over workers of |W_j - G|, which drives individual and
    common noise apart; each batch adds its share of that sum, from the workers in the batch. Published: Adam with lr .01
    restarted each epoch, batch 1024, 100 epochs, the best on the validation tasks. In the fit a worker's matrix is the
    softmax of the mixed matrices, w being the mean over the worker's tasks; `found` holds that mean (`common_share`) and the
    common matrix (`common`).

    Chu, Ma & Wang (2021), https://doi.org/10.1609/aaai.v35i7.16730
    """

    scale: float = option(
        1e-5,
        "weight of the loss term that drives the workers' matrices and the common matrix apart; 0: no such term",
        low=0,
    )
    embedding: int = option(20, "length of the embedding of a task or a worker", low=1)
    hidden: int = option(128, "hidden units between a task's input and its embedding", low=1)
    normalise: Literal["both", "worker", "none"] = option(
        "both", "embeddings (of tasks and workers) that are normalised to length one"
    )
    start: float = option(2.0, "initial value on the diagonal of the common matrix and of the workers' matrices")
    on: Literal["probabilities", "logits"] = option("probabilities", ON_HELP)

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _CoNALModule(self, context)


class _CoNALModule(HeadModule):
    """Torch module of the head `conal`."""

    n_answers: Tensor  # (n_workers,) total weight of the worker's votes

    def __init__(self, head: CoNAL, context: HeadContext) -> None:
        super().__init__()
        votes, k, n = get_votes_with_workers_or_raise(context, head.name()), context.n_labels, context.n_workers
        self.head, self.context, self.votes = head, context, votes
        self.vote_scale = votes.n_tasks / float(votes.weights.sum())  # 1 / mean number of votes per task
        self.common = nn.Parameter(flat_identity_matrices(1, k, head.start).view(k, k))
        self.own = WorkerTable(flat_identity_matrices(n, k, head.start))
        bound = 1 / math.sqrt(n)  # torch's initial range for a linear layer on the one-hot worker
        self.worker = WorkerTable(torch.empty(n, head.embedding).uniform_(-bound, bound))
        self.worker_bias = nn.Parameter(torch.empty(head.embedding).uniform_(-bound, bound))
        self.task = nn.Sequential(
            nn.Flatten(), nn.Linear(math.prod(context.shape), head.hidden), nn.Linear(head.hidden, head.embedding)
        )
        weight = np.bincount(votes.worker, votes.weights, minlength=n).clip(1e-12)
        self.register_buffer("n_answers", torch.tensor(weight, dtype=torch.float32), persistent=False)

    def forward(self, logits: Tensor, labelled_batch: Batch) -> Tensor:
        votes, k = get_padded_votes_or_raise(labelled_batch), self.context.n_labels
        output = logits.softmax(1) if self.head.on == "probabilities" else logits
        # (n, max_votes, true label, given label)
        own = self.own.take_rows_ignoring_padding_gradient(votes.worker, votes.weight).unflatten(-1, (k, k))
        u = self._biased_normalised_worker_embedding(
            self.worker.take_rows_ignoring_padding_gradient(votes.worker, votes.weight)
        )
        mix = (u * self._task_embedding(labelled_batch.x)[:, None]).sum(-1, keepdim=True).sigmoid()  # (n, max_votes, 1)
        own_logits = (output[:, None, None] @ own)[:, :, 0]
        vote_logits = mix * (output @ self.common)[:, None] + (1 - mix) * own_logits
        each = summed_vote_cross_entropy_per_task(vote_logits, votes) * self.vote_scale
        if not self.head.scale:
            return each
        distance = torch.linalg.vector_norm(own - self.common, dim=(-2, -1))  # (n, max_votes)
        share = votes.weight / self.n_answers[votes.worker]  # the votes of a worker share the worker's term
        return each - self.head.scale * self.votes.n_tasks * (share * distance).sum(1)

    def _biased_normalised_worker_embedding(self, worker_vectors: Tensor) -> Tensor:
        """(..., embedding) the embeddings u_j of workers, from rows of the worker table."""
        u = worker_vectors + self.worker_bias
        return u if self.head.normalise == "none" else nn.functional.normalize(u, dim=-1)

    def _task_embedding(self, x: Tensor) -> Tensor:
        """(n, embedding) the embeddings v_i of tasks; InputError if their inputs are integers."""
        if not x.is_floating_point():
            raise InputError(
                "conal embeds tasks by their inputs, which must be floats; these are integers (codes of words)"
            )
        v: Tensor = self.task(x)
        return nn.functional.normalize(v, dim=-1) if self.head.normalise == "both" else v

    def make_fit_with_worker_estimates(self, predictions: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        output, k = one_hot_or_mean_logits_per_label(self.head.on, predictions, logits), self.context.n_labels
        share = self._mean_common_matrix_weight_by_worker(x)
        own, mix = self.own.table.view(-1, k, k), copy_to_device(share, x.device, torch.float32)[:, None, None]
        vote_logits = output @ (mix * self.common + (1 - mix) * own)
        common = np.asarray((output @ self.common).softmax(-1).double().cpu().numpy())
        return make_fit_from_confusion_logits(
            self.head.spec, predictions, self.context, vote_logits, {"common_share": share, "common": common}
        )

    def _mean_common_matrix_weight_by_worker(self, x: Tensor) -> Floats:
        """(n_workers,) the mean weight w of the common matrix over each worker's tasks; 0.5 for workers without tasks."""
        size = max(1, BATCH_CELLS // max(x[:1].numel(), 1))
        v = torch.cat([self._task_embedding(rows) for rows in x.split(size)])
        u, votes = self._biased_normalised_worker_embedding(self.worker.table), self.votes
        columns = (copy_to_device(one, x.device, torch.int64).split(BATCH_CELLS) for one in (votes.worker, votes.task))
        mix = torch.cat([(u[worker] * v[task]).sum(-1).sigmoid() for worker, task in zip(*columns, strict=True)])
        each, n = mix.double().cpu().numpy(), len(u)
        total = np.bincount(votes.worker, votes.weights, minlength=n)
        weighted = np.bincount(votes.worker, votes.weights * each, minlength=n)
        return np.divide(weighted, total, out=np.full(n, 0.5), where=total > 0)
