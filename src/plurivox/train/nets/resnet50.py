"""Net `resnet50`: ResNet-50 for small images."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional

from plurivox.core.method import option
from plurivox.train.nets._contract import Net
from plurivox.train.nets._shared.pixel_normalisation import (
    NORMALISE_HELP,
    Normalisation,
    NormalisePixels,
    get_channels_height_width_or_raise,
)
from plurivox.train.nets._shared.trunk_head import TrunkHeadNet, linear_head_factory

BLOCKS = (3, 4, 6, 3)  # number of blocks in each of the four stages
EXPANSION = 4  # output channels of a block over those of its 3 x 3 convolution


@dataclass(frozen=True)
class ResNet50(Net):
    """ResNet-50 with a 3 x 3 first convolution and no first pooling, for images of 32 x 32.

    Four stages of 3, 4, 6 and 3 bottleneck blocks (1 x 1, 3 x 3, 1 x 1) with 64, 128, 256 and 512 channels in the middle,
    the last three halving the image; projections (option B) where the shape changes; global average pooling.
    He et al. (2016), https://doi.org/10.1109/CVPR.2016.90; Collins et al. (2022) train this form from scratch on CIFAR-10.

    >>> ResNet50(width=8).build((3, 32, 32), n_labels=10).head
    Linear(in_features=256, out_features=10, bias=True)
    """

    width: int = option(64, "channels of the 3 x 3 convolutions in the first stage", low=1)
    normalise: Normalisation = option("cifar10", NORMALISE_HELP)

    example: ClassVar[tuple[int, ...]] = (3, 8, 8)
    small: ClassVar[dict[str, object]] = {"width": 2}

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        channels, _, _ = get_channels_height_width_or_raise(shape, self.name(), self.normalise, min_pixels=8)
        trunk = BottleneckStages(channels, self.width)
        make_head = linear_head_factory(8 * EXPANSION * self.width)
        return TrunkHeadNet(nn.Sequential(NormalisePixels(self.normalise), trunk), make_head, n_labels)


class BottleneckStages(nn.Module):
    """Convolution and bottleneck blocks: images (n, channels, height, width) -> features (n, 32 * width)."""

    def __init__(self, channels: int, width: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        blocks, before = [], width
        for stage, count in enumerate(BLOCKS):
            middle = width * 2**stage
            for place in range(count):
                blocks.append(Bottleneck(before, middle, 2 if stage and place == 0 else 1))
                before = middle * EXPANSION
        self.blocks = nn.Sequential(*blocks)

    def forward(self, trunk_input: Tensor) -> Tensor:
        found: Tensor = self.blocks(functional.relu(self.norm(self.conv(trunk_input))))
        return found.mean((2, 3))


class Bottleneck(nn.Module):
    """Bottleneck block: 1 x 1, 3 x 3 and 1 x 1 convolutions and a shortcut."""

    def __init__(self, in_channels: int, middle_channels: int, stride: int):
        super().__init__()
        out_channels = middle_channels * EXPANSION
        self.conv1 = nn.Conv2d(in_channels, middle_channels, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(middle_channels)
        self.conv2 = nn.Conv2d(middle_channels, middle_channels, 3, stride, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(middle_channels)
        self.conv3 = nn.Conv2d(middle_channels, out_channels, 1, bias=False)
        self.norm3 = nn.BatchNorm2d(out_channels)
        self.shortcut = nn.Sequential()
        if stride > 1 or in_channels != out_channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, 1, stride, bias=False), nn.BatchNorm2d(out_channels)
            )

    def forward(self, block_input: Tensor) -> Tensor:
        out = functional.relu(self.norm1(self.conv1(block_input)))
        out = functional.relu(self.norm2(self.conv2(out)))
        out = self.norm3(self.conv3(out))
        return functional.relu(out + self.shortcut(block_input))
