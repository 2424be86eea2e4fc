"""Import of untrusted files: decompression bombs, polyglots, photos with GPS data, unusual names, symbolic links."""

import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from plurivox.core.errors import InputError
from plurivox.web.store.collect.tasks_batches_quotas import MediaFile
from plurivox.web.study.image_preparation import validate_image_and_make_displayed_version
from plurivox.web.study.read_task_and_answer_files import read_tasks
from studies import plain_study, served

SECRET = b"GPS 52.52 13.40 of somebody"


def photo(size: tuple[int, int] = (60, 40), mode: str = "RGB") -> Image.Image:
    """Return a noisy image, dark on the left and light on the right."""
    rng = np.random.default_rng(1)
    light = np.linspace(20, 220, size[0])[None, :, None] + rng.integers(0, 30, (size[1], size[0], 3))
    return Image.fromarray(light.astype(np.uint8)).convert(mode)


def saved(image: Image.Image, form: str, **how: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **how)
    return out.getvalue()


def exif(orientation: int = 1) -> bytes:
    tags = Image.Exif()
    tags[0x0112], tags[0x010E] = orientation, SECRET.decode()
    return tags.tobytes()


def shown(picture: MediaFile) -> Image.Image:
    image = Image.open(io.BytesIO(picture.bytes if picture.shown is None else picture.shown))
    image.load()
    return image


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def test_decompression_bombs_are_rejected() -> None:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    wide = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(b"\0" * 80_000_000, 9))
    plain = saved(photo(), "PNG")
    words = plain[:33] + text + plain[33:]
    for bomb in (wide, words, b"\0" * 20_000_001):
        with pytest.raises(InputError, match=r"bomb\.png (is not a supported image|has too many pixels|is too large)"):
            validate_image_and_make_displayed_version(bomb, "bomb.png", 160)


@pytest.mark.parametrize(
    "size", [(8000, 7000), (12_000, 9000), (20_000, 10_000)]
)  # Pillow warns at 89 million, refuses at 179
def test_too_many_pixels_are_named_as_the_reason(size: tuple[int, int]) -> None:
    out = io.BytesIO()
    Image.new("1", size).save(out, "PNG")
    with pytest.raises(InputError, match=r"sky\.png has too many pixels.* at most 50 million.*save it smaller"):
        validate_image_and_make_displayed_version(out.getvalue(), "sky.png", 160)


@pytest.mark.parametrize("pixels", [16, 160])
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_photos_are_shown_upright_and_without_metadata(form: str, pixels: int) -> None:
    for orientation in (1, 6):
        data = saved(photo(), form, exif=exif(orientation))
        assert SECRET in data
        picture = validate_image_and_make_displayed_version(data, "x", pixels)
        image = shown(picture)
        assert picture.shown is not None and SECRET not in picture.shown and not image.getexif()
        assert (picture.width, picture.height) == image.size
        assert (image.width < image.height) == (orientation == 6)
        dark, light = (image.convert("L").crop(box) for box in halves(image.size, upright=orientation == 1))
        assert np.asarray(dark).mean() + 50 < np.asarray(light).mean()
        assert picture.bytes == data  # the original file is kept for the export


