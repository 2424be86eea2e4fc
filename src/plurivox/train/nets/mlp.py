"""Net `mlp`: multi-layer perceptron."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from torch import nn

from plurivox.core.method import option
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.trunk_head import (
    Activation,
    FlattenToFloat,
    TrunkHeadNet,
    linear_head_factory,
    make_dense_layers,
    parse_widths,
)


@dataclass(frozen=True)
class MLP(Net):
    """Multi-layer perceptron: dense layers with an activation between them.

    h_0 = x, h_i = dropout(activation(W_i h_(i-1) + b_i)), logits = W h + b.

    >>> MLP(hidden="64,32").build((10,), n_labels=3).head
    Linear(in_features=32, out_features=3, bias=True)
    """

    hidden: str = option("128", "widths of the hidden layers, separated by commas")
    activation: Activation = option("relu", "activation of the hidden layers")
    dropout: float = option(0.0, "dropout: share of a hidden layer's outputs set to zero in training", low=0, high=0.99)

    example: ClassVar[tuple[int, ...]] = (6,)
    dense: ClassVar[bool] = True

    @cached_property
    def hidden_widths(self) -> list[int]:
        """Widths of the hidden layers, parsed from the option `hidden`."""
        return parse_widths(self.hidden, self.name())

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        n_in = math.prod(shape)
        trunk = nn.Sequential(
            FlattenToFloat(), *make_dense_layers(n_in, self.hidden_widths, self.activation, self.dropout)
        )
        return TrunkHeadNet(trunk, linear_head_factory([n_in, *self.hidden_widths][-1]), n_labels)
