"""Head `trace-regularised`: a confusion matrix per worker with a penalty on its trace."""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import softplus

from plurivox.core.method import option
from plurivox.train.heads._contract import Head, HeadContext, HeadModule
from plurivox.train.heads._shared.confusion_head import ConfusionHead
from plurivox.train.heads._shared.vote_cross_entropy_and_fit_result import flat_identity_matrices
from plurivox.train.targets._contract import PaddedVotes

TINY = 1e-30  # added to softplus so that its logarithm is finite


@dataclass(frozen=True)
class TraceRegularised(Head):
    """A confusion matrix per worker, with a penalty on its trace.

    Worker j gives label l with probability sum_k f[k] A_j[k, l], where f are the net's probabilities. The loss of a task is
    the summed cross-entropy of its votes, divided by the mean number of votes per task, **plus** `scale` times the mean trace
    of the workers' matrices. Many pairs of net and matrices explain the votes equally well; if workers are right more often
    than wrong, the pair with the smallest trace is the true one. The matrices start near the identity: A_j = softplus(W_j),
    rows divided by their sums, W_j = 6 I - 5. Each batch adds its share of the trace, from the workers in the batch.

    Tanno et al. (2019), https://doi.org/10.1109/CVPR.2019.01150
    """

    scale: float = option(
        0.01, "weight of the penalty on the mean trace of the workers' confusion matrices; 0: no penalty", low=0
    )

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _TraceRegularisedModule(self, context)


class _TraceRegularisedModule(ConfusionHead):
    """Torch module of the head `trace-regularised`."""

    def __init__(self, head: TraceRegularised, context: HeadContext) -> None:
        super().__init__(head, context, flat_identity_matrices(context.n_workers, context.n_labels, 6.0) - 5.0)
        self.penalty_scale = head.scale

    def log_confusion_from_parameters(self, parameters: Tensor) -> Tensor:
        """(..., true label, given label) the logarithms of confusion matrices: softplus(parameters), each row normalised."""
        positive = softplus(parameters) + TINY
        return positive.log() - positive.sum(-1, keepdim=True).log()

    def penalty_added_to_task_loss(self, log_prob: Tensor, votes: PaddedVotes, log_confusion: Tensor) -> Tensor:
        """(n,) the penalty on the trace of the workers' confusion matrices that is added to the loss of each task."""
        del log_prob
        trace = log_confusion.diagonal(dim1=-2, dim2=-1).exp().sum(-1)  # (n, max_votes)
        return (
            self.penalty_scale
            / self.n_active_workers
            * (self.vote_factors_of_equal_sum_per_worker(votes) * trace).sum(1)
        )
