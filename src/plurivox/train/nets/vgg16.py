"""Net `vgg16`: VGG-16 convolutions and dense layers."""

from dataclasses import dataclass
from functools import cached_property
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
from plurivox.train.nets._shared.pretrained_weights import load_weights, read_weights
from plurivox.train.nets._shared.trunk_head import (
    FreezableTrunk,
    TrunkHeadNet,
    linear_head_factory,
    make_dense_layers,
    parse_widths,
)
from plurivox.train.nets._shared.vgg_layers import VGG16 as PLAN
from plurivox.train.nets._shared.vgg_layers import make_vgg_convolutions_and_poolings


@dataclass(frozen=True)
class VGG16(Net):
    """VGG-16 convolutions and two dense layers on images.

    Thirteen 3 x 3 convolutions and five poolings, then dense layers with ReLU and dropout. With frozen weights of ImageNet
    (`pretrained`, `freeze`) it is the LabelMe net of Rodrigues and Pereira (2018) and of peerannot;
    `hidden=4096,4096` is the classifier of Simonyan and Zisserman (2015), https://arxiv.org/abs/1409.1556. The last layer
    outputs logits, without a softmax.

    >>> VGG16(hidden="16").build((3, 64, 64), n_labels=8).head
    Linear(in_features=16, out_features=8, bias=True)
    """

    hidden: str = option("128", "widths of the dense layers before the last, separated by commas")
    dropout: float = option(0.5, "dropout: share of a dense layer's outputs set to zero in training", low=0, high=0.99)
    width: int = option(64, "channels of the first convolution; the last ones have eight times as many", low=1)
    batch_norm: bool = option(False, "batch normalisation after each convolution; peerannot has it")
    pretrained: str = option("", "file of pretrained weights of the convolutions, with torchvision's names")
    freeze: bool = option(False, "keep the convolutions fixed and train only the dense layers")
    image_size: int = option(0, "resize images to this many pixels per side; 0: no resizing", low=0)
    normalise: Normalisation = option("imagenet", NORMALISE_HELP)

    example: ClassVar[tuple[int, ...]] = (3, 32, 32)
    small: ClassVar[dict[str, object]] = {"hidden": "8", "width": 2}

    @cached_property
    def hidden_widths(self) -> list[int]:
        """Widths of the hidden layers, parsed from the option `hidden`."""
        return parse_widths(self.hidden, self.name())

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        channels, high, wide = get_channels_height_width_or_raise(
            shape, self.name(), self.normalise, min_pixels=0 if self.image_size else 32
        )
        if self.image_size:
            high = wide = self.image_size
        base = nn.Sequential(
            NormalisePixels(self.normalise, self.image_size),
            make_vgg_convolutions_and_poolings(PLAN, channels, self.width, self.batch_norm),
        )
        if self.freeze:
            base.requires_grad_(False)
        flat = 8 * self.width * (high // 32) * (wide // 32)
        dense = make_dense_layers(flat, self.hidden_widths, "relu", self.dropout)
        trunk = FreezableTrunk(base, nn.Sequential(nn.Flatten(), *dense), self.freeze)
        return TrunkHeadNet(trunk, linear_head_factory([flat, *self.hidden_widths][-1]), n_labels)

    def load_pretrained(self, module: nn.Module) -> None:
        """Load pretrained weights from the file of the option `pretrained`, if set, into the module's convolutions."""
        if self.pretrained:
            weights = {name.removeprefix("features."): one for name, one in read_weights(self.pretrained).items()}
            load_weights(module.get_submodule("trunk.see.1"), weights, self.pretrained)
