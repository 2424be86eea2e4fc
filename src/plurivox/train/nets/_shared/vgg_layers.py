"""The convolutions of the VGG nets."""

from torch import Tensor, nn

# layers of Simonyan and Zisserman (2015), table 1: channels of each convolution as a multiple of the first, 0 for a max
# pooling that halves the image
VGG11 = (1, 0, 2, 0, 4, 4, 0, 8, 8, 0, 8, 8, 0)
VGG16 = (1, 1, 0, 2, 2, 0, 4, 4, 4, 0, 8, 8, 8, 0, 8, 8, 8, 0)


def make_vgg_convolutions_and_poolings(
    channel_multiples: tuple[int, ...], channels: int, width: int, batch_norm: bool
) -> nn.Sequential:
    """Return the 3 x 3 convolutions of a VGG net, with `width` times each multiple channels, and poolings (multiple 0).

    Layers are numbered as in torchvision's weight files.
    """
    layers: list[nn.Module] = []
    for multiple in channel_multiples:
        if multiple == 0:
            layers.append(nn.MaxPool2d(2))
            continue
        layers.append(nn.Conv2d(channels, multiple * width, 3, padding=1))
        if batch_norm:
            layers.append(nn.BatchNorm2d(multiple * width))
        layers.append(nn.ReLU(inplace=True))
        channels = multiple * width
    return nn.Sequential(*layers)


class GlobalMean(nn.Module):
    """Global average pooling: (n, channels, height, width) -> (n, channels)."""

    def forward(self, feature_maps: Tensor) -> Tensor:
        return feature_maps.mean((2, 3))
