"""Options on the inputs of nets: --features, --images, --image-size, --skip-damaged, --labels FILE; and --split."""

from pathlib import Path
from typing import Any

import click

from plurivox.cli._click.parameters import Flag, LabelList
from plurivox.core.errors import InputError


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
        type=click.Path(),
        is_flag=False,
        flag_value="",
        metavar="[FILE]",
        help="use images: a table with the columns task (or idx) and image (an encoded file or its path), a folder of image "
        "files named after their tasks, or without FILE those of INPUT, also if it has features  [default: features, else "
        "images of INPUT]",
    )
    size = Flag(["--image-size"], title, type=click.IntRange(1), metavar="N", help="resize images to N x N pixels")
    skip = Flag(["--skip-damaged"], title, is_flag=True, help="skip images that cannot be decoded")
    return [table, size, skip]


def replace_image_options_by_pictures(param_values: dict[str, Any]) -> None:
    """Replace images, image_size and skip_damaged in `param_values`, in place, by one Pictures `pictures`."""
    from plurivox.workflows.training_inputs import Pictures

    given = param_values.pop("images")
    param_values["pictures"] = Pictures(
        Path(given) if given else None,
        param_values.pop("image_size"),
        param_values.pop("skip_damaged"),
        of_input=given == "",
    )


def make_features_flag(help_section: str) -> Flag:
    """Return the option --features, listed in `help_section` of the help."""
    return Flag(
        ["--features"],
        help_section,
        default="",
        metavar="FILE|COL,COL",
        help="inputs of the network: a file of features (.npz or a table with the column task), or columns of numbers in the "
        "items of INPUT, standardised by mean and standard deviation of the training tasks  [default: features, else images or "
        "texts of INPUT]",
    )


class LabelListOrFile(LabelList):
    """Click type of --labels of train: a file of training labels (.csv, .npy, .npz, ...), or a list of labels."""

    name = "labels"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(str(value))
        if not isinstance(value, list) and "," not in path.name and path.suffix.lower() in LABEL_FILE_SUFFIXES:
            if not path.is_file():
                raise InputError(f"there is no file {path} with training labels (--labels)")
            return path
        return super().convert(value, param, ctx)


LABEL_FILE_SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".json", ".npy", ".npz", ".gz")


def make_training_labels_flag(help_section: str) -> Flag:
    """Return the option --labels of train, listed in `help_section` of the help, in place of the list of labels of INPUT."""
    return Flag(
        ["--labels"],
        help_section,
        type=LabelListOrFile(),
        metavar="FILE|LIST",
        help="train on the labels in FILE, hard or soft: a table (.csv, ...) or .npz as written by aggregate, or .npy without "
        "names, in task order, as written by peerannot; or a list of all labels in order, such as no,yes",
    )
