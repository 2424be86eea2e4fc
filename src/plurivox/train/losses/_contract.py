"""Base classes of losses."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor

from plurivox.core.method import Method, option
from plurivox.core.registry import Methods

__all__ = ["LogLoss", "Loss", "methods"]


@dataclass(frozen=True)
class Loss(Method, ABC):
    """The loss of logits against a target distribution, per example; base class.

    It is finite for target probabilities of 0. The caller takes the mean over a batch.
    """

    @abstractmethod
    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        """(n,) the loss of each example, from logits (n, n_labels) and target probabilities (n, n_labels)."""


@dataclass(frozen=True)
class LogLoss(Loss, ABC):
    """Base class of losses made of logarithms; the option `base` sets the unit, and so the weight in a sum of losses."""

    base: float | None = option(None, "base of the logarithms in the loss, such as 2; none: e", low=1.0001)

    def convert_nats_to_option_base(self, losses_in_nats: Tensor) -> Tensor:
        """Return losses, given in nats, in the unit of the option `base`: divided by log(base)."""
        return losses_in_nats if self.base is None else losses_in_nats / math.log(self.base)


methods: Methods[Loss] = Methods(__package__, Loss)
