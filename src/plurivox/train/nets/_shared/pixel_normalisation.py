"""Normalisation of image pixels as the first layer of a net, and the check of image shapes."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from plurivox.core.errors import InputError

Normalisation = Literal["cifar10", "imagenet", "half", "none"]
NORMALISE_HELP = "means and standard deviations by which pixels (0 to 1) are normalised"
# mean and standard deviation of each channel, for pixels from 0 to 1
SCALES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "half": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "none": ((0.0,), (1.0,)),
}


class NormalisePixels(nn.Module):
    """Layer that resizes (if `size` is not 0) and normalises images (n, channels, height, width).

    Images are bytes, or floats from 0 to 1. As a part of the net it lets attacks change plain pixels, and images are
    normalised exactly once.

    >>> NormalisePixels("half")(torch.full((1, 3, 2, 2), 255, dtype=torch.uint8)).unique()
    tensor([1.])
    """

    mean: Tensor
    std: Tensor

    def __init__(self, scale: str, size: int = 0):
        super().__init__()
        self.size = size
        for name, values in zip(("mean", "std"), SCALES[scale], strict=True):
            self.register_buffer(name, torch.tensor(values)[:, None, None], persistent=False)

    def forward(self, pixels: Tensor) -> Tensor:
        if not pixels.is_floating_point():
            pixels = pixels.to(self.mean.dtype) / 255
        if self.size and pixels.shape[-2:] != (self.size, self.size):
            pixels = functional.interpolate(pixels, (self.size, self.size), mode="bilinear", antialias=True)
        return (pixels - self.mean) / self.std


def get_channels_height_width_or_raise(
    shape: tuple[int, ...], net_name: str, normalise: str, min_pixels: int = 1
) -> tuple[int, int, int]:
    """Return the shape of images as (channels, height, width); InputError if the net cannot take images of this shape.

    They must be images with three channels (any number with normalise="none") and at least `min_pixels` pixels per side.
    """
    if len(shape) != 3:
        raise InputError(
            f"{net_name} takes images (channels, height, width); each of these inputs has the shape {shape}"
        )
    channels, height, width = shape
    if normalise != "none" and channels != 3:
        raise InputError(
            f"{net_name} normalises three channels as {normalise}; these images have {channels} channels: set normalise=none"
        )
    if min(height, width) < min_pixels:
        raise InputError(
            f"{net_name} needs images of at least {min_pixels} pixels per side; these have {height} x {width}"
        )
    return channels, height, width
