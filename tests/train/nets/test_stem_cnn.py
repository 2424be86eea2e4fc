"""The stemming net."""

import pytest
import torch

from plurivox.core.errors import InputError, OptionError
from plurivox.train.nets import StemCNN


def test_words_have_separate_weights_and_share_the_letter_embedding() -> None:
    net = StemCNN(chars=9, width=5, channels=4, inner=6).build((12,), 2).eval()
    x = torch.tensor([[2, 3, 4, 0, 0, 0, 5, 6, 0, 0, 0, 0]])
    assert not torch.allclose(net(x), net(x.roll(6, 1)))
    assert net.features(x).shape == (1, 2 * 3 * 4)


def test_option_first_adds_a_convolution_below_the_others() -> None:
    net = StemCNN(chars=9, width=5, channels=4, inner=6, first=7).build((12,), 2)
    assert net.trunk.words[0].first.out_channels == 7 and net.trunk.words[0].windows[2].in_channels == 7
    assert net(torch.ones(2, 12, dtype=torch.int64)).shape == (2, 2)


def test_wrong_inputs_raise_errors() -> None:
    with pytest.raises(OptionError, match="number of letter codes"):
        StemCNN().build((12,), 2)
    for shape in ((11,), (8,), (3, 4, 4)):
        with pytest.raises(InputError, match="encode_pairs"):
            StemCNN(chars=9).build(shape, 2)
    for x in (torch.rand(2, 12), torch.full((2, 12), -1), torch.ones(2, 3, 4, dtype=torch.int64)):
        with pytest.raises(InputError, match="stem-cnn takes rows of integer codes"):
            StemCNN(chars=9).with_input_sizes(x)
