"""VGG-11 for small images."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from plurivox.core.method import option
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.pixels import Pixels, Scale, image_shape
from plurivox.train.nets._shared.trunk_head import Headed, linear_head
from plurivox.train.nets._shared.vgg_layers import VGG11 as PLAN
from plurivox.train.nets._shared.vgg_layers import GlobalMean, convolutions


@dataclass(frozen=True)
class VGG11(Net):
    """VGG-11 with batch normalisation and one linear layer, for images of 32 x 32.

    Eight 3 x 3 convolutions and five poolings bring 32 x 32 pixels to 512 features; a linear layer gives the logits.
    Simonyan and Zisserman (2015), https://arxiv.org/abs/1409.1556; Collins et al. (2022) train it from scratch on CIFAR-10.

    >>> VGG11().build((3, 32, 32), n_labels=10).head
    Linear(in_features=512, out_features=10, bias=True)
    """

    width: int = option(64, "channels of the first convolution; the last ones have eight times as many", low=1)
    batch_norm: bool = option(True, "batch normalisation after each convolution")
    normalise: Scale = option("cifar10", "mean and spread that pixels from 0 to 1 are brought to zero and one by")

    example: ClassVar[tuple[int, ...]] = (3, 32, 32)
    small: ClassVar[dict[str, object]] = {"width": 2}

    def build(self, shape: tuple[int, ...], n_labels: int) -> Headed:
        channels, _, _ = image_shape(shape, self.name(), self.normalise, least=32)
        layers = convolutions(PLAN, channels, self.width, self.batch_norm)
        return Headed(
            nn.Sequential(Pixels(self.normalise), layers, GlobalMean()), linear_head(8 * self.width), n_labels
        )
