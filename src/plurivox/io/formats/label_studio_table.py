"""Read Label Studio's CSV and TSV exports: one row per annotation, one column per control (question) and per data field.

The columns are in alphabetical order, so that nothing in the file says which of them are controls: labels are in the column
with JSON such as {"choices": [...]} or with values that differ between the annotators of a task, else in the one whose values
repeat. Ratings and texts are other questions.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from plurivox.core.errors import InputError, first_few
from plurivox.io.formats._annotations import label_option
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._label_studio_records import (
    LAST_FIELDS,
    RATING,
    kind_and_labels_of_value,
    parse_label_studio_json_min_records,
)
from plurivox.io.formats._table_columns import leave_out_text_and_rare_questions
from plurivox.io.formats.label_studio import contents_of_export
from plurivox.io.tabular.table_files import Columns

ALWAYS = ("id", "annotation_id", "annotator", "created_at", "updated_at", "lead_time")
SOMETIMES = ("was_cancelled", "agreement", "history")
JSON_START = ("{", "[")


def recognises(table: Columns) -> bool:
    """Return whether a table has the columns that all CSV and TSV exports of Label Studio have, and further ones."""
    return set(ALWAYS) <= set(table.names) and bool(set(table.names) - {*ALWAYS, *SOMETIMES})


def read_columns(table: Columns, names: FieldNames) -> ForeignContents:
    """Return the votes of a Label Studio export in the CSV or TSV format; `names.label` is the column of the question."""
    columns = {name: [_parsed_if_json(value) for value in table[name].to_list()] for name in table.names}
    control, note = _column_of_labels_and_note(columns, names.label, table.where)
    data = [name for name in columns if name not in (*ALWAYS, *SOMETIMES, control)]
    if names.task is not None and names.task not in data and names.task != "id":
        raise InputError(
            f"{table.where} has no data column {names.task!r} to name tasks by; it has {first_few(data, 12)}"
        )
    order = [*data, "id", control, *LAST_FIELDS, *(name for name in (*ALWAYS[3:], *SOMETIMES) if name in columns)]
    rows = zip(*(columns[name] for name in order), strict=True)
    records = [dict(zip(order, row, strict=True)) for row in rows]
    worker = None if names.worker == "annotator" else names.worker
    export = parse_label_studio_json_min_records(records, [control], names.task, table.where, worker)
    contents = contents_of_export(export, FieldNames(label=control, labels=names.labels), table.where)
    return contents if note is None else ForeignContents(**{**vars(contents), "notes": (note, *contents.notes)})


def _parsed_if_json(value: Any) -> Any:
    """Return a text that is a JSON object or list as that, any other value unchanged."""
    if not isinstance(value, str) or not value.startswith(JSON_START):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _column_of_labels_and_note(columns: dict[str, list[Any]], named: str | None, where: str) -> tuple[str, str | None]:
    """Return the column with the labels, and a note if it was inferred; raise InputError if it is unclear."""
    candidates = [name for name in columns if name not in (*ALWAYS, *SOMETIMES)]
    if named is not None:
        if named not in columns:
            raise InputError(f"{where} has no column {named!r} (label); it has {first_few(candidates, 12)}")
        return named, None
    kinds = {name: {kind for value in columns[name] if (kind := _kind_of_label_value(value))} for name in candidates}
    ratings = [name for name in candidates if kinds[name] == {RATING}]
    rest = [name for name in candidates if name not in ratings]
    differing = [name for name in _columns_that_differ_within_tasks(columns, rest) if not kinds[name]]
    labels = {name: [[value] if value not in (None, "") else [] for value in columns[name]] for name in differing}
    for found in (
        [*(name for name in rest if kinds[name]), *leave_out_text_and_rare_questions(labels, None)[0]],
        _columns_whose_values_repeat(columns, rest),
        ratings,
    ):
        if len(found) == 1:
            others = (
                f"; others: {first_few(one for one in candidates if one != found[0])}" if len(candidates) > 1 else ""
            )
            return found[0], f"labels are read from the column {found[0]!r} (another: label=..., --label{others})"
        if found:
            candidates = found
    raise InputError(
        f"{where} is a Label Studio export in which {first_few(candidates, 12)} may be the question; "
        f"name it: {label_option(candidates[0])}"
    )


def _kind_of_label_value(value: Any) -> str:
    """Return the kind of JSON that Label Studio writes for choices, ratings, taxonomies or comparisons; "" for other values."""
    inside = value[0] if isinstance(value, list) and len(value) == 1 else value
    return kind_and_labels_of_value(inside)[0] if isinstance(inside, dict) else ""


def _columns_that_differ_within_tasks(columns: dict[str, list[Any]], candidates: Sequence[str]) -> list[str]:
    """Return the columns in which the annotations of some task have different values, as data never have."""
    return [name for name in candidates if any(len(found) > 1 for found in _values_by_task(columns, name).values())]


def _columns_whose_values_repeat(columns: dict[str, list[Any]], candidates: Iterable[str]) -> list[str]:
    """Return the columns with at most half as many different values as tasks, and no lists or objects."""
    repeated = []
    for name in candidates:
        by_task = _values_by_task(columns, name)
        different = {value for values in by_task.values() for value in values}
        if 2 * len(different) <= len(by_task) and not any(value.startswith(JSON_START) for value in different):
            repeated.append(name)
    return repeated


def _values_by_task(columns: dict[str, list[Any]], name: str) -> dict[Any, set[str]]:
    """Return {task id: the different values, as text, that its annotations have in a column}; empty values do not count."""
    found: dict[Any, set[str]] = defaultdict(set)
    for task, value in zip(columns["id"], columns[name], strict=True):
        if value not in (None, ""):
            found[task].add(value if isinstance(value, str) else json.dumps(value))
    return found
