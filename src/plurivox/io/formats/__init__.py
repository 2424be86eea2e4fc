"""Readers of other programs' formats, one module per format.

A **folder format** has `recognises(folder)` and `read(folder)`, or `read_folder(folder, names)` if the caller can name fields
(a format in a `.zip` file likewise); a **record format** (a list of JSON objects, from `.json` or `.jsonl`) has
`recognises(records)` and `read_records(records, where, names)`; a **table format** (columns of other names or another layout)
has `recognises(table)` and `read_columns(table, names)`. All return ForeignContents. `names` are the fields that the caller
named.

crowd-kit needs no reader: its DataFrames have the columns `task`, `worker`, `label`, as returned by `Votes.to_pandas()`
and accepted by `pv.votes(frame)`.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

from plurivox.io.formats import (
    appen,
    argilla,
    doccano,
    huggingface_folder,
    huggingface_table,
    image_folder,
    label_lists,
    label_studio,
    label_studio_table,
    labelbox,
    mturk,
    peerannot,
    prodigy,
    survey_table,
    table_per_worker,
    toloka,
    zooniverse,
)
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._records_of_table import has_lists_objects_or_fields_of_prodigy, records_of_rows
from plurivox.io.tabular.huggingface_class_labels import features_of_parquet
from plurivox.io.tabular.table_files import Columns

FOLDER_FORMATS: tuple[ModuleType, ...] = (
    peerannot,
    huggingface_folder,
    image_folder,
    argilla,
    doccano,
    table_per_worker,
)
RECORD_FORMATS: tuple[ModuleType, ...] = (label_studio, prodigy, argilla, doccano, labelbox)
TABLE_FORMATS: tuple[ModuleType, ...] = (
    mturk,
    appen,
    toloka,
    zooniverse,
    label_studio_table,
    argilla,
    label_lists,
    huggingface_table,
    survey_table,
)

__all__ = [
    "FieldNames",
    "ForeignContents",
    "find_reader_module_of_folder",
    "find_reader_module_of_records",
    "find_reader_module_of_table",
    "read_table_of_export_or_none",
]


def find_reader_module_of_folder(folder: Path) -> ModuleType | None:
    """Return the module (peerannot, image_folder) that can read this folder of another program, or None."""
    return next((module for module in FOLDER_FORMATS if module.recognises(folder)), None)


def find_reader_module_of_records(records: Any) -> ModuleType | None:
    """Return the module that can read these JSON records of another program, or None."""
    if not isinstance(records, list) or not records or not all(isinstance(record, dict) for record in records):
        return None
    return next((module for module in RECORD_FORMATS if module.recognises(records)), None)


def find_reader_module_of_table(table: Columns) -> ModuleType | None:
    """Return the module that can read this table of another program, or None."""
    return next((module for module in TABLE_FORMATS if module.recognises(table)), None)


def read_table_of_export_or_none(table: Columns, names: FieldNames) -> ForeignContents | None:
    """Return the contents of a table that another program wrote; None for a plain table.

    A table whose rows are JSON records of an export, such as `pd.read_json(file, lines=True)`, is read as these records.
    """
    is_dataset = isinstance(table.source, Path) and bool(features_of_parquet(table.source))
    if not is_dataset and has_lists_objects_or_fields_of_prodigy(table):
        reader = find_reader_module_of_records(records_of_rows(table, first=True))
        if reader is not None and reader is find_reader_module_of_records(records := records_of_rows(table)):
            contents: ForeignContents = reader.read_records(records, Path(table.where), names)
            return contents
    module = find_reader_module_of_table(table)
    if module is None and names.label is not None and label_lists.has_votes_in_list(table, names.label):
        module = label_lists
    return None if module is None else module.read_columns(table, names)
