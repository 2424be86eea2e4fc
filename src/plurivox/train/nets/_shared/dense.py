"""Dense layers one upon the other."""

from typing import Literal

from torch import Tensor, nn

from plurivox.core.errors import OptionError

Activation = Literal["relu", "leaky-relu", "gelu", "tanh"]
ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "leaky-relu": nn.LeakyReLU,
    "gelu": nn.GELU,
    "tanh": nn.Tanh,
}


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
