"""TrunkHeadNet: a trunk (inputs to features) with a head (features to logits); and layers that trunks are made of."""

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


class TrunkHeadNet(nn.Module):
    """A net of a trunk, which maps inputs to features (n, width), and a head, which maps features to logits (n, n_labels).

    `make_head(n_labels)` makes another head for the same trunk, with new weights. A frozen trunk keeps its weights and
    running means, and no gradients are computed below the head.

    >>> import torch
    >>> net = TrunkHeadNet(nn.Flatten(), partial(nn.Linear, 6), n_labels=3)
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
        """(n, width) the features that the trunk computes from the inputs."""
        found: Tensor = self.trunk(x)
        return found

    def forward(self, x: Tensor) -> Tensor:
        """(n, n_labels) the logits for inputs x (n, ...)."""
        logits: Tensor = self.head(self.features(x))
        return logits

    def train(self, mode: bool = True) -> Self:
        """Set training or evaluation mode; a frozen trunk stays in evaluation mode."""
        super().train(mode)
        if self.freeze:
            self.trunk.eval()
        return self


def linear_head_factory(n_features: int) -> Callable[[int], nn.Module]:
    """Return a function n_labels -> linear layer on features of this width; unlike a lambda it can be pickled."""
    return partial(nn.Linear, n_features)


class FreezableTrunk(nn.Module):
    """Trunk of a net: a base, which may be frozen, followed by trainable layers."""

    def __init__(self, base: nn.Module, layers: nn.Module, freeze: bool):
        super().__init__()
        self.see, self.learn, self.freeze = base, layers, freeze  # the attribute names are keys of saved weights

    def forward(self, trunk_input: Tensor) -> Tensor:
        found: Tensor = self.learn(self.see(trunk_input))
        return found

    def train(self, mode: bool = True) -> Self:
        """Set training or evaluation mode; a frozen base stays in evaluation mode."""
        super().train(mode)
        if self.freeze:
            self.see.eval()
        return self


# ---- dense layers


class FlattenToFloat(nn.Flatten):
    """Layer that flattens inputs to (n, width) floats; integers are converted."""

    def forward(self, inputs_to_flatten: Tensor) -> Tensor:
        flat: Tensor = super().forward(inputs_to_flatten)
        return flat if flat.is_floating_point() else flat.float()


def parse_widths(comma_separated: str, net_name: str) -> list[int]:
    """Parse layer widths such as "256,64"; an empty text gives an empty list; OptionError otherwise.

    >>> parse_widths("256,64", "mlp")
    [256, 64]
    """
    parts = [part.strip() for part in comma_separated.split(",") if part.strip()]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise OptionError(f"{net_name}: hidden lists whole numbers above 0, such as 256,64; got {comma_separated!r}")
    return [int(part) for part in parts]


def make_dense_layers(n_in: int, widths: list[int], activation: str, dropout: float) -> nn.Sequential:
    """Return a list of layers: for every width a linear layer, an activation and (if `dropout` is not 0) dropout."""
    layers: list[nn.Module] = []
    for before, after in zip([n_in, *widths], widths, strict=False):
        layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
        if dropout:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers)
