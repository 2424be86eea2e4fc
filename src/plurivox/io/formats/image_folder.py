"""Read image folders: one folder of images per label, or images without labels; there are no votes.

The label folders may be under `train`, `val` and `test`. A task is named by its file's stem if all stems differ, else by its
path; the gold label is the name of the folder.
"""

from dataclasses import dataclass
from pathlib import Path

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.io.dataset_folder_and_overwrite_checks import MAIN_TABLES, SPLITS
from plurivox.io.formats._data_read_from_other_program import ForeignContents, counted_notes

IMAGE_SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"))


@dataclass(frozen=True)
class Image:
    """One image file with its label (the name of its folder) and its split."""

    path: Path
    label: str
    split: str  # "" if there are no splits


@dataclass(frozen=True)
class ImageFiles:
    """Image files under a folder in sorted order, the names of all label folders, and counts of the files skipped."""

    images: tuple[Image, ...]
    labels: tuple[str, ...]
    n_other: int  # files that are not images
    n_loose: int  # images outside any label folder


def recognises(path: Path) -> bool:
    """Return whether a folder contains images or folders of images, and no table of votes, answers, counts or gold."""
    if not path.is_dir() or any(any(path.glob(f"{part}.*")) for part in MAIN_TABLES):
        return False
    return any(
        is_image_file(file) for root in _folder_by_split_or_whole_folder(path).values() for file in root.glob("*/*")
    ) or bool(_top_level_images(path))


def read(path: str | Path) -> ForeignContents:
    """Return the images of a folder as tasks, with the name of the folder of each image as its gold label."""
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"there is no folder {path}")
    found = find_labelled_images(folder)
    if not found.images and (top_level := _top_level_images(folder)):
        return _dataset_of_unlabelled_images(folder, top_level)
    if not found.images:
        raise InputError(f"{path} contains no images in label folders; expected files like {path}/<label>/<name>.png")
    stems = [image.path.stem for image in found.images]
    unique = len(set(stems)) == len(stems)
    tasks = stems if unique else [image.path.relative_to(folder).as_posix() for image in found.images]
    notes = counted_notes(
        (found.n_other, "file is not an image and was skipped", "files are not images and were skipped"),
        (found.n_loose, "image outside of label folders was skipped", "images outside of label folders were skipped"),
    )
    if not unique:
        notes += ("tasks are named by their path: some files share a name",)
    with_splits = any(image.split for image in found.images)
    return ForeignContents(
        name=folder.resolve().name,
        gold=SoftLabels.gold(tasks, [image.label for image in found.images], labels=found.labels),
        images={task: image.path for task, image in zip(tasks, found.images, strict=True)},
        splits={task: image.split for task, image in zip(tasks, found.images, strict=True)} if with_splits else None,
        notes=notes,
    )


def _top_level_images(folder: Path) -> list[Path]:
    """Return the image files directly in the folder."""
    return sorted(file for file in folder.iterdir() if is_image_file(file))


def _dataset_of_unlabelled_images(folder: Path, image_files: list[Path]) -> ForeignContents:
    """Return a data set with one task per image file, named by the file, without labels."""
    stems = [file.stem for file in image_files]
    tasks = stems if len(set(stems)) == len(stems) else [file.name for file in image_files]
    return ForeignContents(name=folder.resolve().name, images=dict(zip(tasks, image_files, strict=True)))


def find_labelled_images(folder: Path) -> ImageFiles:
    """Return all images in the label folders of `folder`, or of its subfolders `train`, `val` and `test`."""
    images: list[Image] = []
    labels: set[str] = set()
    n_other = n_loose = 0
    for split, root in _folder_by_split_or_whole_folder(folder).items():
        label_folders = [
            label_folder
            for label_folder in root.iterdir()
            if label_folder.is_dir() and not label_folder.name.startswith(".")
        ]
        labels |= {label_folder.name for label_folder in label_folders}
        n_loose += sum(is_image_file(file) for file in root.iterdir())
        for label_folder in label_folders:
            files = sorted(file for file in label_folder.rglob("*") if not file.is_dir())
            kept = [Image(file, label_folder.name, split) for file in files if is_image_file(file)]
            images += kept
            n_other += len(files) - len(kept)
    order = sorted(images, key=lambda image: (_position_in_train_val_test(image.split), image.label, image.path))
    return ImageFiles(tuple(order), tuple(sorted(labels)), n_other, n_loose)


def is_image_file(file: Path) -> bool:
    """Return whether this is a file (or a link to one) with the extension of an image format."""
    return file.suffix.lower() in IMAGE_SUFFIXES and not file.name.startswith(".") and file.is_file()


def _folder_by_split_or_whole_folder(folder: Path) -> dict[str, Path]:
    """Return {split: folder} of the folders train, val, test that contain label folders; {"": folder} if there are none."""
    splits = {split: folder / split for split in SPLITS if (folder / split).is_dir()}
    deep = any(child.is_dir() for root in splits.values() for child in root.iterdir())
    return splits if deep else {"": folder}


def _position_in_train_val_test(split: str) -> int:
    """Return the position of a split in the order train, val, test; -1 for others."""
    return SPLITS.index(split) if split in SPLITS else -1
