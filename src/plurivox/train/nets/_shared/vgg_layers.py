"""The convolutions of the VGG nets."""

from torch import Tensor, nn

# channels of the convolutions over those of the first, 0 for a pooling that halves the image (Simonyan and Zisserman
# 2015, table 1)
VGG11 = (1, 0, 2, 0, 4, 4, 0, 8, 8, 0, 8, 8, 0)
VGG16 = (1, 1, 0, 2, 2, 0, 4, 4, 4, 0, 8, 8, 8, 0, 8, 8, 8, 0)


def convolutions(plan: tuple[int, ...], channels: int, width: int, batch_norm: bool) -> nn.Sequential:
    """3 x 3 convolutions and poolings; layers are numbered as in the weight files that torchvision gives out."""
    layers: list[nn.Module] = []
    for times in plan:
        if times == 0:
            layers.append(nn.MaxPool2d(2))
            continue
        layers.append(nn.Conv2d(channels, times * width, 3, padding=1))
        if batch_norm:
            layers.append(nn.BatchNorm2d(times * width))
        layers.append(nn.ReLU(inplace=True))
        channels = times * width
    return nn.Sequential(*layers)


class GlobalMean(nn.Module):
    """(n, channels, height, width) -> (n, channels), the mean over the image."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((2, 3))
