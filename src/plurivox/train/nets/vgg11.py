"""Net `vgg11`: VGG-11 for small images."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from plurivox.core.method import option
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.pixel_normalisation import (
    NORMALISE_HELP,
    Normalisation,
    NormalisePixels,
    get_channels_height_width_or_raise,
)
from plurivox.train.nets._shared.trunk_head import TrunkHeadNet, linear_head_factory
from plurivox.train.nets._shared.vgg_layers import VGG11 as PLAN
from plurivox.train.nets._shared.vgg_layers import GlobalMean, make_vgg_convolutions_and_poolings


@dataclass(frozen=True)
class VGG11(Net):
    """VGG-11 with batch normalisation and one linear layer, for images of 32 x 32.

    Eight 3 x 3 convolutions and five poolings reduce 32 x 32 pixels to 512 features; a linear layer outputs the logits.
    Simonyan and Zisserman (2015), https://arxiv.org/abs/1409.1556; Collins et al. (2022) train it from scratch on CIFAR-10.

    >>> VGG11().build((3, 32, 32), n_labels=10).head
    Linear(in_features=512, out_features=10, bias=True)
    """

    width: int = option(64, "channels of the first convolution; the last ones have eight times as many", low=1)
    batch_norm: bool = option(True, "batch normalisation after each convolution")
    normalise: Normalisation = option("cifar10", NORMALISE_HELP)

    example: ClassVar[tuple[int, ...]] = (3, 32, 32)
    small: ClassVar[dict[str, object]] = {"width": 2}

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        channels, _, _ = get_channels_height_width_or_raise(shape, self.name(), self.normalise, min_pixels=32)
        layers = make_vgg_convolutions_and_poolings(PLAN, channels, self.width, self.batch_norm)
        return TrunkHeadNet(
            nn.Sequential(NormalisePixels(self.normalise), layers, GlobalMean()),
            linear_head_factory(8 * self.width),
            n_labels,
        )
