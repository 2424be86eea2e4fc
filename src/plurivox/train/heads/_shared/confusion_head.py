"""Base class of heads with a confusion matrix per worker: rows are true labels, columns the labels that the worker gives."""

import torch
from torch import Tensor

from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.vote_cross_entropy_and_fit_result import (
    get_padded_votes_or_raise,
    get_votes_with_workers_or_raise,
    make_fit_from_confusion_logits,
)
from plurivox.train.loop.worker_parameter_table import WorkerTable
from plurivox.train.targets._contract import PaddedVotes


class ConfusionHead(HeadModule):
    """A head in which worker j gives label l with probability sum_k f[k] A_j[k, l], f being the net's probabilities.

    The loss of a task is the summed cross-entropy of its votes, divided by the mean number of votes per task, plus a penalty.
    """

    n_answers: Tensor  # (n_workers,) total weight of the worker's votes

    def __init__(self, head: Head, context: HeadContext, initial_parameters: Tensor) -> None:
        super().__init__()
        votes = get_votes_with_workers_or_raise(context, head.name())
        self.spec, self.context, self.n_tasks = head.spec, context, votes.n_tasks
        self.vote_scale = votes.n_tasks / float(votes.weights.sum())  # 1 / mean number of votes per task
        self.own = WorkerTable(initial_parameters)  # (n_workers, n_labels * n_labels); its name is a key of checkpoints
        load = votes.n_answers_per_worker  # (n_workers,)
        self.n_active_workers = int((load > 0).sum())
        self.register_buffer("n_answers", torch.tensor(load.clip(1e-12), dtype=torch.float32), persistent=False)

    def log_confusion_from_parameters(self, parameters: Tensor) -> Tensor:
        """(..., true label, given label) the logarithms of the confusion matrices, from `parameters` of that shape."""
        return parameters.log_softmax(-1)

    def penalty_added_to_task_loss(self, log_prob: Tensor, votes: PaddedVotes, log_confusion: Tensor) -> Tensor:
        """() or (n,) the regularisation penalty that is added to the loss of each task.

        `log_prob` (n, n_labels) are the net's log-probabilities, `log_confusion` (n, max_votes, true label, given label) the
        logarithms of the confusion matrices of the workers who voted.
        """
        raise NotImplementedError

    def forward(self, logits: Tensor, labelled_batch: Batch) -> Tensor:
        votes, k = get_padded_votes_or_raise(labelled_batch), self.context.n_labels
        log_confusion = self.log_confusion_from_parameters(
            self.own.take_rows_ignoring_padding_gradient(votes.worker, votes.weight).unflatten(-1, (k, k))
        )
        column = votes.label[..., None, None].expand(-1, -1, k, 1)
        # (n, max_votes, n_labels) log-probability of each vote given each true label
        log_vote = log_confusion.gather(-1, column)[..., 0]
        log_prob = logits.log_softmax(1)
        loss = -(log_prob[:, None] + log_vote).logsumexp(-1)
        each = (votes.weight * loss).sum(1) * self.vote_scale
        return each + self.penalty_added_to_task_loss(log_prob, votes, log_confusion)

    def vote_factors_of_equal_sum_per_worker(self, votes: PaddedVotes) -> Tensor:
        """(n, max_votes) factors of the votes, with which a mean over tasks estimates a sum over workers.

        Over all tasks the factors of a worker sum to `n_tasks`; only workers in the batch are needed.
        """
        return votes.weight / self.n_answers[votes.worker] * self.n_tasks

    def make_fit_with_worker_estimates(self, predictions: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del x, logits
        k = self.context.n_labels
        return make_fit_from_confusion_logits(
            self.spec,
            predictions,
            self.context,
            self.log_confusion_from_parameters(self.own.table.unflatten(-1, (k, k))),
        )
