"""Loss `soft-cross-entropy`: cross-entropy against a target distribution."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import cross_entropy

from plurivox.train.losses._contract import LogLoss


@dataclass(frozen=True)
class SoftCrossEntropy(LogLoss):
    """Cross-entropy of the net's prediction against a target distribution.

    -sum_k p_k log q_k, where p is the target and q the softmax of the logits. Its gradient is that of KL(p || q).

    Uma et al. (2020), eq. 2, https://doi.org/10.1609/hcomp.v8i1.7478

    >>> import torch
    >>> SoftCrossEntropy(base=2)(torch.zeros(1, 4), torch.tensor([[.5, .5, 0, 0]]))
    tensor([2.])
    """

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        return self.convert_nats_to_option_base(cross_entropy(logits, target, reduction="none"))
