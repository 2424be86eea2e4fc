"""ResultCache: results stored by name in a folder, so that an interrupted experiment can be resumed."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from plurivox.core.atomic_write import atomic_file
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError
from plurivox.core.method import Method

SETTINGS = "settings.json"
N = TypeVar("N", bound=DataType)


class ResultCache:
    """Cache of results by name in a folder; a result is computed only if it is not stored yet (always without a folder).

    >>> ResultCache("", "any").load_or_compute_numbers("one", lambda: {"accuracy": 0.5})
    {'accuracy': 0.5}
    """

    def __init__(self, folder: str, settings: str) -> None:
        self.home = Path(folder) if folder else None
        if self.home is not None:
            self.home.mkdir(parents=True, exist_ok=True)
            _check_or_store_settings(self.home, settings)

    def load_or_compute_numbers(self, name: str, compute: Callable[[], Mapping[str, float]]) -> dict[str, float]:
        """Return the numbers stored under this name in the folder, or compute and store them."""
        path = None if self.home is None else self.home / f"{name}.json"
        if path is not None and path.is_file():
            return dict(json.loads(path.read_text(encoding="utf-8")))
        found = {key: float(value) for key, value in compute().items()}
        if path is not None:
            _write_json_atomically(path, found)
        return found

    def load_or_compute_data(self, name: str, data_type: type[N], compute: Callable[[], N]) -> N:
        """Return the SoftLabels (or other data type) stored under this name in the folder, or compute and store it."""
        path = None if self.home is None else self.home / f"{name}.npz"
        if path is not None and path.is_file():
            found = DataType.load(path)
            assert isinstance(found, data_type)
            return found
        made = compute()
        if path is not None:
            made.save(path)
        return made


def settings_text(method: Method, options_added_later: Iterable[str] = ()) -> str:
    """Return a method as text, without the options added after the first version that are at their default.

    Results that a version without these options has cached are then used.

    >>> from plurivox.aggregate import MajorityVote
    >>> repr(MajorityVote()), settings_text(MajorityVote(), ["seed"])
    ("MajorityVote(ties='first', seed=0)", "MajorityVote(ties='first')")
    """
    text = repr(method)
    for option in method.options():
        if option.name in options_added_later and getattr(method, option.name) == option.default:
            text = text.replace(f", {option.name}={option.default!r}", "")
    return text


def _check_or_store_settings(cache_folder: Path, settings: str) -> None:
    """Store the settings in an empty folder; raise InputError if it has results of other settings or other files."""
    path = cache_folder / SETTINGS
    if not path.is_file():
        if any(cache_folder.iterdir()):
            raise InputError(
                f"{cache_folder} is not empty and contains no results of an experiment; choose another folder"
            )
        _write_json_atomically(path, {"settings": settings})
    before = json.loads(path.read_text(encoding="utf-8"))["settings"]
    if before != settings:
        raise InputError(
            f"{cache_folder} contains the results of {before}; this experiment is {settings}: choose another folder"
        )


def _write_json_atomically(path: Path, content: Mapping[str, object]) -> None:
    """Write a mapping as JSON; an error leaves no partial file."""
    with atomic_file(path) as part:
        part.write_text(json.dumps(content, indent=1), encoding="utf-8")
