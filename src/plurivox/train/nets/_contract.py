"""What every net is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import nn

from plurivox.core.method import Method
from plurivox.core.registry import Methods

__all__ = ["Net", "methods"]


@dataclass(frozen=True)
class Net(Method, ABC):
    """A network by its name and options; its weights come from torch's generator, which the caller has seeded."""

    @abstractmethod
    def build(self, shape: tuple[int, ...], n_labels: int) -> nn.Module:
        """A module that turns inputs (n, *shape) into logits (n, n_labels); never probabilities."""


methods: Methods[Net] = Methods(__package__, Net)
