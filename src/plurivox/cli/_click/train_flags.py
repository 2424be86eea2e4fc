"""Flags of the commands that take inputs of nets: images and splits."""

from pathlib import Path
from typing import Any

import click

from plurivox.cli._click.flags import Flag


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
    from plurivox.workflows.load_training_data import Pictures

    given["pictures"] = Pictures(given.pop("images"), given.pop("image_size"), given.pop("skip_damaged"))
