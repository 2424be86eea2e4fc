"""Read Argilla data sets: JSON records (`records.to_json`), folders of `Dataset.to_disk`, tables of the Hugging Face Hub.

Answers to label, multi-label, rating and ranking questions become votes: several labels are a soft answer with equal shares,
and the first option of a ranking is its label. Only submitted answers count; suggestions are left out. Argilla 2 and the
feedback data sets of Argilla 1 are read. https://docs.argilla.io/latest/how_to_guides/import_export/
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few
from plurivox.io.formats._annotations import (
    Annotation,
    annotations_to_votes,
    choose_question,
    items_table,
    label_option,
    only_choice_among_labels,
)
from plurivox.io.formats._argilla_questions import LABELLED, RATING, Question, kinds_of_questions, label_names
from plurivox.io.formats._argilla_responses import LABEL, MULTI_LABEL, Response, labels_of_response
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents, counted_notes
from plurivox.io.formats._nested_columns import nested_column_names, nested_values
from plurivox.io.tabular.read_csv_and_json import read_json
from plurivox.io.tabular.table_files import Columns

RECORDS, SETTINGS, DATASET = "records.json", ".argilla/settings.json", ".argilla/dataset.json"
USERS, STATUS, RESPONSES, SUGGESTION = ".responses.users", ".responses.status", ".responses", "-suggestion"
OTHER_COLUMNS = ("id", "external_id", "status", "_server_id", "inserted_at", "updated_at", "metadata", "vectors")


def recognises(source: Any) -> bool:
    """Return whether JSON records, a folder or a table are an Argilla data set."""
    if isinstance(source, Path):
        return (source / RECORDS).is_file() and (source / SETTINGS).is_file()
    if isinstance(source, Columns):
        return bool(_questions_of_table(source))
    return all(_is_argilla_record(record) for record in source)


def _is_argilla_record(record: Mapping[str, Any]) -> bool:
    """Return whether a record has fields, responses and suggestions as Argilla writes them."""
    return (
        isinstance(record.get("fields"), dict)
        and isinstance(record.get("responses"), dict | list)
        and ("suggestions" in record or "_server_id" in record)
    )


# ---- records and folders


def read_folder(folder: Path, names: FieldNames) -> ForeignContents:
    """Return the votes in the folder that `Dataset.to_disk` writes; its settings name the questions and their labels."""
    records = read_json(folder / RECORDS)
    if not isinstance(records, list) or not all(isinstance(one, dict) and _is_argilla_record(one) for one in records):
        raise InputError(f"{folder / RECORDS} does not contain records of Argilla")
    dataset = read_json(folder / DATASET) if (folder / DATASET).is_file() else {}
    name = dataset.get("name") or folder.resolve().name
    return _contents(
        list(_responses(records)), _data(records, names.task), folder, names, read_json(folder / SETTINGS), name
    )


def read_records(records: list[dict[str, Any]], where: str | Path, names: FieldNames) -> ForeignContents:
    """Return the votes in JSON records; `names.label` selects a question, `names.task` a field that names tasks."""
    return _contents(list(_responses(records)), _data(records, names.task), where, names, None, Path(where).stem)


def _responses(records: Sequence[dict[str, Any]]) -> Iterator[Response]:
    """Yield every response, with the number of its record: {question: [response]} or, in Argilla 1, [{question: value}]."""
    for row, record in enumerate(records):
        given = record["responses"]
        if isinstance(given, dict):
            for question, responses in given.items():
                for one in responses or ():
                    yield Response(row, question, one.get("value"), one.get("user_id"), one.get("status"))
        else:
            for one in given:
                for question, answer in (one.get("values") or {}).items():
                    value = answer.get("value") if isinstance(answer, dict) else answer
                    yield Response(row, question, value, one.get("user_id"), one.get("status"))


def _data(records: Sequence[dict[str, Any]], task_field: str | None) -> list[tuple[Any, dict[str, Any]]]:
    """Return (task name, fields and metadata) of each record."""
    found = []
    for record in records:
        data = {**(record.get("metadata") or {}), **record["fields"]}
        data = {**{name: data[name] for name in record["fields"]}, **data}  # the fields first
        ids = (
            record.get("external_id"),
            record.get("id"),
            record.get("_server_id"),
            next(iter(record["fields"].values()), None),
        )
        name = next((one for one in ids if one not in (None, "")), None) if task_field is None else data.get(task_field)
        found.append((record.get(task_field) if name is None and task_field else name, data))
    return found


# ---- tables


def read_columns(table: Columns, names: FieldNames) -> ForeignContents:
    """Return the votes in a table written by `records.to_datasets` (columns `label.responses`, `label.responses.users`).

    In tables of Argilla 1 the column of a question is a list of {user_id, value, status}.
    """
    nested = set(nested_column_names(table)) - {"metadata"}
    columns = {name: nested_values(table, name) if name in nested else table[name].to_list() for name in table.names}
    questions = _questions_of_table(table)
    given = [one for question in questions for one in _responses_of_column(question, columns)]
    ids = next((one for one in ("id", "external_id", "_server_id") if any(columns.get(one) or ())), None)
    data_columns = [
        name
        for name in table.names
        if name not in OTHER_COLUMNS
        and not any(name == question or name.startswith((f"{question}.", f"{question}-")) for question in questions)
    ]
    rows = [{name: columns[name][row] for name in data_columns} for row in range(len(columns[table.names[0]]))]
    for row, text in zip(rows, columns.get("metadata", ()), strict=False):
        row.update(_parsed_metadata(text))
    field = names.task or ids or next(iter(data_columns), None)
    task = [columns[field][row] if field in columns else rows[row].get(str(field)) for row in range(len(rows))]
    return _contents(given, list(zip(task, rows, strict=True)), table.where, names, None, Path(table.where).stem)


def _questions_of_table(table: Columns) -> list[str]:
    """Return the questions of an Argilla table, by the names of its columns; none if it is another table."""
    names = set(table.names)
    of_2 = [
        name.removesuffix(USERS)
        for name in table.names
        if name.endswith(USERS) and name.removesuffix(".users") in names
    ]
    of_1 = [name.removesuffix(SUGGESTION) for name in table.names if name.endswith(SUGGESTION)]
    return of_2 or [name for name in of_1 if {name, f"{name}-suggestion-metadata"} <= names]


def _responses_of_column(question: str, columns: Mapping[str, list[Any]]) -> Iterator[Response]:
    """Yield the responses in the columns of one question."""
    if question + RESPONSES not in columns:
        for row, given in enumerate(columns[question]):
            for one in given or ():
                yield Response(row, question, one.get("value"), one.get("user_id"), one.get("status"))
        return
    for row, values in enumerate(columns[question + RESPONSES]):
        users = columns[question + USERS][row] or ()
        status = (columns.get(question + STATUS) or [None] * len(columns[question + USERS]))[row] or [None] * len(users)
        for value, user, state in zip(values or (), users, status, strict=False):
            yield Response(row, question, value, user, state)


def _parsed_metadata(text: Any) -> dict[str, Any]:
    """Return metadata as a dict: Argilla 1 writes them as JSON text."""
    if isinstance(text, dict):
        return text
    try:
        found = json.loads(text) if isinstance(text, str) else {}
    except ValueError:
        return {"metadata": text}
    return found if isinstance(found, dict) else {}


# ---- responses to votes


def _contents(
    responses: Sequence[Response],
    tasks: Sequence[tuple[Any, dict[str, Any]]],
    where: str | Path,
    names: FieldNames,
    settings: Mapping[str, Any] | None,
    name: str,
) -> ForeignContents:
    """Return the votes of one question, with the fields as items and notes on what was left out."""
    if names.worker not in (None, "user_id", "users"):
        raise InputError(f"{where} is an Argilla data set: its workers are `user_id`; leave out worker=... (--worker)")
    if odd := [row + 1 for row, (task, _) in enumerate(tasks) if not isinstance(task, str | int)]:
        known = first_few(tasks[odd[0] - 1][1], 8)
        raise InputError(f"{where} has no field {names.task or 'id'!r} (task) in record {odd[0]}; it has {known}")
    submitted = [one for one in responses if one.status in (None, "submitted") and one.value is not None]
    kinds = kinds_of_questions(submitted, settings)
    readable = [one.name for one in kinds.values() if one.kind in LABELLED]
    n_answers = Counter(one.question for one in submitted)
    named = names.label or only_choice_among_labels(
        {name: n_answers[name] for name in readable},
        (name for name in readable if kinds[name].kind in (LABEL, MULTI_LABEL)),
    )
    question = kinds[choose_question(readable, named, where, unreadable=_others_text(kinds))]
    annotations = []
    for one in submitted:
        labels = labels_of_response(one.value, question.kind) if one.question == question.name else []
        if labels:
            annotations.append(Annotation(tasks[one.record][0], one.user, label_names(labels, question)))
    try:
        votes = annotations_to_votes(
            annotations,
            tasks=[task for task, _ in tasks],
            labels=names.labels or question.labels,
            ordered=question.kind == RATING,
        )
    except InputError as cause:
        raise InputError(f"{where}: {cause}") from None
    rows: dict[Any, dict[str, Any]] = {}
    for task, data in tasks:
        rows.setdefault(task, data)
    notes = _notes(responses, question, kinds, annotations, len(tasks) - len(rows))
    return ForeignContents(name, votes, items=items_table(rows, where), notes=notes)


def _others_text(kinds: Mapping[str, Question]) -> str:
    """Return the questions whose answers are not labels, with their kinds, as text; "" if there are none."""
    return ", ".join(f"{one.name!r} ({one.kind})" for one in kinds.values() if one.kind not in LABELLED)


def _notes(
    responses: Sequence[Response],
    question: Question,
    kinds: Mapping[str, Question],
    annotations: Sequence[Annotation],
    n_merged: int,
) -> tuple[str, ...]:
    """Return notes, with counts, on drafts, discarded answers, several labels, and questions that were left out."""
    of_question = [one for one in responses if one.question == question.name]
    states = [one.status for one in of_question]
    others = first_few(sorted(set(kinds) - {question.name}), 6)
    n_others = len(kinds) - 1
    readable = sorted(one.name for one in kinds.values() if one.kind in LABELLED and one.name != question.name)
    select = f"; {label_option(readable[0])} selects another" if readable else ""
    several = sum(len(one.labels) > 1 for one in annotations)
    ranking = ("the votes are the first options of rankings; the other ranks were left out",) * (
        question.kind == "ranking"
    )
    unnamed = sum(one.worker is None for one in annotations)
    return ranking + counted_notes(
        (states.count("draft"), "draft was left out", "drafts were left out"),
        (states.count("discarded"), "discarded answer was left out", "discarded answers were left out"),
        (several, "answer has several labels, in equal shares", "answers have several labels, in equal shares"),
        (unnamed, "vote has no worker", "votes have no worker"),
        (
            n_merged,
            "record shares its name with another and was merged",
            "records share their name with another and were merged",
        ),
        (
            n_others,
            f"other question was left out: {others}{select}",
            f"other questions were left out: {others}{select}",
        ),
    )
