"""Net `cifar-resnet`: the residual nets of He et al. for CIFAR-10."""

from dataclasses import dataclass
from typing import ClassVar, Literal

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


@dataclass(frozen=True)
class CifarResNet(Net):
    """Residual net of depth 6n + 2 for images of 32 x 32, shortcuts without weights (option A).

    A 3 x 3 convolution to 16 channels; three stages of n blocks with 16, 32 and 64 channels, the second and third halving
    the image; global average pooling; a linear layer. A block is relu(x' + BN(conv(relu(BN(conv(x)))))), where x' is x
    or, at a halving, every second pixel of x with channels of zeros appended.

    He et al. (2016), https://doi.org/10.1109/CVPR.2016.90: n = 3, 5, 7 are ResNet-20, -32, -44. What Uma et al. (2020) and
    Collins et al. (2022) call ResNet-34A is n = 7 with biases in the convolutions, hence the defaults.

    >>> net = CifarResNet(n=3, conv_bias=False).build((3, 32, 32), n_labels=10)
    >>> sum(p.numel() for p in net.parameters())  # 0.27M in the paper
    269722
    """

    n: int = option(7, "residual blocks in each of the three stages; the depth of the net is 6n + 2", low=1)
    width: int = option(16, "channels of the first stage; the others have twice and four times as many", low=1)
    conv_bias: bool = option(True, "biases in the convolutions, as in the papers' code; He et al. have none")
    weights: Literal["uniform", "he"] = option(
        "uniform", "initial weights: uniform (torch's default) or he (He's normal)"
    )
    normalise: Normalisation = option("cifar10", NORMALISE_HELP)

    example: ClassVar[tuple[int, ...]] = (3, 8, 8)
    small: ClassVar[dict[str, object]] = {"n": 1, "width": 4}

    def build(self, shape: tuple[int, ...], n_labels: int) -> TrunkHeadNet:
        channels, _, _ = get_channels_height_width_or_raise(shape, self.name(), self.normalise, min_pixels=4)
        widths = [self.width, 2 * self.width, 4 * self.width]
        trunk = ResidualStages(channels, widths, self.n, self.conv_bias)
        if self.weights == "he":
            for one in trunk.modules():
                if isinstance(one, nn.Conv2d):
                    nn.init.kaiming_normal_(one.weight, mode="fan_out", nonlinearity="relu")
        return TrunkHeadNet(
            nn.Sequential(NormalisePixels(self.normalise), trunk), linear_head_factory(widths[-1]), n_labels
        )


class ResidualStages(nn.Module):
    """Convolution and residual blocks: images (n, channels, height, width) -> features (n, widths[-1])."""

    def __init__(self, channels: int, widths: list[int], n_blocks: int, bias: bool):
        super().__init__()
        self.conv = nn.Conv2d(channels, widths[0], 3, padding=1, bias=bias)
        self.norm = nn.BatchNorm2d(widths[0])
        blocks, before = [], widths[0]
        for stage, width in enumerate(widths):
            for place in range(n_blocks):
                blocks.append(ResidualBlock(before, width, 2 if stage and place == 0 else 1, bias))
                before = width
        self.blocks = nn.Sequential(*blocks)

    def forward(self, trunk_input: Tensor) -> Tensor:
        found: Tensor = self.blocks(functional.relu(self.norm(self.conv(trunk_input))))
        return found.mean((2, 3))


class ResidualBlock(nn.Module):
    """Residual block: two 3 x 3 convolutions and a shortcut."""

    def __init__(self, in_channels: int, out_channels: int, stride: int, bias: bool):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride, padding=1, bias=bias)
        self.norm1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=bias)
        self.norm2 = nn.BatchNorm2d(out_channels)
        self.stride, self.extra = stride, out_channels - in_channels

    def forward(self, block_input: Tensor) -> Tensor:
        out = functional.relu(self.norm1(self.conv1(block_input)))
        out = self.norm2(self.conv2(out))
        return functional.relu(out + zero_padded_shortcut(block_input, self.stride, self.extra))


def zero_padded_shortcut(x: Tensor, stride: int, extra_channels: int) -> Tensor:
    """Return x subsampled by `stride`, with `extra_channels` channels of zeros appended: shortcut option A of He et al."""
    if stride > 1:
        x = x[:, :, ::stride, ::stride]
    return functional.pad(x, (0, 0, 0, 0, 0, extra_channels)) if extra_channels else x
