"""Augmentation: random changes of a whole batch of images on its device.

Random numbers are drawn first (`draw_random_numbers`) and then applied (`augment_images`), so that drawing may be outside a
CUDA graph or a compiled step and the rest inside. Bytes stay bytes, and floats from 0 to 1 stay between 0 and 1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor
from torch.nn import functional

from plurivox.core.errors import unknown_name_error
from plurivox.core.method import Method, option, parse_spec


@dataclass(frozen=True)
class Augmentation(Method, ABC):
    """A random change of images; `augmentation(images, rng)` draws random numbers and applies the change; base class."""

    n_draws: ClassVar[int] = 0  # random numbers from 0 to 1 per image

    def draw_random_numbers(self, n_images: int, rng: Generator) -> Tensor:
        """(n_images, n_draws) random numbers from 0 to 1 that determine the change of each image, on the generator's device."""
        return torch.rand(n_images, self.n_draws, generator=rng, device=rng.device)

    @abstractmethod
    def augment_images(self, images: Tensor, random_numbers: Tensor) -> Tensor:
        """Return the images (n, channels, height, width) changed as `random_numbers` (n, n_draws) determine; same dtype."""

    def __call__(self, images: Tensor, rng: Generator) -> Tensor:
        """Return the images (n, channels, height, width) with a random change of each."""
        return self.augment_images(images, self.draw_random_numbers(len(images), rng))


@dataclass(frozen=True)
class NoAugmentation(Augmentation):
    """No augmentation: images stay unchanged."""

    @classmethod
    def name(cls) -> str:
        return "none"

    def augment_images(self, images: Tensor, random_numbers: Tensor) -> Tensor:
        del random_numbers
        return images


@dataclass(frozen=True)
class CropFlip(Augmentation):
    """A crop at a random position after padding with black, and a horizontal flip of every second image on average.

    He et al. (2016), https://doi.org/10.1109/CVPR.2016.90, section 4.2.

    >>> x = torch.rand(2, 3, 8, 8)
    >>> CropFlip()(x, torch.Generator().manual_seed(1)).shape
    torch.Size([2, 3, 8, 8])
    """

    pad: int = option(4, "black pixels added on every side before the crop", low=0)
    flip: float = option(0.5, "share of images that are flipped horizontally", low=0, high=1)

    n_draws: ClassVar[int] = 3

    def augment_images(self, images: Tensor, random_numbers: Tensor) -> Tensor:
        n, channels, height, width = images.shape
        shift = (random_numbers[:, :2] * (2 * self.pad + 1)).long().clamp(max=2 * self.pad)  # (n, 2) down, right
        rows = shift[:, :1] + torch.arange(height, device=images.device)  # (n, height) of the padded image
        columns = torch.arange(width, device=images.device).expand(n, -1)
        columns = shift[:, 1:] + torch.where(random_numbers[:, 2:] < self.flip, columns.flip(1), columns)
        padded = functional.pad(images, (self.pad,) * 4)
        image = torch.arange(n, device=images.device)[:, None, None, None]
        channel = torch.arange(channels, device=images.device)[None, :, None, None]
        return padded[image, channel, rows[:, None, :, None], columns[:, None, None, :]]


