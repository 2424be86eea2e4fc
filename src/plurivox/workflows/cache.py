"""Kept: results by name in a folder, so that a long walk that was stopped goes on where it was."""

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
    """Results by name, each made only where the folder does not hold it yet; without a folder all are made.

    >>> ResultCache("", "any").numbers("one", lambda: {"accuracy": 0.5})
    {'accuracy': 0.5}
    """

    def __init__(self, folder: str, settings: str) -> None:
        self.home = Path(folder) if folder else None
        if self.home is not None:
            self.home.mkdir(parents=True, exist_ok=True)
            _refuse_others(self.home, settings)

    def numbers(self, name: str, make: Callable[[], Mapping[str, float]]) -> dict[str, float]:
        """The numbers of that name."""
        path = None if self.home is None else self.home / f"{name}.json"
        if path is not None and path.is_file():
            return dict(json.loads(path.read_text(encoding="utf-8")))
        found = {key: float(value) for key, value in make().items()}
        if path is not None:
            _write(path, found)
        return found

    def noun(self, name: str, kind: type[N], make: Callable[[], N]) -> N:
        """The noun of that name."""
        path = None if self.home is None else self.home / f"{name}.npz"
        if path is not None and path.is_file():
            found = DataType.load(path)
            assert isinstance(found, kind)
            return found
        made = make()
        if path is not None:
            made.save(path)
        return made


def _refuse_others(home: Path, settings: str) -> None:
    """A folder keeps the results of one walk; another one must not mix its own in."""
    path = home / SETTINGS
    if not path.is_file():
        if any(home.iterdir()):
            raise InputError(f"{home} is not empty and keeps no results; choose another folder")
        _write(path, {"settings": settings})
    before = json.loads(path.read_text(encoding="utf-8"))["settings"]
    if before != settings:
        raise InputError(f"{home} keeps the results of {before}; this is {settings}: choose another folder")


def _write(path: Path, content: Mapping[str, object]) -> None:
    with atomic_file(path) as part:
        part.write_text(json.dumps(content, indent=1), encoding="utf-8")
