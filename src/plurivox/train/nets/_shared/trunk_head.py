"""Headed: a trunk and a head on it, which is what every net is; and the dense layers that trunks are made of."""

from collections.abc import Callable
from functools import partial
from typing import Literal, Self

from torch import Tensor, nn

from plurivox.core.errors import OptionError

Activation = Literal["relu", "leaky-relu", "gelu", "tanh"]
ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "leaky-relu": nn.LeakyReLU,
    "gelu": nn.GELU,
    "tanh": nn.Tanh,
}


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


# ---- dense layers


class Numbers(nn.Flatten):
    """Inputs as one row of numbers each; whole numbers are features here, not codes."""

    def forward(self, x: Tensor) -> Tensor:
        flat: Tensor = super().forward(x)
        return flat if flat.is_floating_point() else flat.float()


def widths_of(text: str, whose: str) -> list[int]:
    """The widths that a text such as "256,64" lists; an empty text lists none.

    >>> widths_of("256,64", "mlp")
    [256, 64]
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise OptionError(f"{whose}: hidden lists whole numbers above 0, such as 256,64; got {text!r}")
    return [int(part) for part in parts]


def dense_layers(n_in: int, widths: list[int], activation: str, dropout: float) -> nn.Sequential:
    """Linear, activation, dropout for every width; the dropout is there only where it does something."""
    layers: list[nn.Module] = []
    for before, after in zip([n_in, *widths], widths, strict=False):
        layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
        if dropout:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers)
