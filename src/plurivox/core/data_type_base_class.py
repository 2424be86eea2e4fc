"""DataType: base class of Votes, SoftLabels, Fit, ... with save and load, pickling, DataFrames and repr.

A data type is a frozen dataclass. It defines its table (`columns`) and its summary (`summary_values`); the rest is inherited.
A saved object is a plain `.npz` file: one array per field, and `plurivox.json` with the other values.
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

from plurivox.core.array_types import TEXT, readonly_view
from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, require_package

HEADER_FILE = "plurivox.json"  # in the .npz: class, version and fields as JSON
DATA_TYPES: dict[str, type["DataType"]] = {}  # class name -> class, filled as classes are defined
# modules of core with data types
CORE_MODULES = (
    "answers",
    "cleaning_audit",
    "soft_labels",
    "soft_rows_dense_sparse",
    "results",
    "recipe_tables",
    "votes",
)
MOVED_MODULES = {  # module named in files of version 0.1.0 -> module of today
    "plurivox.assign._proposals": "plurivox.assign._shared.ranked_question_proposals",
    "plurivox.evaluate._meeting": "plurivox.evaluate.align_tasks_and_labels",
    "plurivox.evaluate.calibration": "plurivox.evaluate.measures.calibration",
    "plurivox.evaluate.cells": "plurivox.evaluate.two_model_correctness",
    "plurivox.evaluate.contrasts": "plurivox.evaluate.soft_label_differences",
    "plurivox.evaluate.guesses": "plurivox.evaluate.paired_comparison",
    "plurivox.evaluate.judgement": "plurivox.evaluate.evaluation_result",
    "plurivox.recipes._comparing": "plurivox.workflows.compare_aggregators",
    "plurivox.recipes._ranking": "plurivox.workflows.ranking_by_several_scores",
}
RENAMED_CLASSES = {  # class named in files of version 0.1.0 -> class of today
    "Cells": "CorrectnessTable",
    "Judgement": "Evaluation",
}
SINGULARS = {"matrices": "matrix", "passes": "pass"}  # plurals that do not just add an s


class DataType:
    """Base class of all data types: save, load, pickle, DataFrame, repr. Subclasses define `columns` and `summary_values`."""

    version: ClassVar[int] = 1  # of the file format; increase it when fields change, and convert old files in `upgrade`

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        DATA_TYPES[cls.__name__] = cls

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the object as a table: columns of equal length by name. Raise TypeError if it has no table form."""
        raise TypeError(f"{type(self).__name__} has no table form")

    def _table_of_first_rows(self, n: int) -> dict[str, NDArray[Any]]:
        """Return the first `n` rows of the table `columns()`, as columns by name; large data types compute only these rows."""
        return {name: column[:n] for name, column in self.columns().items()}

    def summary_values(self) -> dict[str, object]:
        """Return the summary that repr shows (numbers of tasks, workers, ...) as name -> value; None values are not shown."""
        return {}

    @classmethod
    def upgrade(cls, saved_version: int, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of an object saved in an older file format, `saved_version`, converted to the current fields."""
        del saved_version
        return fields

    # ---- frames

    def to_pandas(self) -> Any:
        """Return the table of this object, `columns()`, as a pandas DataFrame."""
        pandas = require_package("pandas", "to_pandas()", "pip install pandas")
        return pandas.DataFrame({name: _list_if_string_array(column) for name, column in self.columns().items()})

    def to_polars(self) -> Any:
        """Return the table of this object, `columns()`, as a polars DataFrame."""
        polars = require_package("polars", "to_polars()", "pip install polars")
        return polars.DataFrame(
            {
                name: polars.Series(name, column.tolist(), dtype=polars.String) if column.dtype == TEXT else column
                for name, column in self.columns().items()
            }
        )

    # ---- pictures

    def plot(self, chart: str | None = None, **options: Any) -> Any:
        """Draw this object: its usual chart, or another by name; the same as `pv.plot(self, chart, ...)`.

        Needs the extra `plot`. `print(pv.charts.methods)` lists the charts.
        """
        import plurivox  # not a module above core: its lazy names import what they need

        return plurivox.plot(self, chart, **options)

    # ---- saving

    def save(self, path: str | Path) -> None:
        """Write this object (votes, soft labels, a fit, ...) to one `.npz` file, atomically."""
        arrays: dict[str, NDArray[Any]] = {}
        try:
            packed = {"plurivox": type(self).__name__, "noun": _to_json_and_arrays(self, "", arrays)}
            header = json.dumps(packed, ensure_ascii=False).encode()
        except UnicodeEncodeError as cause:
            raise InputError(f"{path}: cannot save text that is not valid Unicode ({cause.object!r:.60})") from None
        with atomic_file(path) as part, zipfile.ZipFile(part, "w") as archive:
            archive.writestr(HEADER_FILE, header)
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an object from a file written by `save`. Raise InputError if it has another type;
        `DataType.load` reads any type.
        """
        data = _read_saved_object(Path(path))
        if not isinstance(data, cls):
            raise InputError(f"{path} contains {type(data).__name__}, not {cls.__name__}")
        return data

    def __getstate__(self) -> dict[str, Any]:
        """Return the dataclass fields as the state to pickle, without cached properties, which are computed again later."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: _with_readonly_arrays(value) for name, value in state.items()})

    # ---- repr

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(_format_summary_item(*item) for item in self._summary_items_not_none())}>"

    def _repr_html_(self) -> str:
        """Return HTML that notebooks show for this object: its summary and the first five rows of its table."""
        facts = "".join(
            f"<li>{html.escape(name)}: {html.escape(str(value))}</li>" for name, value in self._summary_items_not_none()
        )
        shown = dict(list(self._table_of_first_rows(5).items())[:12])
        head = "".join(f"<th>{html.escape(name)}</th>" for name in shown)
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(_value_text_with_4_digit_floats(value))}</td>" for value in row)
            + "</tr>"
            for row in zip(*(column.tolist() for column in shown.values()), strict=True)
        )
        return (
            f"<div><strong>{type(self).__name__}</strong><ul>{facts}</ul>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _summary_items_not_none(self) -> list[tuple[str, object]]:
        """Return the (name, value) pairs of the summary `summary_values` whose value is not None."""
        return [(name, value) for name, value in self.summary_values().items() if value is not None]


def _with_readonly_arrays(value: Any) -> Any:
    """Return an unpickled value with its arrays read-only again, also arrays inside a dict."""
    if isinstance(value, dict):
        return {name: _with_readonly_arrays(one) for name, one in value.items()}
    return readonly_view(value) if isinstance(value, np.ndarray) else value


def _format_summary_item(name: str, value: object) -> str:
    """Return one item of the summary in a repr as text, such as "3 tasks", "1 task" or "not converged"."""
    if isinstance(value, bool):
        return name if value else f"not {name}"
    if not isinstance(value, int):
        return f"{name} {value}"
    return f"{value:,} {_singular_of_english_plural(name) if value == 1 else name}"


def _singular_of_english_plural(plural: str) -> str:
    """Return the singular of an English plural.

    >>> _singular_of_english_plural("tasks without votes"), _singular_of_english_plural("passes")
    ('task without votes', 'pass')
    """
    first, *rest = plural.split(" ")
    single = SINGULARS.get(first) or (first[:-1] if first.endswith("s") and not first.endswith("ss") else first)
    return " ".join([single, *rest])


def _value_text_with_4_digit_floats(value: object) -> str:
    """Return a value as the text of an HTML table cell, floats with four digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _list_if_string_array(column: NDArray[Any]) -> Any:
    """Return a column as pandas accepts it: StringDType arrays as lists, others unchanged."""
    return column.tolist() if column.dtype == TEXT else column


def _to_json_and_arrays(value: Any, key_prefix: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return `value` as JSON; add its arrays to the dict `arrays` and write their keys, which start with `key_prefix`,
    to the JSON.
    """
    if isinstance(value, np.ndarray):
        if value.dtype == TEXT:
            pieces = [text.encode() for text in value.tolist()]
            arrays[f"{key_prefix}.utf8"] = np.frombuffer(b"".join(pieces), np.uint8)
            arrays[f"{key_prefix}.size"] = np.array([len(piece) for piece in pieces], np.int64)
            return {"text": key_prefix}
        arrays[key_prefix] = value
        return {"array": key_prefix}
    if isinstance(value, DataType):
        inside = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}  # type: ignore[arg-type]
        packed = {
            name: _to_json_and_arrays(one, f"{key_prefix}/{name}" if key_prefix else name, arrays)
            for name, one in inside.items()
        }
        kind = type(value)
        return {"kind": kind.__name__, "module": kind.__module__, "version": kind.version, "fields": packed}
    if isinstance(value, Mapping):
        return {
            "map": {str(name): _to_json_and_arrays(one, f"{key_prefix}/{name}", arrays) for name, one in value.items()}
        }
    if isinstance(value, tuple):
        return {"list": [_to_json_and_arrays(one, f"{key_prefix}/{i}", arrays) for i, one in enumerate(value)]}
    if isinstance(value, np.generic):
        return value.item()
    return value


def _from_json_and_arrays(json_value: Any, archive: zipfile.ZipFile) -> Any:
    """Rebuild a saved object from its JSON and the arrays that it refers to in the .npz archive."""
    if not isinstance(json_value, dict):
        return json_value
    if "array" in json_value:
        return readonly_view(_read_array_from_archive(archive, json_value["array"]))
    if "text" in json_value:
        blob, sizes = (
            _read_array_from_archive(archive, json_value["text"] + ".utf8").tobytes(),
            _read_array_from_archive(archive, json_value["text"] + ".size"),
        )
        ends = np.cumsum(sizes).tolist()
        starts = [0, *ends][:-1]
        return readonly_view(np.array([blob[a:b].decode() for a, b in zip(starts, ends, strict=True)], dtype=TEXT))
    if "map" in json_value:
        return {name: _from_json_and_arrays(one, archive) for name, one in json_value["map"].items()}
    if "list" in json_value:
        return tuple(_from_json_and_arrays(one, archive) for one in json_value["list"])
    kind = _find_data_type_class(json_value["kind"], json_value.get("module", ""))
    if json_value["version"] > kind.version:
        raise InputError(
            f"saved by a newer plurivox ({json_value['kind']} version {json_value['version']}); update plurivox"
        )
    fields = {name: _from_json_and_arrays(one, archive) for name, one in json_value["fields"].items()}
    if json_value["version"] < kind.version:
        fields = kind.upgrade(json_value["version"], fields)
    return kind(**fields)


def _find_data_type_class(class_name: str, module: str) -> type[DataType]:
    """Return the DataType subclass of that name; import the modules of core, or the module named in a saved file, if needed."""
    class_name = RENAMED_CLASSES.get(class_name, class_name)
    if class_name not in DATA_TYPES:
        for one in CORE_MODULES:
            importlib.import_module(f"plurivox.core.{one}")
    if class_name not in DATA_TYPES and module.startswith("plurivox."):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(MOVED_MODULES.get(module, module))
    if class_name not in DATA_TYPES:
        raise InputError(f"contains the data type {class_name!r}, which this version does not know; update plurivox")
    return DATA_TYPES[class_name]


def _read_array_from_archive(archive: zipfile.ZipFile, array_name: str) -> NDArray[Any]:
    """Read the array `<array_name>.npy` from an open .npz archive."""
    with archive.open(f"{array_name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _read_saved_object(path: Path) -> DataType:
    """Read the object in a file written by `DataType.save`. Raise InputError if the file is missing, damaged or of
    another kind.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(HEADER_FILE))
            data = _from_json_and_arrays(header["noun"], archive)
            if not isinstance(data, DataType):
                raise TypeError(f"it contains {type(data).__name__}")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except InputError as cause:
        raise InputError(f"{path}: {cause}") from None
    except Exception as cause:  # zipfile, json and numpy raise many types for damaged files
        raise InputError(f"{path} was not saved by plurivox, or it is damaged ({cause})") from cause
    return data


load = DataType.load  # reads any saved data type
