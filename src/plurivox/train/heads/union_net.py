"""Head `union-net`: the votes of a task as one distribution over pairs of worker and label."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn
from torch.nn.functional import embedding

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


@dataclass(frozen=True)
class UnionNet(Head):
    """UnionNet: one matrix maps the net's output to a distribution over all pairs of worker and label.

    The matrix T has a row per true label and a column per pair (worker, label given). With f the net's probabilities, the
    votes of a task are distributed as softmax(f T) in variant A and as f softmax(T), rows normalised to sum to one, in
    variant B; the softmax goes over all pairs, so that the probability covers the worker as well as the label. The loss of a
    task is the summed cross-entropy of its votes, divided by the mean number of votes per task (the authors' code for B
    divides by the number of votes of that task). T starts as `start` times the identity for every worker. Since every pair
    enters the softmax, each step updates all workers, not only those in the batch. In the fit, row k of a worker's matrix is
    the softmax of the worker's part of row k.

    Wei et al. (2022), https://doi.org/10.1109/TNNLS.2022.3168696
    """

    variant: Literal["A", "B"] = option(
        "B", "softmax is applied A to the product of net output and matrix, or B to the matrix itself"
    )
    start: float = option(1.0, "initial matrix entry, before the softmax, where a worker gives the true label")

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _UnionNetModule(self, context)


class _UnionNetModule(HeadModule):
    """Torch module of the head `union-net`."""

    def __init__(self, head: UnionNet, context: HeadContext) -> None:
        super().__init__()
        votes, k = get_votes_with_workers_or_raise(context, head.name()), context.n_labels
        self.head, self.context = head, context
        self.vote_scale = votes.n_tasks / float(votes.weights.sum())  # 1 / mean number of votes per task
        start = flat_identity_matrices(1, k, head.start).view(k, k)
        self.matrix = nn.Parameter(start.repeat(1, context.n_workers))  # (true, n_workers * said)

    def forward(self, logits: Tensor, labelled_batch: Batch) -> Tensor:
        votes = get_padded_votes_or_raise(labelled_batch)
        pair = votes.worker * self.context.n_labels + votes.label  # (n, max_votes)
        if self.head.variant == "A":
            log_prob = (logits.softmax(1) @ self.matrix).log_softmax(1).gather(1, pair)
        else:
            log_vote = embedding(pair, self.matrix.log_softmax(1).T)  # (n, max_votes, true)
            log_prob = (logits.log_softmax(1)[:, None] + log_vote).logsumexp(-1)
        return -(votes.weight * log_prob).sum(1) * self.vote_scale

    def make_fit_with_worker_estimates(self, predictions: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del x, logits
        k = self.context.n_labels
        return make_fit_from_confusion_logits(
            self.head.spec, predictions, self.context, self.matrix.detach().unflatten(1, (-1, k)).transpose(0, 1)
        )