@dataclass(frozen=True)
class ShearFlipResize(Augmentation):
    """One of three changes, chosen at random for each image: a shear, a horizontal flip, or a resized crop.

    The augmentation of peerannot (Lefort et al. 2024) for LabelMe: a horizontal shear of up to 15 degrees, a flip with
    probability 1/2, or a crop of 8 to 100% of the area and an aspect of 3/4 to 4/3, resized to the image size. Pixels are
    interpolated bilinearly; a shear fills with black.

    >>> x = torch.rand(2, 3, 8, 8)
    >>> ShearFlipResize()(x, torch.Generator().manual_seed(1)).shape
    torch.Size([2, 3, 8, 8])
    """

    shear: float = option(15.0, "largest horizontal shear of an image in degrees", low=0, high=89)
    flip: float = option(0.5, "probability of a horizontal flip, for images for which a flip was chosen", low=0, high=1)
    area: float = option(0.08, "smallest share of the image area that a crop contains", low=0.0001, high=1)
    aspect: float = option(4 / 3, "largest aspect ratio of a crop; the smallest is its inverse", low=1)

    n_draws: ClassVar[int] = 5

    def augment_images(self, images: Tensor, random_numbers: Tensor) -> Tensor:
        bytes_in = not images.is_floating_point()
        pixels = images.float() / 255 if bytes_in else images
        # grid and sampling use float32: bfloat16 coordinates would blur the image
        grid = functional.affine_grid(
            self._shear_flip_or_crop_matrices(random_numbers.float(), images.shape),
            list(images.shape),
            align_corners=False,
        )
        # a crop ends at its last pixels; only a shear samples beyond the image, which is black
        right, bottom = 1 - 1 / images.shape[3], 1 - 1 / images.shape[2]
        inside = torch.stack([grid[..., 0].clamp(-right, right), grid[..., 1].clamp(-bottom, bottom)], -1)
        grid = torch.where(random_numbers[:, 0, None, None, None] * 3 < 1, grid, inside)
        sampled = functional.grid_sample(pixels.float(), grid, mode="bilinear", align_corners=False).clamp(0, 1)
        return (sampled * 255).round().to(images.dtype) if bytes_in else sampled.to(images.dtype)

    def _shear_flip_or_crop_matrices(self, random_numbers: Tensor, shape: torch.Size) -> Tensor:
        """(n, 2, 3) the shear, flip or crop of each image as affine map from result to source pixels (coordinates -1 to 1)."""
        which, one, two, three, four = random_numbers.unbind(1)
        zero, unit = torch.zeros_like(which), torch.ones_like(which)
        height, width = shape[2:]
        lean = torch.tan(torch.deg2rad((2 * one - 1) * self.shear)) * (height / width)
        mirror = torch.where(one < self.flip, -unit, unit)
        share = self.area + (1 - self.area) * one
        aspect = torch.exp((2 * two - 1) * torch.log(unit * self.aspect))
        # width over height in pixels; a crop larger than the image is cut to it
        wide = (share * aspect * (height / width)).sqrt().clamp(max=1)
        high = (share / aspect * (width / height)).sqrt().clamp(max=1)
        sheared = _stack_affine_matrices(unit, lean, zero, unit, zero)
        flipped = _stack_affine_matrices(mirror, zero, zero, unit, zero)
        cropped = _stack_affine_matrices(wide, zero, (2 * three - 1) * (1 - wide), high, (2 * four - 1) * (1 - high))
        choice = (which * 3)[:, None, None]
        return torch.where(choice < 1, sheared, torch.where(choice < 2, flipped, cropped))


def _stack_affine_matrices(x_by_x: Tensor, x_by_y: Tensor, x_shift: Tensor, y_by_y: Tensor, y_shift: Tensor) -> Tensor:
    """(n, 2, 3) the matrices of the affine maps x' = x_by_x x + x_by_y y + x_shift, y' = y_by_y y + y_shift."""
    return torch.stack([x_by_x, x_by_y, x_shift, torch.zeros_like(x_by_x), y_by_y, y_shift], 1).view(-1, 2, 3)


AUGMENTATIONS: dict[str, type[Augmentation]] = {
    "none": NoAugmentation,
    "crop-flip": CropFlip,
    "shear-flip-resize": ShearFlipResize,
}


def augmentation(spec: str) -> Augmentation:
    """Return the image augmentation of a spec, a name with options such as crop-flip[pad=2]; an error if it is unknown.

    >>> augmentation("crop-flip[pad=2]")
    CropFlip(pad=2, flip=0.5)
    """
    name, given = parse_spec(spec)
    if name not in AUGMENTATIONS:
        raise unknown_name_error("augmentation", name, AUGMENTATIONS)
    return AUGMENTATIONS[name].from_options(dict(given))


def augment_once(augment: Augmentation, images: Tensor, seed: int, block: int = 4096) -> Tensor:
    """Return the images with one random augmentation each, the same in all epochs, as the code of some papers does by mistake.

    Images are processed in blocks; the block size does not affect the result.
    """
    rng = Generator(images.device).manual_seed(seed)
    random_numbers = augment.draw_random_numbers(len(images), rng)
    blocks = zip(torch.split(images, block), torch.split(random_numbers, block), strict=True)
    return torch.cat([augment.augment_images(block_images, numbers) for block_images, numbers in blocks])
