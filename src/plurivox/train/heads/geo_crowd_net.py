"""Head `geo-crowd-net`: a confusion matrix per worker with a log-determinant (volume) regulariser."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from plurivox.core.method import option
from plurivox.train.heads._contract import Head, HeadContext, HeadModule
from plurivox.train.heads._shared.confusion_head import ConfusionHead
from plurivox.train.heads._shared.vote_cross_entropy_and_fit_result import flat_identity_matrices
from plurivox.train.targets._contract import PaddedVotes

RIDGE = 1e-6  # added to the diagonal, so that the determinant is positive if a label is missing in the batch


@dataclass(frozen=True)
class GeoCrowdNet(Head):
    """Geo-CrowdNet: a confusion matrix per worker, with a regulariser that keeps a volume large.

    Worker j gives label l with probability sum_k f[k] A_j[k, l], where f are the net's probabilities and the rows of A_j the
    softmax of free parameters that start at `start` times the identity. The loss of a task is the summed cross-entropy of its
    votes, divided by the mean number of votes per task, minus `scale` times a log-determinant. Variant F: of the sum over
    tasks of f f', which is large if the net is certain about tasks of every label; the tasks are those of the batch. Variant
    W: of the sum over workers of A_j A_j', which is large if workers answer differently for every true label; it is
    estimated from the workers in the batch. Either one makes matrices and net identifiable where votes alone do not.

    Ibrahim, Nguyen & Fu (2023), https://doi.org/10.48550/arXiv.2306.03288
    """

    capturable: ClassVar[bool] = False  # the Cholesky routine may wait for the device or switch algorithms

    variant: Literal["F", "W"] = option(
        "F", "volume that is kept large: F of the net's predictions, W of the workers' matrices"
    )
    scale: float = option(1e-3, "weight of the volume (log-determinant) in the loss; 0: not used", low=0)
    start: float = option(1.0, "initial value on the diagonal of each worker's matrix, before the softmax")

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _GeoCrowdNetModule(self, context)


class _GeoCrowdNetModule(ConfusionHead):
    """Torch module of the head `geo-crowd-net`."""

    def __init__(self, head: GeoCrowdNet, context: HeadContext) -> None:
        super().__init__(head, context, flat_identity_matrices(context.n_workers, context.n_labels, head.start))
        self.head = head

    def penalty_added_to_task_loss(self, log_prob: Tensor, votes: PaddedVotes, log_confusion: Tensor) -> Tensor:
        """() the penalty of a batch: minus `scale` times the log-determinant of predictions (F) or confusion matrices (W)."""
        if self.head.variant == "F":
            prob = log_prob.exp().double()
            gram = prob.T @ prob
        else:
            weighted = (
                log_confusion.exp()
                * (self.vote_factors_of_equal_sum_per_worker(votes) / len(log_confusion)).sqrt()[..., None, None]
            )
            rows = weighted.double().movedim(-2, 0).flatten(1)  # (true, n * max_votes * said)
            gram = rows @ rows.T
        return -self.head.scale * _log_determinant_with_ridge(gram).to(log_confusion.dtype)


def _log_determinant_with_ridge(gram: Tensor) -> Tensor:
    """() the log-determinant of a Gram matrix in double precision: similar labels make it nearly singular."""
    ridge = RIDGE * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    factor, _ = torch.linalg.cholesky_ex(gram + ridge)  # does not wait for the device
    return 2 * factor.diagonal().log().sum()
