"""Make a table of JSON records without a common type for their lists and objects, so that none of their fields is lost."""

from pathlib import Path
from typing import Any

from plurivox.io.tabular.table_files import Columns, frame_from_records


def table_from_records(records: Any, path: Path) -> Columns:
    """Return a list of JSON records as a table whose lists and objects are as in the file: rows may have different fields."""
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        frame_from_records(records, path)  # raises InputError
    nested = dict.fromkeys(
        name for record in records for name, value in record.items() if isinstance(value, list | dict)
    )
    plain = [{name: value for name, value in record.items() if name not in nested} for record in records]
    frame = frame_from_records(plain, path)
    columns = {name: frame[name] for name in frame.columns} | {
        name: [record.get(name) for record in records] for name in nested
    }
    names = dict.fromkeys(name for record in records for name in record)  # in the order of the file
    return Columns.from_frame_mapping_or_parquet({name: columns[name] for name in names}, path.name)
