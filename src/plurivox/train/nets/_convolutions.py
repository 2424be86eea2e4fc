"""The convolutions of the VGG nets."""

from torch import Tensor, nn

# channels of the convolutions, 0 for a pooling that halves the image (Simonyan and Zisserman 2015, table 1)
VGG11 = (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0)
VGG16 = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)


def convolutions(plan: tuple[int, ...], channels: int, batch_norm: bool) -> nn.Sequential:
    """3 x 3 convolutions and poolings; layers are numbered as in the weight files that torchvision gives out."""
    layers: list[nn.Module] = []
    for width in plan:
        if width == 0:
            layers.append(nn.MaxPool2d(2))
            continue
        layers.append(nn.Conv2d(channels, width, 3, padding=1))
        if batch_norm:
            layers.append(nn.BatchNorm2d(width))
        layers.append(nn.ReLU(inplace=True))
        channels = width
    return nn.Sequential(*layers)


class GlobalMean(nn.Module):
    """(n, channels, height, width) -> (n, channels), the mean over the image."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((2, 3))
