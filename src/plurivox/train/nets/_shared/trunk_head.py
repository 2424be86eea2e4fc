"""Headed: a trunk and a head on it, which is what every net is."""

from collections.abc import Callable
from functools import partial
from typing import Self

from torch import Tensor, nn


class Headed(nn.Module):
    """A trunk that turns inputs into features (n, width), and a head that turns features into logits (n, n_labels).

    `make_head(n_labels)` makes another head for the same trunk, with weights of its own. A frozen trunk keeps its weights
    and its running means, and no gradients are computed below the head.

    >>> import torch
    >>> net = Headed(nn.Flatten(), partial(nn.Linear, 6), n_labels=3)
    >>> net(torch.zeros(4, 2, 3)).shape, net.features(torch.zeros(4, 2, 3)).shape
    (torch.Size([4, 3]), torch.Size([4, 6]))
    >>> net.make_head(5)
    Linear(in_features=6, out_features=5, bias=True)
    """

    def __init__(self, trunk: nn.Module, make_head: Callable[[int], nn.Module], n_labels: int, freeze: bool = False):
        super().__init__()
        self.trunk = trunk
        self.make_head = make_head
        self.head = make_head(n_labels)
        self.freeze = freeze
        if freeze:
            trunk.requires_grad_(False)

    def features(self, x: Tensor) -> Tensor:
        """(n, width) what the trunk sees in the inputs."""
        found: Tensor = self.trunk(x)
        return found

    def forward(self, x: Tensor) -> Tensor:
        """(n, n_labels) logits."""
        logits: Tensor = self.head(self.features(x))
        return logits

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        if self.freeze:
            self.trunk.eval()
        return self


def linear_head(width: int) -> Callable[[int], nn.Module]:
    """What makes a plain linear head on features of this width; unlike a lambda it can be copied and pickled."""
    return partial(nn.Linear, width)


class Trunk(nn.Module):
    """Two parts of a trunk: what sees, perhaps frozen, and what learns upon it."""

    def __init__(self, see: nn.Module, learn: nn.Module, freeze: bool):
        super().__init__()
        self.see, self.learn, self.freeze = see, learn, freeze

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.learn(self.see(x))
        return found

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        if self.freeze:
            self.see.eval()
        return self
