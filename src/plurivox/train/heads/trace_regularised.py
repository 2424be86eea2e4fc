"""A matrix of probabilities for every worker, held to as little truth as the votes allow."""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import softplus

from plurivox.core.method import option
from plurivox.train.heads._contract import Head, HeadContext, HeadModule
from plurivox.train.heads._shared.confusion_head import Confusing
from plurivox.train.heads._shared.worker_votes import identity
from plurivox.train.targets._contract import PaddedVotes

TINY = 1e-30  # under the smallest softplus that has a logarithm


@dataclass(frozen=True)
class TraceRegularised(Head):
    """A matrix of probabilities for every worker, and a price on its trace: workers are trusted no more than they must be.

    Worker j says l of a task with probability sum over k of f[k] A_j[k, l], where f are the net's probabilities. The loss of
    a task is the cross-entropy of its votes added up, over the mean number of votes of a task, **plus** `scale` times the
    mean trace of the workers' matrices. Nets that know better than the crowd and crowds that know better than the net explain
    votes alike; of all explanations the least trace is the true one where workers are right more often than wrong. Hence the
    matrices begin near the identity: A_j = softplus(W_j), rows divided by their sums, W_j = 6 I - 5. A batch takes an even
    share of the trace, from its own workers.

    Tanno et al. (2019), https://doi.org/10.1109/CVPR.2019.01150
    """

    scale: float = option(0.01, "the price of the mean trace; 0: none", low=0)

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _Traced(self, context)


class _Traced(Confusing):
    def __init__(self, head: TraceRegularised, context: HeadContext) -> None:
        super().__init__(head, context, identity(context.n_workers, context.n_labels, 6.0) - 5.0)
        self.scale = head.scale

    def log_matrices(self, rows: Tensor) -> Tensor:
        positive = softplus(rows) + TINY
        return positive.log() - positive.sum(-1, keepdim=True).log()

    def penalty(self, log_prob: Tensor, said: PaddedVotes, own: Tensor) -> Tensor:
        del log_prob
        trace = own.diagonal(dim1=-2, dim2=-1).exp().sum(-1)  # (n, most)
        return self.scale / self.n_heard * (self.shares(said) * trace).sum(1)
