"""What every noun can do: save and load, pickle, turn into a frame, show itself.

A noun is a frozen dataclass. It says what its table looks like (`columns`) and what matters about it (`facts`);
the rest is here, once. A saved noun is a plain `.npz`: one array a field, and `plurivox.json` with the rest.
"""

import contextlib
import dataclasses
import html
import importlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, require_package
from plurivox.core.types import TEXT, readonly_view

HEADER = "plurivox.json"
KINDS: dict[str, type["DataType"]] = {}
MODULES = ("answers", "audit", "soft_labels", "soft_storage", "results", "tables", "votes")  # of core, with data types
MOVED = {  # module named in files of version 0.1.0 -> module of today
    "plurivox.assign._proposals": "plurivox.assign._shared.proposals",
    "plurivox.evaluate._meeting": "plurivox.evaluate.alignment",
    "plurivox.evaluate.calibration": "plurivox.evaluate.measures.calibration",
    "plurivox.evaluate.cells": "plurivox.evaluate.contingency",
    "plurivox.evaluate.guesses": "plurivox.evaluate.paired_comparison",
    "plurivox.evaluate.judgement": "plurivox.evaluate.evaluation",
    "plurivox.recipes._comparing": "plurivox.workflows.compare_methods",
    "plurivox.recipes._ranking": "plurivox.workflows.rank_scores",
}
RENAMED = {
    "Cells": "CorrectnessTable",
    "Judgement": "Evaluation",
}  # class named in files of version 0.1.0 -> class of today
ONE_OF = {"matrices": "matrix", "passes": "pass"}