def halves(size: tuple[int, int], upright: bool) -> tuple[tuple[int, int, int, int], ...]:
    width, height = size
    if upright:
        return (0, 0, width // 2, height), (width // 2, 0, width, height)
    return (0, 0, width, height // 2), (0, height // 2, width, height)


def test_images_without_metadata_are_unchanged_and_others_keep_their_pixels() -> None:
    for form in ("PNG", "JPEG", "GIF", "WEBP"):
        assert validate_image_and_make_displayed_version(saved(photo(), form), "x", 16).shown is None, form
    for form, more in (("PNG", {}), ("GIF", {"comment": SECRET}), ("WEBP", {"lossless": True, "exif": exif()})):
        data = saved(photo(), form, **more) + (SECRET if form == "PNG" else b"")
        picture = validate_image_and_make_displayed_version(data, "x", 16)
        assert picture.shown is not None and SECRET not in picture.shown
        np.testing.assert_array_equal(
            np.asarray(shown(picture).convert("RGB")), np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
        )
    data = saved(photo(), "JPEG", quality=70, comment=SECRET)
    near = np.asarray(shown(validate_image_and_make_displayed_version(data, "x", 16))).astype(int) - np.asarray(
        Image.open(io.BytesIO(data))
    )
    assert np.abs(near).mean() < 1


def test_data_appended_to_an_image_is_not_served() -> None:
    page = b"<script>alert(1)</script>"
    for form in ("PNG", "JPEG", "GIF", "WEBP"):
        for data in (saved(photo(), form) + page, saved(photo((8, 8)), form) + page):
            picture = validate_image_and_make_displayed_version(data, "x", 16)
            assert picture.shown is not None and page not in picture.shown
    for other in (
        b"%PDF-1.7\n",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<html>",
        b"PK\x03\x04",
        b"BM" + bytes(60),
    ):
        with pytest.raises(InputError, match=r"x\.png is not a supported image"):
            validate_image_and_make_displayed_version(other + saved(photo(), "PNG"), "x.png", 16)


def test_mpo_photos_are_read_as_jpeg() -> None:
    out = io.BytesIO()
    photo().save(out, "MPO", save_all=True, append_images=[photo()])
    for pixels in (16, 160):
        picture = validate_image_and_make_displayed_version(out.getvalue(), "x", pixels)
        assert picture.type == "image/jpeg" and shown(picture).format == ("JPEG" if pixels == 16 else "PNG")


def test_animated_images_are_rejected() -> None:
    for form in ("GIF", "WEBP", "PNG"):
        moving = saved(photo(), form, save_all=True, append_images=[photo().rotate(180)])
        with pytest.raises(InputError, match=r"x is animated; tasks show still images"):
            validate_image_and_make_displayed_version(moving, "x", 160)


def test_every_pixel_mode_is_converted_correctly() -> None:
    deep = Image.fromarray(np.linspace(0, 65535, 64 * 64).reshape(64, 64).astype(np.uint16))
    light = np.asarray(shown(validate_image_and_make_displayed_version(saved(deep, "PNG"), "x", 160)).convert("L"))
    assert 110 < light.mean() < 145 and light.min() < 5 and light.max() > 250
    for mode, form in (
        ("CMYK", "JPEG"),
        ("P", "PNG"),
        ("L", "PNG"),
        ("LA", "PNG"),
        ("1", "PNG"),
        ("RGBA", "WEBP"),
        ("L", "JPEG"),
    ):
        for pixels in (16, 160):
            image = shown(
                validate_image_and_make_displayed_version(saved(photo(mode=mode), form), "x", pixels)
            ).convert("L")
            dark, bright = (np.asarray(image.crop(box)).mean() for box in halves(image.size, upright=True))
            assert dark + 30 < bright, (mode, form)


def test_the_error_names_a_broken_file(tmp_path: Path) -> None:
    (tmp_path / "good.png").write_bytes(saved(photo(), "PNG"))
    (tmp_path / "short.jpg").write_bytes(saved(photo(), "JPEG")[:-200])
    with pytest.raises(InputError, match=r"short\.jpg is not a supported image"):
        list(read_tasks(tmp_path, plain_study()))


def test_links_that_lead_outside_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.png").write_bytes(saved(photo(), "PNG"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.png").write_bytes(saved(photo(), "PNG"))
    (home / "same.png").symlink_to(home / "a.png")
    assert [task.name for task in read_tasks(home, plain_study())] == ["a.png", "same.png"]
    (home / "link.png").symlink_to(tmp_path / "outside.png")
    with pytest.raises(InputError, match=r"'link\.png' is not a file in .*links to other folders are not followed"):
        list(read_tasks(home, plain_study()))
    (tmp_path / "by-link").symlink_to(home)  # the given folder itself may be a link
    (home / "link.png").unlink()
    assert len(list(read_tasks(tmp_path / "by-link", plain_study()))) == 2


def test_unusual_file_names_become_task_names_unchanged(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "..x").mkdir(parents=True)
    names = [
        "caf\u00e9.png",
        "cafe\u0301.png",
        "A.png",
        "a.png",
        "..x/...png",
        "<script>.png",
        "=1+1.png",
        "\u202egnp.png",
        "'\"; --.png",
    ]
    for name in names:
        (home / name).write_bytes(saved(photo((8, 8)), "PNG"))
    with served(tmp_path / "s", plain_study(batch=20), read_tasks(home, plain_study())) as study:
        study.sign_in()
        found = study.http.get("/api/owner/tasks").json()["tasks"]
        assert sorted(one["name"] for one in found) == sorted(names)
        assert not any(name in study.enter().get("/api/tasks?n=10").text for name in names)
    for bad in ("new\nline.png", os.fsdecode(b"\xff\xfe.png")):
        (home / bad).write_bytes(b"x")
        with pytest.raises(InputError, match="is not a valid task name"):
            list(read_tasks(home, plain_study()))
        (home / bad).unlink()


def test_tables_and_texts_with_encodings_and_mistakes(tmp_path: Path) -> None:
    def read(name: str, data: bytes) -> list[Any]:
        (tmp_path / name).write_bytes(data)
        return list(read_tasks(tmp_path / name, plain_study()))

    bom = b"\xef\xbb\xbf"
    assert [(one.name, one.text) for one in read("a.csv", bom + b"task,text\nt1,caf\xc3\xa9\n")] == [
        ("t1", "caf\u00e9")
    ]
    assert [one.text for one in read("a.txt", bom + "one\r\ntwo\u2028half\n\n \nthree".encode())] == [
        "one",
        "two\u2028half",
        "three",
    ]
    for name, data, said in (
        ("b.csv", b"task,text\nt1," + b"x" * 100_001 + b"\n", "longer than 100,000"),
        ("b.csv", b"task,text\nt1,a\x00b\n", "zero bytes"),
        ("b.csv", b"name,words\nt1,a\n", "needs a column task"),
        ("b.csv", b"task,text\nt1,\xc3\xa9\nt2,\xff\xfe\n", "UTF-8"),
        ("b.csv", b"", "b.csv"),
        ("b.csv", b"task,text\n,x\n", "not a valid task name"),
        ("b.txt", b"\xff\xfeo\x00n\x00", "is not UTF-8 text"),
        ("b.txt", b"a\x00b", "null character"),
        ("b.exe", b"MZ", "unsupported file type"),
    ):
        with pytest.raises(InputError, match=said):
            read(name, data)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("i.json", '{"b0": ["t1", "t2"]}', "a list of records such as .*\"text\".*; it contains an object with the keys 'b0'"),
        ("i.json", '["one", "two"]', "a list of records such as .*; it contains 'one', 'two'"),
        ("i.jsonl", '"one"\n', "a list of records such as .*; it contains 'one'"),
        ("i.json", '{"task": "t1"} {"task": "t2"}', "more than one JSON value, and not one object per line"),
        ("i.json", "[]", "contains no tasks"),
        ("i.json", '[{"task": {"id": 1}, "text": "x"}]', "the column task must contain text"),
        ("i.json", '[{"task": 1, "text": ["x", "y"]}]', "the column text must contain text; in task 1 it has"),
        ("i.json", '[{"task": 1, "image": "none.png"}]', "'none.png' is not a file in"),
        ("i.json", '[{"task": 1, "image": 5}]', "the image or sound of task '1' is 5; give the path of a file"),
    ],
)  # fmt: skip
def test_json_items_in_another_form_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_tasks(tmp_path / name, plain_study()))


def test_json_items_with_upper_case_extension_and_paths_of_images_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(saved(photo(), "PNG"))
    (tmp_path / "i.JSONL").write_text(
        '{"task": 1, "image": {"path": "a.png"}}\n{"task": 2, "image": {"bytes": null, "path": "a.png"}}\n'
    )
    (tmp_path / "i.csv").write_text("task,image\n1,a.png\n2,a.png\n")
    for file in ("i.JSONL", "i.csv"):
        assert [
            (task.name, task.medium.type) for task in read_tasks(tmp_path / file, plain_study()) if task.medium
        ] == [
            ("1", "image/png"),
            ("2", "image/png"),
        ]
