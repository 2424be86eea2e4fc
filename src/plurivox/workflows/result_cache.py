"""ResultCache: results stored by name in a folder, so that an interrupted experiment can be resumed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from plurivox.core.atomic_write import atomic_file
from plurivox.core.base import DataType
from plurivox.core.errors import InputError

SETTINGS = "settings.json"
N = TypeVar("N", bound=DataType)


class ResultCache:
    """Cache of results by name in a folder; a result is computed only if it is not stored yet (always without a folder).

    >>> ResultCache("", "any").numbers("one", lambda: {"accuracy": 0.5})
    {'accuracy': 0.5}
    """

    def __init__(self, folder: str, settings: str) -> None:
        self.home = Path(folder) if folder else None
        if self.home is not None:
            self.home.mkdir(parents=True, exist_ok=True)
            _check_settings(self.home, settings)

    def numbers(self, name: str, make: Callable[[], Mapping[str, float]]) -> dict[str, float]:
        """Return the stored numbers of this name, or compute and store them."""
        path = None if self.home is None else self.home / f"{name}.json"
        if path is not None and path.is_file():
            return dict(json.loads(path.read_text(encoding="utf-8")))
        found = {key: float(value) for key, value in make().items()}
        if path is not None:
            _write_json(path, found)
        return found

    def data_type(self, name: str, kind: type[N], make: Callable[[], N]) -> N:
        """Return the stored data type (SoftLabels, ...) of this name, or compute and store it."""
        path = None if self.home is None else self.home / f"{name}.npz"
        if path is not None and path.is_file():
            found = DataType.load(path)
            assert isinstance(found, kind)
            return found
        made = make()
        if path is not None:
            made.save(path)
        return made


def _check_settings(home: Path, settings: str) -> None:
    """Raise InputError if the folder contains results of other settings or other files; store the settings in a new one."""
    path = home / SETTINGS
    if not path.is_file():
        if any(home.iterdir()):
            raise InputError(f"{home} is not empty and contains no results of an experiment; choose another folder")
        _write_json(path, {"settings": settings})
    before = json.loads(path.read_text(encoding="utf-8"))["settings"]
    if before != settings:
        raise InputError(
            f"{home} contains the results of {before}; this experiment is {settings}: choose another folder"
        )


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a mapping as JSON; an error leaves no partial file."""
    with atomic_file(path) as part:
        part.write_text(json.dumps(content, indent=1), encoding="utf-8")
