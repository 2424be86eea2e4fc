"""Options --images, --image-size, --skip-damaged and --split, shared by train, predict and audit."""

from pathlib import Path
from typing import Any

import click

from plurivox.cli._click.parameters import Flag


def split_flag(section: str) -> Flag:
    """Return the option --split, listed in `section` of the help."""
    return Flag(
        ["--split"],
        section,
        type=click.Path(path_type=Path),
        metavar="FILE.csv",
        help="a table with the columns task,split (train, dev or test)  [default: the split in INPUT]",
    )


def image_flags() -> list[Flag]:
    """Return the options --images, --image-size and --skip-damaged."""
    title = "Images"
    table = Flag(
        ["--images"],
        title,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="a table with the columns task (or idx) and image (an encoded file)  [default: those of INPUT]",
    )
    size = Flag(["--image-size"], title, type=click.IntRange(1), metavar="N", help="resize images to N x N pixels")
    skip = Flag(["--skip-damaged"], title, is_flag=True, help="skip images that cannot be decoded")
    return [table, size, skip]


def pack_image_options(given: dict[str, Any]) -> None:
    """Replace the values of the three image options in `given` by one `pictures`."""
    from plurivox.workflows.train_inputs import Pictures

    given["pictures"] = Pictures(given.pop("images"), given.pop("image_size"), given.pop("skip_damaged"))
