"""Dense nets: their layers, and wrong lists of widths."""

import pytest
import torch
from torch import nn

from plurivox.core.errors import OptionError
from plurivox.train.nets import MLP, LabelMeHead
from plurivox.train.nets._shared.trunk_head import FlattenToFloat


def test_layers_are_those_of_the_options() -> None:
    kinds = [type(one) for one in MLP(hidden="5,4", activation="gelu", dropout=0.1).build((6,), 2).trunk]
    assert kinds == [FlattenToFloat, nn.Linear, nn.GELU, nn.Dropout, nn.Linear, nn.GELU, nn.Dropout]
    uma = LabelMeHead(activation="leaky-relu", dropout=0.2).build((512, 4, 4), 8)
    assert [type(one) for one in uma.trunk] == [FlattenToFloat, nn.Linear, nn.LeakyReLU, nn.Dropout] and uma.trunk[
        3
    ].p == 0.2


def test_no_hidden_layer_is_a_linear_net() -> None:
    assert MLP(hidden="").build((6,), 2)(torch.ones(1, 6)).shape == (1, 2)


@pytest.mark.parametrize("hidden", ["a", "12,-3", "0", "1.5"])
def test_widths_are_whole_numbers(hidden: str) -> None:
    with pytest.raises(OptionError, match="whole numbers above 0"):
        MLP(hidden=hidden).build((6,), 2)
