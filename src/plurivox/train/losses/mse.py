"""Loss `mse`: mean squared difference of probabilities."""

from dataclasses import dataclass

from torch import Tensor

from plurivox.train.losses._contract import Loss


@dataclass(frozen=True)
class MSE(Loss):
    """Mean squared difference of predicted and target probabilities.

    (1 / K) sum_k (p_k - q_k)^2, where p is the target and q the softmax of the logits: the Brier score divided by K.

    Uma et al. (2021), section 4, https://doi.org/10.1613/jair.1.12752

    >>> import torch
    >>> MSE()(torch.zeros(1, 2), torch.tensor([[1., 0.]]))
    tensor([0.2500])
    """

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        return (logits.softmax(1) - target).square().mean(1)
