"""Turn the rows of a DataFrame back into the JSON records it was made from, such as `pd.read_json(export, lines=True)`."""

from datetime import date, datetime
from typing import Any

from plurivox.io.formats._nested_columns import all_values, first_rows, plain_list
from plurivox.io.tabular.table_files import Columns

FIELDS_OF_PRODIGY = ("_input_hash", "_task_hash")  # its records may have no lists or objects


def has_lists_objects_or_fields_of_prodigy(table: Columns) -> bool:
    """Return whether the first rows of a table have lists or objects in their cells, not as text, or a field of Prodigy."""
    if any(name in table.names for name in FIELDS_OF_PRODIGY):
        return True
    return any(
        isinstance(plain_list(value), list | dict)
        for name in table.names
        if not table.may_hold_names(name) or isinstance(table.source, dict) or _is_of_objects(table, name)
        for value in first_rows(table, name)
    )


def records_of_rows(table: Columns, *, first: bool = False) -> list[dict[str, Any]]:
    """Return the rows of a table as records without the fields that are missing; `first`: only the first rows.

    >>> records_of_rows(Columns.from_frame_mapping_or_parquet({"id": [1.0, None], "meta": [{"a": None}, {"a": 2}]}))
    [{'id': 1, 'meta': {}}, {'meta': {'a': 2}}]
    """
    values = {name: first_rows(table, name) if first else all_values(table, name) for name in table.names}
    columns = {name: _column_of_json(cells) for name, cells in values.items()}
    n_rows = len(next(iter(columns.values()), []))
    return [{name: cells[row] for name, cells in columns.items() if cells[row] is not None} for row in range(n_rows)]


def _is_of_objects(table: Columns, name: str) -> bool:
    """Return whether a column of a pandas frame may contain any Python objects."""
    return not hasattr(table.source, "schema") or str(table.source.schema[_native(table, name)]) == "Object"


def _native(table: Columns, name: str) -> Any:
    return next(one for one in table.source.columns if str(one) == name)


def _column_of_json(cells: list[Any]) -> list[Any]:
    """Return the cells of a column as JSON values; numbers that are decimals because others are missing are whole again."""
    values = [_json_value(cell) for cell in cells]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values) and all(isinstance(one, float) and one.is_integer() for one in numbers):
        return [None if value is None else int(value) for value in values]
    return values


def _json_value(value: Any) -> Any:
    """Return a value as JSON has it: missing numbers are None, times are text, and objects have no missing fields."""
    value = plain_list(value)
    if isinstance(value, dict):
        fields = {key: _json_value(one) for key, one in value.items()}
        return {key: one for key, one in fields.items() if one is not None}
    if isinstance(value, list):
        return [_json_value(one) for one in value]
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, datetime | date):
        return None if str(value) == "NaT" else value.isoformat()
    return value
