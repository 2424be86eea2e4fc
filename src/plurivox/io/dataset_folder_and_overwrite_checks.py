"""Check by file names whether a folder is a data set, whether it may be overwritten, and whether input and output overlap."""

from collections.abc import Iterable
from pathlib import Path

from plurivox.core.errors import InputError, first_few
from plurivox.io.tabular.table_file_names import READABLE_TABLE_SUFFIXES, file_suffix, table_name_of_file

MAIN_TABLES = ("votes", "answers", "counts", "gold")  # a data set has at least one of these tables
DATASET_TOML, METADATA, SPLITS = "dataset.toml", "metadata.json", ("train", "val", "test")


def is_table_file(file: Path) -> bool:
    """Return whether a file is a table, by its extension (case ignored); hidden files are not."""
    return file_suffix(file) in READABLE_TABLE_SUFFIXES and not file.name.startswith(".") and file.is_file()


def holds_votes_answers_counts_or_gold_table(folder: Path) -> bool:
    """Return whether a folder contains votes, answers, counts or gold as a table, or the answers.json of peerannot."""
    return folder.is_dir() and any(
        table_name_of_file(one) in MAIN_TABLES and is_table_file(one) for one in folder.iterdir()
    )


def holds_dataset_of_any_format(folder: Path) -> bool:
    """Return whether a folder can be read as a data set: tables of plurivox, peerannot, or one folder of images per label."""
    if not folder.is_dir():
        return False
    return holds_votes_answers_counts_or_gold_table(folder) or (
        any(map(Path.is_dir, folder.iterdir())) and _is_image_folder(folder)
    )


def check_replaceable(folder: str | Path, also_allowed: Iterable[str] = ()) -> None:
    """Raise InputError if a folder contains anything but a data set of plurivox or peerannot, so must not be overwritten.

    `also_allowed` names further files that may be in it. A folder that is empty or does not exist passes.
    """
    target = Path(folder)
    if not target.is_dir():
        return
    here = Path.cwd()
    if target.resolve() in (here, *here.parents):
        raise InputError(f"{target} is the current folder or one above it; choose another folder")
    if target.is_symlink():
        raise InputError(f"{target} is a symbolic link to {target.resolve()}; give that folder itself")
    entries = sorted(target.iterdir())
    if not entries:
        return
    if others := [one.name for one in entries if not (_is_part_of_dataset_folder(one) or one.name in also_allowed)]:
        raise InputError(
            f"{target} is not overwritten: it also contains {first_few(others)}, not part of a data set; "
            "choose another folder, or move these files"
        )
    if not any(table_name_of_file(one) in (*MAIN_TABLES, "metadata") and is_table_file(one) for one in entries):
        raise InputError(
            f"{target} is not overwritten: it is not a data set (it contains {_first_few_names_text(entries)}); "
            "choose another folder"
        )


def check_not_overwriting_input(source: Path | None, target: Path) -> None:
    """Raise InputError if writing `target` would overwrite `source`, a folder that contains it, or a part of it."""
    if source is None:
        return
    read, written = source.resolve(), target.resolve()
    if read == written or written in read.parents or (read in written.parents and written.exists()):
        raise InputError(f"writing {target} would overwrite the input {source}; choose another output path")


def not_a_dataset_error(folder: Path) -> InputError:
    """Return the InputError for a folder that is not a data set; its message lists the files found."""
    found = _first_few_names_text(sorted(folder.iterdir())) or "nothing"
    return InputError(
        f"{folder} is not a data set; it needs a table named votes, answers, counts or gold (such as votes.csv); "
        f"it contains {found}"
    )


def python_installer_error(file: str | Path) -> InputError:
    """Return the InputError for a Python file where data are expected, such as the installers of peerannot."""
    path = Path(file)
    return InputError(
        f"{path.name} is a Python program, as peerannot has to install data sets; plurivox reads data and runs no programs. "
        f"Run it once with peerannot (peerannot install {path}), then read the folder in which it wrote answers.json: "
        f"plurivox describe {path.parent}, or plurivox datasets install {path.stem} --from {path.parent}"
    )


def _is_part_of_dataset_folder(entry: Path) -> bool:
    """Return whether a file or folder is one that a data set of plurivox or peerannot contains."""
    if entry.is_symlink():
        return False
    if entry.is_dir():
        return entry.name in SPLITS and (entry.parent / METADATA).is_file() and _holds_only_images_and_folders(entry)
    return entry.name == DATASET_TOML or file_suffix(entry) == ".npz" or is_table_file(entry)


def _holds_only_images_and_folders(folder: Path) -> bool:
    """Return whether a folder contains only images and folders."""
    from plurivox.io.formats.image_folder import is_image_file

    return all(one.is_dir() or is_image_file(one) for one in folder.rglob("*"))


def _is_image_folder(folder: Path) -> bool:
    """Return whether a folder contains images or folders of images, and no tables of a data set."""
    from plurivox.io.formats import image_folder

    return image_folder.recognises(folder)


def _first_few_names_text(entries: list[Path]) -> str:
    """Return the names of the first few files and folders of a list as text, for messages."""
    return first_few(one.name for one in entries)
