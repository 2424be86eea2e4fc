"""Image folders: a folder per label with its images, or images alone, and no votes.

The folders may stand under `train`, `val` and `test`. A task is named by its file's stem where no two files share one,
else by its path; the gold label is the name of the folder. Images alone have no label: a trained net may guess it.
"""

from dataclasses import dataclass
from pathlib import Path

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.io.folder_check import MAIN, SPLITS
from plurivox.io.formats._contents import Contents, counted

IMAGES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"))


@dataclass(frozen=True)
class Image:
    """One image file, with the folder that is its label and the split it stands in."""

    path: Path
    label: str
    split: str  # "" where there are no splits


@dataclass(frozen=True)
class Found:
    """The images under a folder, in sorted order; all label folders, empty ones too; what was passed over."""

    images: tuple[Image, ...]
    labels: tuple[str, ...]
    n_other: int  # files that are no images
    n_loose: int  # images outside any label folder


def recognises(path: Path) -> bool:
    """Is this a folder with images, or a folder of images, in it, and no table of votes or truth?"""
    if not path.is_dir() or any(any(path.glob(f"{part}.*")) for part in MAIN):
        return False
    return any(is_image(file) for root in _roots(path).values() for file in root.glob("*/*")) or bool(_loose(path))


def read(path: str | Path) -> Contents:
    """The images as tasks, with their folders as gold labels."""
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"there is no folder {path}")
    found = find_images(folder)
    if not found.images and (loose := _loose(folder)):
        return _alone(folder, loose)
    if not found.images:
        raise InputError(f"{path} holds no images in label folders; put them at {path}/<label>/<name>.png")
    stems = [image.path.stem for image in found.images]
    unique = len(set(stems)) == len(stems)
    tasks = stems if unique else [image.path.relative_to(folder).as_posix() for image in found.images]
    notes = counted(
        (found.n_other, "files are no images and were passed over"),
        (found.n_loose, "images stand outside label folders and were passed over"),
    )
    if not unique:
        notes += ("tasks are named by their path: some files share a name",)
    with_splits = any(image.split for image in found.images)
    return Contents(
        name=folder.resolve().name,
        gold=SoftLabels.gold(tasks, [image.label for image in found.images], labels=found.labels),
        images={task: image.path for task, image in zip(tasks, found.images, strict=True)},
        splits={task: image.split for task, image in zip(tasks, found.images, strict=True)} if with_splits else None,
        notes=notes,
    )


def _loose(folder: Path) -> list[Path]:
    """The images that stand in the folder itself."""
    return sorted(file for file in folder.iterdir() if is_image(file))


def _alone(folder: Path, files: list[Path]) -> Contents:
    """Images without labels."""
    stems = [file.stem for file in files]
    tasks = stems if len(set(stems)) == len(stems) else [file.name for file in files]
    return Contents(name=folder.resolve().name, images=dict(zip(tasks, files, strict=True)))


def find_images(folder: Path) -> Found:
    """Every image under the label folders of `folder`, or of its `train`, `val` and `test`."""
    images: list[Image] = []
    labels: set[str] = set()
    n_other = n_loose = 0
    for split, root in _roots(folder).items():
        homes = [home for home in root.iterdir() if home.is_dir() and not home.name.startswith(".")]
        labels |= {home.name for home in homes}
        n_loose += sum(is_image(file) for file in root.iterdir())
        for home in homes:
            files = sorted(file for file in home.rglob("*") if not file.is_dir())
            kept = [Image(file, home.name, split) for file in files if is_image(file)]
            images += kept
            n_other += len(files) - len(kept)
    order = sorted(images, key=lambda image: (_rank(image.split), image.label, image.path))
    return Found(tuple(order), tuple(sorted(labels)), n_other, n_loose)


def is_image(file: Path) -> bool:
    """Is this a file (or a link to one) with an image's ending?"""
    return file.suffix.lower() in IMAGES and not file.name.startswith(".") and file.is_file()


def _roots(folder: Path) -> dict[str, Path]:
    """The folders whose children are label folders, by split; a folder called `train` may also be a label."""
    splits = {split: folder / split for split in SPLITS if (folder / split).is_dir()}
    deep = any(child.is_dir() for root in splits.values() for child in root.iterdir())
    return splits if deep else {"": folder}


def _rank(split: str) -> int:
    return SPLITS.index(split) if split in SPLITS else -1
