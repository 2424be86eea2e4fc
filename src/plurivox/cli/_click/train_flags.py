"""INPUT of training: a data set with features or images, or an .npz of plain arrays; the flags of images and splits."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._click.flags import Flag, Source
from plurivox.cli._click.screen import Screen

if TYPE_CHECKING:
    from plurivox.train.data.training_data import Material
    from plurivox.workflows.train_inputs import Pictures


def read_inputs(screen: Screen, source: Source, part: str | None, pictures: "Pictures") -> "Material":
    """The inputs behind INPUT and what is known of them. An .npz of plain arrays needs no tables."""
    if source.where.endswith(".npz") and Path(source.where).is_file():
        from plurivox.train.data.training_data import read_material

        return read_material(source.where)
    from plurivox.workflows.train_inputs import material_of

    return material_of(source.read(), pictures, part, screen.note)


def split_flag(section: str) -> Flag:
    """--split, under a title of the command's own."""
    return Flag(
        ["--split"],
        section,
        type=click.Path(path_type=Path),
        metavar="FILE.csv",
        help="columns task and split: train, dev, test  [default: the data's own]",
    )


def picture_flags() -> list[Flag]:
    """--images, --image-size and --skip-damaged."""
    title = "Images"
    table = Flag(
        ["--images"],
        title,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="a table with the columns task (or idx) and image, encoded  [default: those of INPUT]",
    )
    size = Flag(["--image-size"], title, type=click.IntRange(1), metavar="N", help="bring images to N x N pixels")
    skip = Flag(["--skip-damaged"], title, is_flag=True, help="leave out images that cannot be read")
    return [table, size, skip]


def pack_pictures(given: dict[str, Any]) -> None:
    """Put what these flags say into one value."""
    from plurivox.workflows.train_inputs import Pictures

    given["pictures"] = Pictures(given.pop("images"), given.pop("image_size"), given.pop("skip_damaged"))
