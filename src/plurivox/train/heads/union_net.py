"""All that was said of a task as one distribution over workers and labels."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn
from torch.nn.functional import embedding

from plurivox.core.method import option
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.worker_votes import fit_of, identity, said_in, votes_of


@dataclass(frozen=True)
class UnionNet(Head):
    """UnionNet: all votes of a task as one distribution over pairs of a worker and a label, made by one matrix.

    The matrix T has a row for every label that may be so and a column for every pair (worker, label said). With f the net's
    probabilities, what is said of a task is distributed as softmax(f T) in variant A and as f softmax(T), rows made to sum to
    one, in variant B; the softmax goes over all pairs, so that workers share one sum, and who speaks counts as well as what
    is said. The loss of a task is the cross-entropy of its votes added up, over the mean number of votes of a task (the
    authors' code for B divides by the task's own number). T begins as `start` times the identity for every worker. Since every
    pair enters the sum, a step goes over all workers, whoever is in the batch. In the fit, row k of a worker's matrix is the
    softmax of its own part of row k.

    Wei et al. (2022), https://doi.org/10.1109/TNNLS.2022.3168696
    """

    variant: Literal["A", "B"] = option("B", "where the softmax stands: A behind the matrix, B on the matrix itself")
    start: float = option(1.0, "what the matrix has where a worker says what is so, at the start, before the softmax")

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _Union(self, context)


class _Union(HeadModule):
    def __init__(self, head: UnionNet, context: HeadContext) -> None:
        super().__init__()
        votes, k = votes_of(context, head.name()), context.n_labels
        self.head, self.context, self.share = head, context, votes.n_tasks / float(votes.weights.sum())
        self.matrix = nn.Parameter(identity(1, k, head.start).view(k, k).repeat(1, context.n_workers))  # (true, pairs)

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        said = said_in(batch)
        pair = said.worker * self.context.n_labels + said.label  # (n, most)
        if self.head.variant == "A":
            spoken = (logits.softmax(1) @ self.matrix).log_softmax(1).gather(1, pair)
        else:
            heard = embedding(pair, self.matrix.log_softmax(1).T)  # (n, most, true)
            spoken = (logits.log_softmax(1)[:, None] + heard).logsumexp(-1)
        return -(said.weight * spoken).sum(1) * self.share

    def fit_result(self, soft: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del x, logits
        k = self.context.n_labels
        return fit_of(self.head.spec, soft, self.context, self.matrix.detach().unflatten(1, (-1, k)).transpose(0, 1))
