"""Options --images, --image-size, --skip-damaged and --split, shared by train, predict and audit."""

from pathlib import Path
from typing import Any

import click

from plurivox.cli._click.parameters import Flag


def make_split_flag(help_section: str) -> Flag:
    """Return the option --split, listed in `help_section` of the help."""
    return Flag(
        ["--split"],
        help_section,
        type=click.Path(path_type=Path),
        metavar="FILE.csv",
        help="a table with the columns task,split (train, dev or test)  [default: the split in INPUT]",
    )


def make_image_flags() -> list[Flag]:
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


def replace_image_options_by_pictures(param_values: dict[str, Any]) -> None:
    """Replace images, image_size and skip_damaged in `param_values`, in place, by one Pictures `pictures`."""
    from plurivox.workflows.load_training_data import Pictures

    param_values["pictures"] = Pictures(
        param_values.pop("images"), param_values.pop("image_size"), param_values.pop("skip_damaged")
    )
