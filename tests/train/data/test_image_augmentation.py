"""Augmentation: crops, flips and shears of images by random numbers."""

import pytest
import torch
from torch import Generator

from plurivox.core.errors import UnknownName
from plurivox.train.data.image_augmentation import AUGMENTATIONS, CropFlip, ShearFlipResize, augment_once, augmentation

every = pytest.mark.parametrize("name", ["crop-flip", "shear-flip-resize"])


def images(n: int = 40, kind: torch.dtype = torch.float32) -> torch.Tensor:
    x = torch.randint(0, 256, (n, 3, 12, 10), dtype=torch.uint8, generator=Generator().manual_seed(1))
    return x if kind == torch.uint8 else x.to(kind) / 255


@every
@pytest.mark.parametrize("kind", [torch.uint8, torch.float32, torch.bfloat16])
def test_type_shape_and_range_do_not_change(name: str, kind: torch.dtype) -> None:
    x = images(kind=kind)
    out = augmentation(name)(x, Generator().manual_seed(2))
    assert (
        out.shape == x.shape
        and out.dtype == kind
        and out.min() >= 0
        and out.max() <= (255 if kind == torch.uint8 else 1)
    )
    assert not torch.equal(out, x)


@every
def test_the_same_generator_state_gives_the_same_images_and_the_next_draw_gives_others(name: str) -> None:
    x, rng = images(), Generator().manual_seed(2)
    first, second = augmentation(name)(x, rng), augmentation(name)(x, rng)
    assert torch.equal(first, augmentation(name)(x, Generator().manual_seed(2))) and not torch.equal(first, second)


@every
def test_augmenting_once_does_not_depend_on_the_block_size(name: str) -> None:
    x, augment = images(), augmentation(name)
    assert torch.equal(augment_once(augment, x, seed=4), augment_once(augment, x, seed=4, block=7))
    assert not torch.equal(augment_once(augment, x, seed=4), augment_once(augment, x, seed=5))


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_no_data_are_copied_off_the_device(name: str) -> None:
    augment = augmentation(name)
    x = torch.empty(4, 3, 8, 8, dtype=torch.uint8, device="meta")  # tensors on this device have no data to copy
    assert augment.augment_images(x, torch.empty(4, augment.n_draws, device="meta")).shape == x.shape


def test_every_image_is_cropped_and_flipped_by_its_own_random_numbers() -> None:
    x, augment = images(), CropFlip(pad=2)
    drawn = augment.draw_random_numbers(len(x), Generator().manual_seed(0))
    out, padded = augment.augment_images(x, drawn), torch.nn.functional.pad(x, (2, 2, 2, 2))
    for one in range(len(x)):
        down, right = (drawn[one, :2] * 5).long().tolist()
        crop = padded[one, :, down : down + 12, right : right + 10]
        assert torch.equal(out[one], crop.flip(2) if drawn[one, 2] < 0.5 else crop)


def test_all_shifts_are_equally_likely() -> None:
    column = torch.arange(9.0).expand(1, 1, 9, 9) / 8
    drawn = CropFlip().draw_random_numbers(9000, Generator().manual_seed(0))
    assert (torch.bincount((drawn[:, 0] * 9).long(), minlength=9) > 850).all()
    middle = torch.tensor([[0.5, 0.5, 0.9]])  # these random numbers give no shift and no flip
    assert torch.equal(CropFlip().augment_images(column, middle), column)


def test_a_shear_a_flip_and_a_crop_by_hand() -> None:
    x, augment = images(1), ShearFlipResize(area=0.25, aspect=1)
    upright, flipped = (torch.tensor([[which, one, 0.5, 0.5, 0.5]]) for which, one in ((0.1, 0.5), (0.5, 0.2)))
    torch.testing.assert_close(augment.augment_images(x, upright), x)  # a shear of 0 degrees
    torch.testing.assert_close(augment.augment_images(x, flipped), x.flip(3))
    square = torch.rand(1, 1, 8, 8)
    corner = torch.tensor([[0.9, 0.0, 0.5, 0.0, 0.0]])  # a quarter of the area, in the corner
    resized = torch.nn.functional.interpolate(square[:, :, :5, :5], scale_factor=2, mode="bilinear")[:, :, :8, :8]
    torch.testing.assert_close(augment.augment_images(square, corner)[:, :, :7, :7], resized[:, :, :7, :7])


def test_a_shear_moves_the_rows_away_from_the_middle() -> None:
    x = torch.zeros(1, 1, 9, 9)
    x[:, :, :, 4] = 1  # a vertical line
    leaning = ShearFlipResize(shear=45).augment_images(x, torch.tensor([[0.1, 1.0, 0.5, 0.5, 0.5]]))
    assert leaning[0, 0].argmax(1).tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_a_spec_makes_the_same_augmentation_again() -> None:
    for spec in (*AUGMENTATIONS, "crop-flip[pad=2]", "shear-flip-resize[shear=5.0]"):
        assert augmentation(spec).spec == spec


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'crop-flip'"):
        augmentation("crop-flop")
