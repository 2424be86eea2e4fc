"""A matrix of probabilities for every worker, and room for all labels in what the net believes or in what workers say."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from plurivox.core.method import option
from plurivox.train.heads._contract import Head, HeadContext, HeadModule
from plurivox.train.heads._shared.confusion_head import Confusing
from plurivox.train.heads._shared.worker_votes import identity
from plurivox.train.targets._contract import PaddedVotes

RIDGE = 1e-6  # on the diagonal: a batch in which a label is missing has a determinant too


@dataclass(frozen=True)
class GeoCrowdNet(Head):
    """Geo-CrowdNet: a matrix of probabilities for every worker, and a volume to be kept large.

    Worker j says l of a task with probability sum over k of f[k] A_j[k, l], where f are the net's probabilities and the rows
    of A_j the softmax of free numbers that begin at `start` times the identity. The loss of a task is the cross-entropy of
    its votes added up, over the mean number of votes of a task, less `scale` times a logarithm of a determinant. F: of
    sum over tasks of f f', which is large where the net is certain of tasks of every label; the tasks are those of the batch.
    W: of sum over workers of A_j A_j', which is large where every label makes workers say something else; a batch stands for
    the sum by an even share of its own workers. Either one makes matrices and net identifiable where votes alone do not.

    Ibrahim, Nguyen & Fu (2023), https://doi.org/10.48550/arXiv.2306.03288
    """

    records: ClassVar[bool] = False  # the library behind cholesky may wait for the device, or choose anew

    variant: Literal["F", "W"] = option(
        "F", "whose volume is kept large: F of the net's beliefs, W of workers' matrices"
    )
    scale: float = option(1e-3, "how much the volume counts; 0: not at all", low=0)
    start: float = option(1.0, "what a matrix has on its diagonal at the start, before the softmax")

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _Wide(self, context)


class _Wide(Confusing):
    def __init__(self, head: GeoCrowdNet, context: HeadContext) -> None:
        super().__init__(head, context, identity(context.n_workers, context.n_labels, head.start))
        self.head = head

    def penalty(self, log_prob: Tensor, said: PaddedVotes, own: Tensor) -> Tensor:
        if self.head.variant == "F":
            certain = log_prob.exp().double()
            square = certain.T @ certain
        else:
            taken = own.exp() * (self.shares(said) / len(own)).sqrt()[..., None, None]
            wide = taken.double().movedim(-2, 0).flatten(1)  # (true, n * most * said)
            square = wide @ wide.T
        return -self.head.scale * _log_determinant(square).to(own.dtype)


def _log_determinant(square: Tensor) -> Tensor:
    """() of a matrix that is a sum of squares; in double precision, since labels that are alike make it nearly 0."""
    ridge = RIDGE * torch.eye(len(square), dtype=square.dtype, device=square.device)
    half, _ = torch.linalg.cholesky_ex(square + ridge)  # which does not wait for the device
    return 2 * half.diagonal().log().sum()