class DataType:
    """Base of the nouns; see the module."""

    version: ClassVar[int] = 1  # of the saved form; raise it with a change of fields, and teach `upgrade` the old one

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        KINDS[cls.__name__] = cls

    def columns(self) -> dict[str, NDArray[Any]]:
        """The noun as named columns of one length."""
        raise TypeError(f"{type(self).__name__} has no table form")

    def _head(self, n: int) -> dict[str, NDArray[Any]]:
        """The first `n` rows of `columns()`; a noun that can be large makes them without the rest."""
        return {name: column[:n] for name, column in self.columns().items()}

    def info(self) -> dict[str, object]:
        """A few words on what is inside, in the order to show them."""
        return {}

    @classmethod
    def upgrade(cls, version: int, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields of a file saved as an older `version`, as the fields of today."""
        del version
        return fields

    # ---- frames

    def to_pandas(self) -> Any:
        """A pandas DataFrame of `columns()`."""
        pandas = require_package("pandas", "to_pandas()", "pip install pandas")
        return pandas.DataFrame({name: _plain_column(column) for name, column in self.columns().items()})

    def to_polars(self) -> Any:
        """A polars DataFrame of `columns()`."""
        polars = require_package("polars", "to_polars()", "pip install polars")
        return polars.DataFrame(
            {
                name: polars.Series(name, column.tolist(), dtype=polars.String) if column.dtype == TEXT else column
                for name, column in self.columns().items()
            }
        )

    # ---- saving

    def save(self, path: str | Path) -> None:
        """Write the noun to one `.npz` file, whole or not at all."""
        arrays: dict[str, NDArray[Any]] = {}
        try:
            packed = {"plurivox": type(self).__name__, "noun": _pack(self, "", arrays)}
            header = json.dumps(packed, ensure_ascii=False).encode()
        except UnicodeEncodeError as cause:
            raise InputError(f"{path} cannot hold text that is no valid Unicode ({cause.object!r:.60})") from None
        with atomic_file(path) as part, zipfile.ZipFile(part, "w") as box:
            box.writestr(HEADER, header)
            for name, array in arrays.items():
                with box.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote; as `DataType.load` it reads any noun."""
        noun = _read(Path(path))
        if not isinstance(noun, cls):
            raise InputError(f"{path} holds {type(noun).__name__}, not {cls.__name__}")
        return noun

    def __getstate__(self) -> dict[str, Any]:
        """Fields only: what was computed on demand is computed again after unpickling."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: _frozen(value) for name, value in state.items()})

    # ---- faces

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(_phrase(name, value) for name, value in self._said())}>"

    def _repr_html_(self) -> str:
        """A small card for notebooks: the facts, and the first rows of the table."""
        facts = "".join(f"<li>{html.escape(name)}: {html.escape(str(value))}</li>" for name, value in self._said())
        shown = dict(list(self._head(5).items())[:12])
        head = "".join(f"<th>{html.escape(name)}</th>" for name in shown)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in zip(*(column.tolist() for column in shown.values()), strict=True)
        )
        return (
            f"<div><strong>{type(self).__name__}</strong><ul>{facts}</ul>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _said(self) -> list[tuple[str, object]]:
        return [(name, value) for name, value in self.info().items() if value is not None]


def _frozen(value: Any) -> Any:
    """Arrays come back from a pickle writable; those of a noun are not, in a mapping either."""
    if isinstance(value, dict):
        return {name: _frozen(one) for name, one in value.items()}
    return readonly_view(value) if isinstance(value, np.ndarray) else value


def _phrase(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"not {name}"
    if not isinstance(value, int):
        return f"{name} {value}"
    return f"{value:,} {_one_of(name) if value == 1 else name}"


def _one_of(things: str) -> str:
    """The singular of a fact's name.

    >>> _one_of("tasks without votes"), _one_of("passes")
    ('task without votes', 'pass')
    """
    first, *rest = things.split(" ")
    single = ONE_OF.get(first) or (first[:-1] if first.endswith("s") and not first.endswith("ss") else first)
    return " ".join([single, *rest])


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain_column(column: NDArray[Any]) -> Any:
    return column.tolist() if column.dtype == TEXT else column


def _pack(value: Any, where: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """`value` as JSON; arrays go to `arrays` under a name and are referred to by it."""
    if isinstance(value, np.ndarray):
        if value.dtype == TEXT:
            pieces = [text.encode() for text in value.tolist()]
            arrays[f"{where}.utf8"] = np.frombuffer(b"".join(pieces), np.uint8)
            arrays[f"{where}.size"] = np.array([len(piece) for piece in pieces], np.int64)
            return {"text": where}
        arrays[where] = value
        return {"array": where}
    if isinstance(value, DataType):
        inside = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}  # type: ignore[arg-type]
        packed = {name: _pack(one, f"{where}/{name}" if where else name, arrays) for name, one in inside.items()}
        kind = type(value)
        return {"kind": kind.__name__, "module": kind.__module__, "version": kind.version, "fields": packed}
    if isinstance(value, Mapping):
        return {"map": {str(name): _pack(one, f"{where}/{name}", arrays) for name, one in value.items()}}
    if isinstance(value, tuple):
        return {"list": [_pack(one, f"{where}/{i}", arrays) for i, one in enumerate(value)]}
    if isinstance(value, np.generic):
        return value.item()
    return value


def _unpack(packed: Any, box: zipfile.ZipFile) -> Any:
    if not isinstance(packed, dict):
        return packed
    if "array" in packed:
        return readonly_view(_array(box, packed["array"]))
    if "text" in packed:
        blob, sizes = _array(box, packed["text"] + ".utf8").tobytes(), _array(box, packed["text"] + ".size")
        ends = np.cumsum(sizes).tolist()
        starts = [0, *ends][:-1]
        return readonly_view(np.array([blob[a:b].decode() for a, b in zip(starts, ends, strict=True)], dtype=TEXT))
    if "map" in packed:
        return {name: _unpack(one, box) for name, one in packed["map"].items()}
    if "list" in packed:
        return tuple(_unpack(one, box) for one in packed["list"])
    kind = _kind(packed["kind"], packed.get("module", ""))
    if packed["version"] > kind.version:
        raise InputError(
            f"it was saved by a newer plurivox ({packed['kind']} version {packed['version']}); update plurivox"
        )
    fields = {name: _unpack(one, box) for name, one in packed["fields"].items()}
    if packed["version"] < kind.version:
        fields = kind.upgrade(packed["version"], fields)
    return kind(**fields)


def _kind(name: str, module: str) -> type[DataType]:
    """Return the data type of that name, importing its module if needed: one of core, or the module named in the file."""
    name = RENAMED.get(name, name)
    if name not in KINDS:
        for one in MODULES:
            importlib.import_module(f"plurivox.core.{one}")
    if name not in KINDS and module.startswith("plurivox."):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(MOVED.get(module, module))
    if name not in KINDS:
        raise InputError(f"it holds {name!r}, a noun that this plurivox does not know; update plurivox")
    return KINDS[name]


def _array(box: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with box.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _read(path: Path) -> DataType:
    try:
        with zipfile.ZipFile(path) as box:
            header = json.loads(box.read(HEADER))
            noun = _unpack(header["noun"], box)
            if not isinstance(noun, DataType):
                raise TypeError(f"it holds {type(noun).__name__}")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except InputError as cause:
        raise InputError(f"{path}: {cause}") from None
    except Exception as cause:  # whatever a damaged archive, header or array makes zipfile, json and numpy say
        raise InputError(f"{path} is not a noun saved by plurivox, or it is damaged ({cause})") from cause
    return noun


load = DataType.load  # any data type that was saved
