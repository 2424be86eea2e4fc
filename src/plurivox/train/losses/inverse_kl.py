"""Loss `inverse-kl`: Kullback-Leibler divergence KL(prediction || target)."""

from dataclasses import dataclass

from torch import Tensor

from plurivox.core.method import option
from plurivox.train.losses._contract import LogLoss


@dataclass(frozen=True)
class InverseKL(LogLoss):
    """Inverse Kullback-Leibler divergence KL(q || p), with p the target and q the net's prediction.

    sum_k q_k (log q_k - log p_k), where q is the softmax of the logits. It is large if the net gives probability to a label
    that has little in the target; a target of 0 is replaced by `floor`, else the loss would be infinite.

    Fornaciari et al. (2021), eq. 2, https://doi.org/10.18653/v1/2021.naacl-main.204

    >>> import torch
    >>> InverseKL(base=2)(torch.zeros(1, 2), torch.tensor([[.5, .5]]))
    tensor([0.])
    """

    floor: float = option(1e-6, "smallest target probability; smaller ones are raised to it", low=1e-30, high=0.1)

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        log_q = logits.log_softmax(1)
        return self.convert_nats_to_option_base((log_q.exp() * (log_q - target.clamp(min=self.floor).log())).sum(1))
