"""What stands in a folder: whether it is a data set, and whether it may be replaced. No table is opened here."""

from collections.abc import Iterable
from pathlib import Path

from plurivox.core.errors import InputError, first_few
from plurivox.io.tabular.file_names import ENDINGS, stem_of, suffix_of

MAIN = ("votes", "answers", "counts", "gold")  # a data set has one of these tables
ABOUT, METADATA, SPLITS = "dataset.toml", "metadata.json", ("train", "val", "test")


def is_table(file: Path) -> bool:
    """Whether a file holds a table, by its ending in large or small letters; a hidden file holds none."""
    return suffix_of(file) in ENDINGS and not file.name.startswith(".") and file.is_file()


def holds_main_table(folder: Path) -> bool:
    """Whether a folder has votes, answers, counts or gold as a table: ours, or peerannot's answers."""
    return folder.is_dir() and any(stem_of(one) in MAIN and is_table(one) for one in folder.iterdir())


def holds_set(folder: Path) -> bool:
    """Whether a folder can be read as a data set: our tables, peerannot's answers, or a folder of images a label."""
    if not folder.is_dir():
        return False
    return holds_main_table(folder) or (any(map(Path.is_dir, folder.iterdir())) and _holds_images(folder))


def may_replace(folder: str | Path, also: Iterable[str] = ()) -> None:
    """Refuse to replace a folder unless all in it is recognisably a data set, ours or peerannot's.

    `also` names further files that do no harm. A folder that is empty or not there may always be written.
    """
    target = Path(folder)
    if not target.is_dir():
        return
    here = Path.cwd()
    if target.resolve() in (here, *here.parents):
        raise InputError(f"{target} is the folder you are in, or one above it; name another one")
    if target.is_symlink():
        raise InputError(f"{target} is a link to {target.resolve()}; name that folder itself")
    entries = sorted(target.iterdir())
    if not entries:
        return
    if strangers := [one.name for one in entries if not (_belongs(one) or one.name in also)]:
        raise InputError(
            f"{target} is not replaced: {first_few(strangers)} would be lost, which are no part of a data set; "
            "choose another folder, or move them away"
        )
    if not any(stem_of(one) in (*MAIN, "metadata") and is_table(one) for one in entries):
        raise InputError(f"{target} is not replaced: it holds no data set ({_named(entries)}); choose another folder")


def keep_apart(source: Path | None, target: Path) -> None:
    """Refuse to write over what is read, into a folder that holds it, or over a part of it."""
    if source is None:
        return
    read, written = source.resolve(), target.resolve()
    if read == written or written in read.parents or (read in written.parents and written.exists()):
        raise InputError(f"{target} would be written over what is read from {source}; choose another place")


def no_set(folder: Path) -> InputError:
    """The error for a folder in which there is no data set."""
    held = _named(sorted(folder.iterdir())) or "nothing"
    return InputError(f"{folder} holds no data set; it needs votes, answers, counts or gold as a table, and has {held}")


def _belongs(entry: Path) -> bool:
    """Whether a file or folder is one that a data set of ours or peerannot's has."""
    if entry.is_symlink():
        return False
    if entry.is_dir():
        return entry.name in SPLITS and (entry.parent / METADATA).is_file() and _only_images(entry)
    return entry.name == ABOUT or suffix_of(entry) == ".npz" or is_table(entry)


def _only_images(folder: Path) -> bool:
    from plurivox.io.formats.image_folder import is_image

    return all(one.is_dir() or is_image(one) for one in folder.rglob("*"))


def _holds_images(folder: Path) -> bool:
    from plurivox.io.formats import image_folder

    return image_folder.recognises(folder)


def _named(entries: list[Path]) -> str:
    return first_few(one.name for one in entries)
