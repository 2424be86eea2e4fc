"""Net `linear`: one linear layer."""

import math
from dataclasses import dataclass
from typing import ClassVar

from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.trunk_head import FlattenToFloat, TrunkHeadNet, linear_head_factory


@dataclass(frozen=True)
class Linear(Net):
    """One linear layer: multinomial logistic regression.

    logits = W x + b, with x flattened.

    >>> Linear().build((2, 3), n_labels=4).head
    Linear(in_features=6, out_features=4, bias=True)
    """

    example: ClassVar[tuple[int, ...]] = (6,)
    dense: ClassVar[bool] = True

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        return TrunkHeadNet(FlattenToFloat(), linear_head_factory(math.prod(shape)), n_labels)
