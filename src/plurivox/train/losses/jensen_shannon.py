"""Loss `jensen-shannon`: Jensen-Shannon divergence of prediction and target."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from plurivox.train.losses._contract import LogLoss


@dataclass(frozen=True)
class JensenShannon(LogLoss):
    """Jensen-Shannon divergence of the target and the net's prediction.

    1/2 KL(p || m) + 1/2 KL(q || m) with m = (p + q) / 2, where p is the target and q the softmax of the logits; between
    0 and log 2. It is the divergence, not its square root.

    Lin (1991), https://doi.org/10.1109/18.61115

    >>> JensenShannon(base=2)(torch.tensor([[200., 0.]]), torch.tensor([[0., 1.]]))
    tensor([1.])
    """

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        log_q = logits.log_softmax(1)
        log_p = target.clamp(min=torch.finfo(target.dtype).tiny).log()
        log_m = torch.logaddexp(log_p, log_q) - math.log(2)
        return self.convert_nats_to_option_base((target * (log_p - log_m) + log_q.exp() * (log_q - log_m)).sum(1) / 2)
