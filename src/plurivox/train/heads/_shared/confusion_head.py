"""What heads share that give every worker a matrix of probabilities: what is so in its rows, what is said in its columns."""

import torch
from torch import Tensor

from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.worker_votes import fit_of, said_in, votes_of
from plurivox.train.loop.worker_table import WorkerTable
from plurivox.train.targets._contract import PaddedVotes


class Confusing(HeadModule):
    """Worker j says l of a task with probability sum over k of f[k] A_j[k, l], f being the net's probabilities.

    The loss of a task is the cross-entropy of its votes added up, over the mean number of votes of a task, plus a penalty.
    """

    n_answers: Tensor  # (n_workers,)

    def __init__(self, head: Head, context: HeadContext, start: Tensor) -> None:
        super().__init__()
        votes = votes_of(context, head.name())
        self.spec, self.context, self.n_tasks = head.spec, context, votes.n_tasks
        self.share = votes.n_tasks / float(votes.weights.sum())
        self.own = WorkerTable(start)  # (n_workers, n_labels * n_labels)
        load = votes.workload  # (n_workers,)
        self.n_heard = int((load > 0).sum())
        self.register_buffer("n_answers", torch.tensor(load.clip(1e-12), dtype=torch.float32), persistent=False)

    def log_matrices(self, rows: Tensor) -> Tensor:
        """(..., true, said) the logarithm of the matrices that rows (..., true, said) of free numbers stand for."""
        return rows.log_softmax(-1)

    def penalty(self, log_prob: Tensor, said: PaddedVotes, own: Tensor) -> Tensor:
        """() or (n,) what is added to the loss of each task; log-probabilities of the net (n, n_labels), and logarithms of the
        matrices of those who answered (n, most, true, said)."""
        raise NotImplementedError

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        said, k = said_in(batch), self.context.n_labels
        own = self.log_matrices(self.own.take(said.worker, said.weight).unflatten(-1, (k, k)))
        column = said.label[..., None, None].expand(-1, -1, k, 1)
        heard = own.gather(-1, column)[..., 0]  # (n, most, true) the logarithm of what each label lets the worker say
        log_prob = logits.log_softmax(1)
        against = -(log_prob[:, None] + heard).logsumexp(-1)
        each = (said.weight * against).sum(1) * self.share
        return each + self.penalty(log_prob, said, own)

    def shares(self, said: PaddedVotes) -> Tensor:
        """(n, most) the part of a worker's term that each answer takes: over all tasks a worker's parts sum to `n_tasks`,
        so that the mean over a batch stands for the sum over workers, and only those in the batch are looked at."""
        return said.weight / self.n_answers[said.worker] * self.n_tasks

    def fit_result(self, soft: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del x, logits
        k = self.context.n_labels
        return fit_of(self.spec, soft, self.context, self.log_matrices(self.own.table.unflatten(-1, (k, k))))
