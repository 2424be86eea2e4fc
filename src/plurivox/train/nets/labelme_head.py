"""Net `labelme-head`: the classifier of the LabelMe papers on features of a frozen VGG-16."""

import math
from dataclasses import dataclass
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
)


@dataclass(frozen=True)
class LabelMeHead(Net):
    """One hidden layer of 128 units with dropout, on precomputed features: the classifier used for LabelMe.

    Rodrigues and Pereira (2018), https://doi.org/10.1609/aaai.v32i1.11506, train it on the 8,192 convolutional features of
    VGG-16 with ReLU and dropout .5. Uma et al. (2020), https://doi.org/10.1609/hcomp.v8i1.7478, use leaky ReLU and .2:
    `labelme-head[activation=leaky-relu,dropout=.2]`. The outputs are logits: a softmax inside the net, as in peerannot,
    would be applied twice by a loss on logits.

    >>> LabelMeHead().build((8192,), n_labels=8).head
    Linear(in_features=128, out_features=8, bias=True)
    """

    hidden: int = option(128, "number of hidden units", low=1)
    activation: Activation = option("relu", "activation of the hidden layer")
    dropout: float = option(
        0.5, "dropout: share of the hidden layer's outputs set to zero in training", low=0, high=0.99
    )

    example: ClassVar[tuple[int, ...]] = (6,)
    dense: ClassVar[bool] = True

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        trunk = nn.Sequential(
            FlattenToFloat(), *make_dense_layers(math.prod(shape), [self.hidden], self.activation, self.dropout)
        )
        return TrunkHeadNet(trunk, linear_head_factory(self.hidden), n_labels)
