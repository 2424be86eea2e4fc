"""Loss `kl`: Kullback-Leibler divergence KL(target || prediction)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from plurivox.train.losses._contract import LogLoss


@dataclass(frozen=True)
class KL(LogLoss):
    """Kullback-Leibler divergence KL(p || q), with p the target and q the net's prediction.

    sum_k p_k (log p_k - log q_k), where q is the softmax of the logits; 0 log 0 is 0. It is large if the net gives little
    probability to a label that has much in the target.

    Fornaciari et al. (2021), eq. 1, https://doi.org/10.18653/v1/2021.naacl-main.204

    >>> KL(base=2)(torch.zeros(1, 2), torch.tensor([[1., 0.]]))
    tensor([1.])
    """

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        return self.convert_nats_to_option_base((torch.xlogy(target, target) - target * logits.log_softmax(1)).sum(1))
