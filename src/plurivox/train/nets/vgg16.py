"""VGG-16 on images."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from torch import nn

from plurivox.core.method import option
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.pixels import Pixels, Scale, image_shape
from plurivox.train.nets._shared.pretrained import load_weights, read_weights
from plurivox.train.nets._shared.trunk_head import Headed, Trunk, dense_layers, linear_head, widths_of
from plurivox.train.nets._shared.vgg_layers import VGG16 as PLAN
from plurivox.train.nets._shared.vgg_layers import convolutions


@dataclass(frozen=True)
class VGG16(Net):
    """VGG-16 convolutions and two dense layers on images.

    Thirteen 3 x 3 convolutions and five poolings, then dense layers with ReLU and dropout. With weights of ImageNet that
    stay as they are (`pretrained`, `freeze`) it is the LabelMe net of Rodrigues and Pereira (2018) and of peerannot;
    `hidden=4096,4096` is the classifier of Simonyan and Zisserman (2015), https://arxiv.org/abs/1409.1556. The last layer
    gives logits: there is no softmax to be taken twice.

    >>> VGG16(hidden="16").build((3, 64, 64), n_labels=8).head
    Linear(in_features=16, out_features=8, bias=True)
    """

    hidden: str = option("128", "widths of the dense layers before the last, with commas between them")
    dropout: float = option(0.5, "share of a dense layer's outputs set to zero in training", low=0, high=0.99)
    width: int = option(64, "channels of the first convolution; the last ones have eight times as many", low=1)
    batch_norm: bool = option(False, "batch normalisation after each convolution; peerannot has it")
    pretrained: str = option("", "file of weights for the convolutions, named as torchvision names them")
    freeze: bool = option(False, "leave the convolutions as they are and train the dense layers alone")
    image_size: int = option(0, "resize images to this many pixels a side; 0: as they are", low=0)
    normalise: Scale = option("imagenet", "mean and spread that pixels from 0 to 1 are brought to zero and one by")

    example: ClassVar[tuple[int, ...]] = (3, 32, 32)
    small: ClassVar[dict[str, object]] = {"hidden": "8", "width": 2}

    @cached_property
    def widths(self) -> list[int]:
        """The widths of the dense layers before the last."""
        return widths_of(self.hidden, self.name())

    def build(self, shape: tuple[int, ...], n_labels: int) -> Headed:
        channels, high, wide = image_shape(shape, self.name(), self.normalise, least=0 if self.image_size else 32)
        if self.image_size:
            high = wide = self.image_size
        see = nn.Sequential(
            Pixels(self.normalise, self.image_size), convolutions(PLAN, channels, self.width, self.batch_norm)
        )
        if self.freeze:
            see.requires_grad_(False)
        flat = 8 * self.width * (high // 32) * (wide // 32)
        dense = dense_layers(flat, self.widths, "relu", self.dropout)
        trunk = Trunk(see, nn.Sequential(nn.Flatten(), *dense), self.freeze)
        return Headed(trunk, linear_head([flat, *self.widths][-1]), n_labels)

    def start(self, module: nn.Module) -> None:
        if self.pretrained:
            mine = {name.removeprefix("features."): one for name, one in read_weights(self.pretrained).items()}
            load_weights(module.get_submodule("trunk.see.1"), mine, self.pretrained)
