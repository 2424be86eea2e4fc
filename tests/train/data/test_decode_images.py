"""Decoding pictures to pixels, and files of pixels."""

import io
from pathlib import Path

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.io.features import read_features
from plurivox.train.data.decode_images import decode, read_images, write_images

Image = pytest.importorskip("PIL.Image", reason="Pillow is missing; pip install 'plurivox[images]'")


def encoded(pixels: np.ndarray, kind: str = "PNG") -> bytes:
    box = io.BytesIO()
    Image.fromarray(pixels).save(box, kind)
    return box.getvalue()


def picture(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape or (6, 5, 3), dtype=np.uint8)


def test_bytes_and_files_give_the_exact_pixels(tmp_path: Path) -> None:
    (tmp_path / "b.png").write_bytes(encoded(picture(2)))
    found = decode([encoded(picture(1)), tmp_path / "b.png", str(tmp_path / "b.png")], ["a", "b", "c"])
    assert found.x.shape == (3, 3, 6, 5) and found.x.dtype == np.uint8 and not len(found.damaged)
    np.testing.assert_array_equal(found.x[0], picture(1).transpose(2, 0, 1))
    np.testing.assert_array_equal(found.on(["c", "b"])[0], picture(2).transpose(2, 0, 1))


def test_grey_pictures_become_rgb_and_all_are_resized() -> None:
    found = decode([encoded(picture(1, 6, 5)), encoded(picture(2, 9, 9, 3))], ["a", "b"], size=8)
    assert found.x.shape == (2, 3, 8, 8) and (found.x[0][0] == found.x[0][2]).all()


def test_pictures_of_different_sizes_raise_an_error() -> None:
    with pytest.raises(InputError, match="differ in size: 'b' are not 6 x 5"):
        decode([encoded(picture(1)), encoded(picture(2, 9, 9, 3))], ["a", "b"])


def test_damaged_pictures_raise_an_error_or_are_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    good = encoded(picture(1))
    given = [good, good[:60], b"", b"no picture", tmp_path / "absent.png", good]
    with pytest.raises(InputError, match="4 of 6 pictures cannot be read: 'b', 'c', 'd' and 1 more"):
        decode(given, "abcdef")
    with pytest.raises(InputError, match=r"\(cannot identify image file it\); repair them, or skip .*--skip-damaged"):
        decode([b"no picture", good], "ab")
    found = decode(given, "abcdef", damaged="skip")
    assert found.tasks.tolist() == ["a", "f"] and found.damaged.tolist() == ["b", "c", "d", "e"] and len(found.x) == 2
    assert "skipped" in caplog.text
    with pytest.raises(InputError, match="1 of 2 tasks have no image: 'b'"):
        found.on(["a", "b"])


def test_written_pixels_can_be_read_as_images_and_as_features(tmp_path: Path) -> None:
    found = decode([encoded(picture(1)), b"x"], ["a", "b"], damaged="skip")
    write_images(found, tmp_path / "x.npz")
    again, features = read_images(tmp_path / "x.npz"), read_features(tmp_path / "x.npz")
    assert again.tasks.tolist() == ["a"] and again.damaged.tolist() == ["b"]
    np.testing.assert_array_equal(again.x, found.x)
    np.testing.assert_array_equal(features.x, found.x)
    (tmp_path / "y.npz").write_bytes(b"PK")
    for name, words in (("y.npz", "damaged"), ("z.npz", "no file")):
        with pytest.raises(InputError, match=words):
            read_images(tmp_path / name)


def test_real_pictures_decode(data_set) -> None:  # type: ignore[no-untyped-def]
    import polars as pl

    folder = data_set("cifar10_images")
    frame = pl.read_parquet(folder / "test_lossless.parquet").head(20)
    found = decode(frame["image"], frame["idx"])
    assert found.x.shape == (20, 3, 32, 32) and 60 < found.x.mean() < 190
