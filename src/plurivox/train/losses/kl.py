"""How far the net's belief is from the target, as Kullback and Leibler measure it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from plurivox.train.losses._contract import LogLoss


@dataclass(frozen=True)
class KL(LogLoss):
    """Kullback-Leibler divergence of the net's belief from the target, KL(p || q).

    sum_k p_k (log p_k - log q_k), where p is the target and q the softmax of the logits; 0 log 0 is 0. It is large
    where the target has mass that the net denies.

    Fornaciari et al. (2021), eq. 2, https://doi.org/10.18653/v1/2021.naacl-main.204

    >>> KL(base=2)(torch.zeros(1, 2), torch.tensor([[1., 0.]]))
    tensor([1.])
    """

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        return self.scaled((torch.xlogy(target, target) - target * logits.log_softmax(1)).sum(1))
