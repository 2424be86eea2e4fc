"""The shelf: data sets by name, under PLURIVOX_DATA or the user's own data folder."""

import os
import shutil
from pathlib import Path
from typing import Any

from plurivox.core.atomic_write import atomic_folder
from plurivox.core.errors import InputError, unknown_name
from plurivox.io.folder_check import holds_set, keep_apart, may_replace, no_set

BUNDLED = Path(__file__).parent / "bundled"
BESIDE = ("README.md", "README", "LICENSE")  # what an installed set may hold beside its data


def home() -> Path:
    """The folder where data sets are looked up by name and installed."""
    if given := os.environ.get("PLURIVOX_DATA"):
        return Path(given).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "plurivox"


def shelves() -> list[Path]:
    """Where a name is looked up, in order: the home, then what ships with the package."""
    return [home(), BUNDLED]


def listed() -> list[str]:
    """The names that can be read, installed or bundled."""
    found = {one.name for shelf in shelves() if shelf.is_dir() for one in shelf.iterdir() if _is_readable(one)}
    return sorted(found)


def find(name: str) -> Path | None:
    """The folder of a data set, or None."""
    if not _is_plain(name):
        return None
    return next((shelf / name for shelf in shelves() if _is_set(shelf / name)), None)


def info(name: str) -> dict[str, Any]:
    """Where a data set is and what is in it."""
    from plurivox.io.dataset_reader import read

    folder = find(name)
    if folder is None:
        raise unknown_name("data set", name, listed())
    if not holds_set(folder):
        raise no_set(folder)
    data = read(folder)
    about: dict[str, Any] = {"name": name, "folder": str(folder), "parts": data.parts(), "tables": sorted(data.tables)}
    about |= {key: value for key in ("description", "command") if (value := data.about.get(key))}
    if data.has("votes") or data.has("counts"):
        crowd = data.crowd()
        about |= {"tasks": crowd.n_tasks, "workers": crowd.n_workers, "labels": crowd.labels.tolist()}
        about["votes"] = round(crowd.n_answers)
    if (answers := data.answers) is not None:
        about["answers"] = len(answers)
    if (gold := data.gold) is not None:
        about["gold"] = len(gold)
    readme = folder / "README.md"
    if readme.is_file():
        about["readme"] = str(readme)
    return about


def install(name: str, source: Path | None = None, *, replace: bool = False) -> Path:
    """Put a data set on the shelf under a name: a copy of a folder, or one that ships with the package.

    `replace` replaces a data set that has this name already.
    """
    if not _is_plain(name):
        raise InputError(f"{name!r} cannot name a data set; use letters, digits, - and _")
    if source is None:
        if not _is_set(BUNDLED / name):
            raise unknown_name("bundled data set", name, [one.name for one in BUNDLED.iterdir()])
        source = BUNDLED / name
    if not source.exists():
        raise InputError(f"there is nothing at {source} to install")
    if source.is_dir() and not holds_set(source):
        raise no_set(source)
    shelf = home()
    keep_apart(source, shelf / name)
    if replace:
        may_replace(shelf / name, also=BESIDE)
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        with atomic_folder(shelf / name, replace=replace) as part:
            _copy(source, part)
    except (PermissionError, InputError) as cause:
        if not isinstance(cause.__cause__ or cause, PermissionError):
            raise
        raise InputError(f"{shelf} cannot be written to; set PLURIVOX_DATA to a folder of yours") from None
    except OSError as cause:
        raise InputError(f"{name} could not be installed in {shelf}: {cause.strerror or cause}") from cause
    return shelf / name


def _copy(source: Path, part: Path) -> None:
    """A folder as it is, after making sure that it can be read; a file or another program's folder in our own form."""
    from plurivox.io.dataset_reader import is_ours, read
    from plurivox.io.folder_writer import write

    data = read(source)
    if is_ours(source):
        shutil.copytree(source, part, dirs_exist_ok=True)
    else:
        write(data, part, replace=True)


def _is_set(folder: Path) -> bool:
    return folder.is_dir() and not folder.name.startswith((".", "_")) and any(folder.iterdir())


def _is_readable(folder: Path) -> bool:
    try:
        return _is_set(folder) and holds_set(folder)
    except OSError:
        return False  # closed to this user: not a set to offer


def _is_plain(name: str) -> bool:
    return bool(name) and name not in (".", "..") and not name.startswith(".") and Path(name).name == name
