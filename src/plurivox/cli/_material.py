"""INPUT of training: a data set with features or images, or an .npz of plain arrays, which needs no tables."""

from pathlib import Path
from typing import TYPE_CHECKING

from plurivox.cli._files import Source, crowd_of
from plurivox.cli._show import Screen
from plurivox.core.errors import InputError

if TYPE_CHECKING:
    from plurivox.core.names import Names
    from plurivox.io import Dataset
    from plurivox.train.material import Material


def material_of(screen: Screen, source: Source, part: str | None, image_size: int | None, skip: bool) -> "Material":
    """The inputs behind INPUT and what is known of them."""
    from plurivox.train.material import Material, read_material

    if source.where.endswith(".npz") and Path(source.where).is_file():
        return read_material(source.where)
    data = source.read()
    votes = crowd_of(screen, data, part) if data.has("votes") or data.has("counts") else None
    if (features := data.features) is not None:
        gold = features.gold if features.gold is not None else data.gold
        split = features.split if features.split is not None else _split_of(data, features.tasks)
        return Material(data.name, features.tasks, features.x, split, gold, votes, data.soft_labels)
    if data.images is None:
        raise InputError(f"{data.name} has neither features nor images to train on; it holds {', '.join(data.parts())}")
    from plurivox.train.images import decode

    found = decode(list(data.images.values()), list(data.images), size=image_size, damaged="skip" if skip else "error")
    if len(found.damaged):
        screen.note(f"{len(found.damaged)} images cannot be read and are left out")
    split = _split_of(data, found.tasks)
    return Material(data.name, found.tasks, found.x, split, data.gold, votes, data.soft_labels)


def _split_of(data: "Dataset", tasks: "Names") -> "Names | None":
    """(n_tasks,) the split of each task, where the data name one for all of them."""
    from plurivox.core.names import as_names, positions

    out = [""] * len(tasks)
    for split, members in data.splits.items():
        for place in (positions(members, tasks) >= 0).nonzero()[0].tolist():
            out[place] = split
    return as_names(out) if out and all(out) else None
