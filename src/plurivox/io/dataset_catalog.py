"""The dataset catalog: data sets found by name in PLURIVOX_DATA (or the user's data folder) and those shipped with plurivox."""

import os
import shutil
from pathlib import Path
from typing import Any

from plurivox.core.atomic_write import atomic_folder
from plurivox.core.errors import InputError, unknown_name_error
from plurivox.io.dataset_folder_and_overwrite_checks import (
    check_not_overwriting_input,
    check_replaceable,
    holds_dataset_of_any_format,
    not_a_dataset_error,
    python_installer_error,
)

BUNDLED = Path(__file__).parent / "bundled"
EXTRA_FILES = ("README.md", "README", "LICENSE")  # files that an installed data set may contain besides its data


def data_home() -> Path:
    """Return the folder in which data sets are installed: PLURIVOX_DATA, or ~/.local/share/plurivox."""
    if given := os.environ.get("PLURIVOX_DATA"):
        return Path(given).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "plurivox"


def dataset_search_folders() -> list[Path]:
    """Return the folders in which a data set is looked up by name: the data folder, then the bundled data sets."""
    return [data_home(), BUNDLED]


def list_dataset_names() -> list[str]:
    """Return the names of all data sets in the catalog, installed or bundled with plurivox."""
    found = {
        one.name
        for root in dataset_search_folders()
        if root.is_dir()
        for one in root.iterdir()
        if _is_readable_dataset(one)
    }
    return sorted(found)


def find_dataset_folder_or_none(name: str) -> Path | None:
    """Return the folder of the catalog data set with this name, or None."""
    if not _is_valid_dataset_name(name):
        return None
    return next((root / name for root in dataset_search_folders() if _is_visible_nonempty_folder(root / name)), None)


def info(name: str) -> dict[str, Any]:
    """Return the folder, parts, tables and sizes of the data set with this name; raise UnknownName if there is none."""
    from plurivox.io.dataset_reader import read

    folder = find_dataset_folder_or_none(name)
    if folder is None:
        raise unknown_name_error("data set", name, list_dataset_names())
    if not holds_dataset_of_any_format(folder):
        raise not_a_dataset_error(folder)
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
    """Copy a data set (a folder or file, or a bundled one) into the data folder under this name; return its folder.

    `replace` overwrites a data set that has this name already.
    """
    if installer := next((one for one in (name, source) if one and Path(one).suffix == ".py"), None):
        raise python_installer_error(installer)
    if not _is_valid_dataset_name(name):
        raise InputError(f"{name!r} is not a valid data set name; use letters, digits, - and _")
    if source is None:
        if not _is_visible_nonempty_folder(BUNDLED / name):
            raise unknown_name_error("bundled data set", name, [one.name for one in BUNDLED.iterdir()])
        source = BUNDLED / name
    if not source.exists():
        raise InputError(f"there is no file or folder {source} to install")
    if source.is_dir() and not (holds_dataset_of_any_format(source) or _is_folder_of_other_program(source)):
        raise not_a_dataset_error(source)
    root = data_home()
    check_not_overwriting_input(source, root / name)
    if replace:
        check_replaceable(root / name, also_allowed=EXTRA_FILES)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with atomic_folder(root / name, replace=replace) as part:
            _copy_or_convert_dataset(source, part)
    except (PermissionError, InputError) as cause:
        if not isinstance(cause.__cause__ or cause, PermissionError):
            raise
        raise InputError(f"no permission to write to {root}; set PLURIVOX_DATA to a folder you can write to") from None
    except OSError as cause:
        raise InputError(f"{name} could not be installed in {root}: {cause.strerror or cause}") from cause
    return root / name


def _copy_or_convert_dataset(source: Path, target: Path) -> None:
    """Copy a plurivox folder to `target` unchanged after reading it once; convert a file or folder of another program."""
    from plurivox.io.dataset_reader import is_plurivox_folder, read
    from plurivox.io.plurivox_folder_writer import write

    data = read(source)
    if is_plurivox_folder(source):
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        write(data, target, replace=True)


def _is_folder_of_other_program(folder: Path) -> bool:
    """Return whether a folder can be read as the export of another program, such as Hugging Face `datasets`."""
    from plurivox.io.formats import find_reader_module_of_folder

    return find_reader_module_of_folder(folder) is not None


def _is_visible_nonempty_folder(folder: Path) -> bool:
    """Return whether a path is a non-empty folder whose name does not begin with . or _."""
    return folder.is_dir() and not folder.name.startswith((".", "_")) and any(folder.iterdir())


def _is_readable_dataset(folder: Path) -> bool:
    """Return whether a folder contains a data set that this user may read."""
    try:
        return _is_visible_nonempty_folder(folder) and holds_dataset_of_any_format(folder)
    except OSError:
        return False  # no permission


def _is_valid_dataset_name(name: str) -> bool:
    """Return whether a name can be the name of a data set: one path component, not hidden."""
    return bool(name) and name not in (".", "..") and not name.startswith(".") and Path(name).name == name
