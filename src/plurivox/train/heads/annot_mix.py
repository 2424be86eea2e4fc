"""Head `annot-mix`: mixup of inputs, labels and workers."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.vote_cross_entropy_and_fit_result import (
    flat_identity_matrices,
    get_padded_votes_or_raise,
    get_votes_with_workers_or_raise,
    make_fit_from_confusion_logits,
)
from plurivox.train.loop.worker_parameter_table import WorkerTable
from plurivox.train.targets._contract import DrawnLabels, PaddedVotes

TINY = 1e-30  # replaces 0 before a logarithm or division


@dataclass(frozen=True)
class AnnotMix(Head):
    """annot-mix: mixup of two tasks, of the workers of two votes and of the labels they gave.

    In every step one vote of each task is drawn and paired with a vote of another task of the batch. With c drawn from
    Beta(alpha, alpha) the net's input is x = c x_1 + (1 - c) x_2, the worker is e = c e_1 + (1 - c) e_2, e_j being the
    embedding of worker j, and the label is c times the first and (1 - c) times the second. A worker with the embedding e
    gives label l with probability sum_k f[k] A[k, l], where f are the net's probabilities for x and A = softmax(B + e M), by
    rows; B makes the initial accuracy of every worker `eta`. The loss is the cross-entropy of the mixed label, times the
    task's number of votes divided by the mean number. In the paper an epoch uses every vote, and A also depends on the task's
    features. Logits in training are those of mixtures and cannot be recorded; those after an epoch can (`record="after"`).

    Herde et al. (2024), https://doi.org/10.3233/FAIA240829
    """

    capturable: ClassVar[bool] = False  # not tested: the gamma sampler must draw new numbers at every replay of a graph

    alpha: float = option(
        1.0, "parameter of Beta(alpha, alpha), from which mixing weights are drawn; 0: no mixing", low=0
    )
    eta: float = option(0.9, "initial accuracy of every worker", low=0.01, high=0.99)
    embedding: int = option(128, "length of a worker's embedding", low=1)

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _AnnotMixModule(self, context)


class _AnnotMixModule(HeadModule):
    """Torch module of the head `annot-mix`."""

    def __init__(self, head: AnnotMix, context: HeadContext) -> None:
        super().__init__()
        votes, k, n = get_votes_with_workers_or_raise(context, head.name()), context.n_labels, context.n_workers
        self.head, self.context = head, context
        self.vote_scale = votes.n_tasks / float(votes.weights.sum())  # 1 / mean number of votes per task
        bound = 1 / math.sqrt(n)  # torch's initial range for a linear layer on the one-hot worker
        self.worker = WorkerTable(torch.empty(n, head.embedding).uniform_(-bound, bound))
        self.matrix = nn.Linear(head.embedding, k * k)
        diagonal = math.log(head.eta * max(k - 1, 1) / (1 - head.eta))  # its softmax with zeros beside it is eta
        self.matrix.bias = nn.Parameter(flat_identity_matrices(1, k, diagonal)[0])

    def transform_batch(self, x: Tensor, labels: DrawnLabels, rng: torch.Generator) -> tuple[Tensor, DrawnLabels]:
        """Return inputs mixed with those of other tasks, and two votes per mixture; InputError if inputs are integers."""
        assert isinstance(labels, PaddedVotes)
        if not x.is_floating_point():
            raise InputError(
                "annot-mix mixes inputs and therefore needs floats, not integers such as codes of words; give features as "
                "floats, such as x.astype(float)"
            )
        slot, total = _draw_vote_and_sum_vote_weights_per_task(labels, rng)  # (n,) each
        other = torch.rand(len(x), generator=rng, device=x.device).argsort(stable=True)
        share = self._draw_mixing_weights(x, rng)
        pair = [
            torch.stack([one, one[other]], 1)
            for one in (_select_column_per_row(labels.worker, slot), _select_column_per_row(labels.label, slot))
        ]
        weight = torch.stack([share, 1 - share], 1) * total[:, None] * self.vote_scale
        c = share.view(-1, *[1] * (x.ndim - 1))
        return c * x + (1 - c) * x[other], PaddedVotes(pair[0], pair[1], weight)

    def _draw_mixing_weights(self, x: Tensor, rng: torch.Generator) -> Tensor:
        """(n,) the random weight c of the first input in each mixture, from Beta(alpha, alpha)."""
        alpha = self.head.alpha
        if not alpha:
            return x.new_ones(len(x))
        if alpha >= 1:
            gamma = torch._standard_gamma(x.new_full((len(x), 2), alpha), generator=rng)
            return gamma[:, 0] / gamma.sum(1)
        # for alpha < 1 gamma variates may underflow; use logarithms and gamma(alpha) = gamma(alpha + 1) u^(1 / alpha)
        gamma = torch._standard_gamma(x.new_full((len(x), 2), alpha + 1), generator=rng)
        u = torch.rand((len(x), 2), generator=rng, device=x.device).clamp(min=TINY)
        return (gamma.log() + u.log() / max(alpha, TINY)).softmax(1)[:, 0]

    def forward(self, logits: Tensor, labelled_batch: Batch) -> Tensor:
        votes, k = get_padded_votes_or_raise(labelled_batch), self.context.n_labels
        share = votes.weight / votes.weight.sum(1, keepdim=True)  # (n, 2)
        worker = (share[..., None] * self.worker.take_rows_ignoring_padding_gradient(votes.worker, votes.weight)).sum(1)
        matrix = self.matrix(worker).unflatten(-1, (k, k)).log_softmax(-1)  # (n, true label, given label)
        log_prob = (logits.log_softmax(1)[..., None] + matrix).logsumexp(1)  # (n, given label)
        return -(votes.weight * log_prob.gather(1, votes.label)).sum(1)

    def make_fit_with_worker_estimates(self, predictions: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del x, logits
        k = self.context.n_labels
        return make_fit_from_confusion_logits(
            self.head.spec, predictions, self.context, self.matrix(self.worker.table).detach().unflatten(-1, (k, k))
        )


def _draw_vote_and_sum_vote_weights_per_task(votes: PaddedVotes, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return (n,) the index of a random vote of each task, drawn by weight, and (n,) the total weight of its votes."""
    cumulative = votes.weight.cumsum(1)
    total = cumulative[:, -1]
    threshold = torch.rand(len(total), generator=rng, device=total.device) * total
    slot = (cumulative <= threshold[:, None]).sum(1)
    index = torch.arange(votes.weight.shape[1], device=total.device)
    last = ((votes.weight > 0) * index).amax(1)  # rounding must not select padding
    return torch.minimum(slot, last), total


def _select_column_per_row(table: Tensor, column: Tensor) -> Tensor:
    """(n,) the value in column `column[i]` of each row i of `table`."""
    return table.gather(1, column[:, None])[:, 0]
