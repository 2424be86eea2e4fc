"""INPUT of training: a data set with features or images, or an .npz of plain arrays, which needs no tables."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plurivox.cli._files import Source, crowd_of
from plurivox.cli._flags import Flag
from plurivox.cli._show import Screen
from plurivox.core.errors import InputError, some

if TYPE_CHECKING:
    from plurivox.core.names import Names
    from plurivox.io import Dataset
    from plurivox.train.material import Material


@dataclass(frozen=True)
class Pictures:
    """Where images come from, and how they are read."""

    table: Path | None = None  # columns task (or idx) and image, encoded
    size: int | None = None
    skip: bool = False  # leave out those that cannot be read


def material_of(screen: Screen, source: Source, part: str | None, pictures: Pictures) -> "Material":
    """The inputs behind INPUT and what is known of them."""
    from plurivox.train.material import Material, read_material

    if source.where.endswith(".npz") and Path(source.where).is_file():
        return read_material(source.where)
    data = source.read()
    told = any(map(data.has, ("votes", "counts")))
    told = told or (
        data.has("answers") and not any(map(data.has, ("gold", "soft_labels")))
    )  # its error says what to do
    votes = crowd_of(screen, data, part) if told else None
    if pictures.table is None and (features := data.features) is not None:
        gold = features.gold if features.gold is not None else data.gold
        split = features.split if features.split is not None else _split_of(data, features.tasks)
        return Material(data.name, features.tasks, features.x, split, gold, votes, data.soft_labels)
    tasks, x = _images_of(screen, data, pictures)
    return Material(data.name, tasks, x, _split_of(data, tasks), data.gold, votes, data.soft_labels)


def _images_of(screen: Screen, data: "Dataset", pictures: Pictures) -> "tuple[Names, Any]":
    """(tasks, pixels) of the images of a table, or else of the data set."""
    from plurivox.core.names import as_names
    from plurivox.train.images import decode

    if pictures.table is not None:
        from plurivox.io.columns import names_of, require_columns
        from plurivox.io.tables import read_table

        frame = read_table(pictures.table)
        name = "task" if "task" in frame.columns else "idx"
        require_columns(frame, [name, "image"], pictures.table)
        tasks, images = names_of(frame[name], pictures.table), frame["image"].to_list()
    elif data.images is not None:
        tasks, images = as_names(list(data.images), "tasks"), list(data.images.values())
    elif (items := data.items) is not None and "image" in items.columns:
        shown = items.drop_nulls("image")
        tasks, images = as_names(shown["task"].to_list(), "tasks"), shown["image"].to_list()
    else:
        raise InputError(
            f"{data.name} has neither features nor images to train on; put features.npz (x, a row a task, and task) into "
            "its folder, or give --images FILE"
        )
    found = decode(images, tasks, size=pictures.size, damaged="skip" if pictures.skip else "error")
    if len(found.damaged):
        screen.note(f"{len(found.damaged)} images cannot be read and are left out: {some(found.damaged)}")
    return found.tasks, found.x


def _split_of(data: "Dataset", tasks: "Names") -> "Names | None":
    """(n_tasks,) the split of each task, where the data name one for all of them."""
    from plurivox.core.names import as_names, positions

    out = [""] * len(tasks)
    for split, members in data.splits.items():
        for place in (positions(members, tasks) >= 0).nonzero()[0].tolist():
            out[place] = split
    return as_names(out) if out and all(out) else None


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
    given["pictures"] = Pictures(given.pop("images"), given.pop("image_size"), given.pop("skip_damaged"))
