"""What every loss is."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor

from plurivox.core.method import Method, option
from plurivox.core.registry import Methods

__all__ = ["LogLoss", "Loss", "methods"]


@dataclass(frozen=True)
class Loss(Method, ABC):
    """How far logits are from a distribution: one number an example, finite for zeros. Whoever trains averages."""

    @abstractmethod
    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        """(n,) for logits (n, n_labels) and rows of probabilities (n, n_labels)."""


@dataclass(frozen=True)
class LogLoss(Loss, ABC):
    """A loss made of logarithms; their base sets its weight beside another loss."""

    base: float | None = option(None, "base of the logarithm, such as 2; none: e", low=1.0001)

    def scaled(self, nats: Tensor) -> Tensor:
        """Nats in the unit of the base."""
        return nats if self.base is None else nats / math.log(self.base)


methods: Methods[Loss] = Methods(__package__, Loss)
