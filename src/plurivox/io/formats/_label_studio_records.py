"""Parse the records of a Label Studio export (JSON and JSON-MIN) into the labels chosen in each control of a task."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few

CHOICES, RATING = "choices", "rating"
NAN = float("nan")
LAST_FIELDS = ("annotator", "annotation_id")  # JSON-MIN writes these after the answers, and "id" before them


@dataclass(frozen=True)
class Answer:
    """One annotation of a Label Studio task: the labels chosen in each control (question)."""

    task: Any
    worker: Any  # None if no annotator is named
    labels: dict[str, list[Any]]  # control -> labels
    when: float
    seconds: float
    is_gold: bool = False


@dataclass
class Export:
    """Parsed records of a Label Studio export: annotations, task data, kind of each control, and counts of skipped results."""

    answers: list[Answer] = field(default_factory=list)
    shown: dict[Any, dict[str, Any]] = field(default_factory=dict)  # task -> its data
    kinds: dict[str, str] = field(default_factory=dict)  # control -> choices or rating
    other: Counter[str] = field(default_factory=Counter)  # number of skipped results (boxes, text), by type
    n: Counter[str] = field(default_factory=Counter)  # how many records were skipped or merged, by reason


def is_label_studio_task_record(record: dict[str, Any]) -> bool:
    """Return whether a record is a task with its annotations (JSON format)."""
    return isinstance(record.get("annotations"), list) and isinstance(record.get("data"), dict)


def is_label_studio_json_min_record(record: dict[str, Any]) -> bool:
    """Return whether a record is in the JSON-MIN format."""
    return all(name in record for name in LAST_FIELDS)


def parse_label_studio_task_records(records: list[dict[str, Any]], task_field: str | None, path: str | Path) -> Export:
    """Return the Export parsed from records in the JSON format: tasks with their annotations."""
    export = Export()
    for record in records:
        task = _task_name_of_record(record, record["data"], task_field, path)
        export.n["merged"] += task in export.shown
        export.shown.setdefault(task, record["data"])
        for what in ("predictions", "drafts"):
            export.n[what] += len(record.get(what) or ())
        for annotation in record["annotations"]:
            if not isinstance(annotation, dict):
                raise InputError(
                    f"{path}: task {task!r} has annotation ids instead of annotations; export the full annotations"
                )
            if annotation.get("was_cancelled"):
                export.n["cancelled"] += 1
            else:
                export.answers.append(_annotation_to_answer_noting_skipped(annotation, task, export, path))
    return export


def _annotation_to_answer_noting_skipped(
    annotation: dict[str, Any], task: Any, export_to_update: Export, path: str | Path
) -> Answer:
    """Return one annotation as an Answer; adds the kinds of its controls and skipped results to `export_to_update`."""
    labels: dict[str, list[Any]] = {}
    for result in annotation.get("result") or ():
        value = result.get("value") or {}
        kind = next((kind for kind in (CHOICES, RATING) if kind in value), None)
        if kind is None:
            export_to_update.other[str(result.get("type"))] += 1
            continue
        control = str(result.get("from_name"))
        if control in labels:
            raise InputError(
                f"{path}: task {task!r} has several answers to {control!r} in one annotation; "
                "labels of regions within a task cannot be votes on the task"
            )
        labels[control] = list(dict.fromkeys(value[kind])) if kind == CHOICES else [value[kind]]
        export_to_update.kinds[control] = kind
    return Answer(
        task,
        _annotator_id_or_email(annotation.get("completed_by")),
        labels,
        _iso_time_to_unix_time_or_nan(annotation.get("created_at"), export_to_update),
        _seconds_or_nan_if_not_number(annotation.get("lead_time")),
        bool(annotation.get("ground_truth")),
    )


def parse_label_studio_json_min_records(
    records: list[dict[str, Any]], control_name: str | None, task_field: str | None, path: str | Path
) -> Export:
    """Return the Export parsed from records in the JSON-MIN format: one record per annotation.

    A record is {"image": "1.png", "id": 1, "animal": "cat", "annotator": 3, "annotation_id": 8}. The answers are the
    fields between `id` and `annotator`; if a file has another order, name the control with `control_name`.
    """
    export = Export()
    for record in records:
        keys = list(record)
        begin, end = keys.index("id") + 1 if "id" in keys else 0, keys.index(LAST_FIELDS[0])
        labels: dict[str, list[Any]] = {}
        for control in keys[begin:end] if control_name is None else [control_name]:
            kind, chosen = _kind_and_labels_of_json_min_value(record.get(control))
            if kind:
                labels[control], export.kinds[control] = chosen, kind
            elif record.get(control) is not None:
                export.other[control] += 1
        task = _task_name_of_record(record, record, task_field, path)
        export.shown.setdefault(task, {key: record[key] for key in keys[: max(begin - 1, 0)] if key not in labels})
        when, seconds = (
            _iso_time_to_unix_time_or_nan(record.get("created_at"), export),
            _seconds_or_nan_if_not_number(record.get("lead_time")),
        )
        export.answers.append(Answer(task, _annotator_id_or_email(record["annotator"]), labels, when, seconds))
    return export


def _kind_and_labels_of_json_min_value(value: Any) -> tuple[str, list[Any]]:
    """Return (kind, labels) of a JSON-MIN field: text and {"choices": [..]} are choices, [{"rating": 4}] is a rating."""
    if isinstance(value, str):
        return CHOICES, [value]
    inside = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(inside, dict) and isinstance(inside.get(CHOICES), list):
        return CHOICES, list(dict.fromkeys(inside[CHOICES]))
    if isinstance(inside, dict) and RATING in inside:
        return RATING, [inside[RATING]]
    return "", []


def _task_name_of_record(record: dict[str, Any], data: dict[str, Any], task_field: str | None, path: str | Path) -> Any:
    """Return the id of a task, or its data field `task_field`; raise InputError if that is missing."""
    name = record.get("id") if task_field is None else data.get(task_field)
    if not isinstance(name, str | int):
        wanted = "an id" if task_field is None else f"the field {task_field!r}"
        raise InputError(
            f"{path} has a task without {wanted}; name tasks by another field: task=... (--task ...); "
            f"the fields are {first_few(data, 6)}"
        )
    return name


def _annotator_id_or_email(annotator: Any) -> Any:
    """Return the id or else the email address of a Label Studio annotator; None if there is neither."""
    if isinstance(annotator, dict):
        annotator = annotator.get("email") if annotator.get("id") is None else annotator["id"]
    return None if annotator == "" else annotator


def _iso_time_to_unix_time_or_nan(iso_time: Any, export_to_update: Export) -> float:
    """Return an ISO time as seconds since 1970, NaN if missing; unreadable times are counted in `export_to_update`."""
    if iso_time is None:
        return NAN
    try:
        moment = datetime.fromisoformat(str(iso_time))
    except ValueError:
        export_to_update.n["times"] += 1
        return NAN
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _seconds_or_nan_if_not_number(duration: Any) -> float:
    """Return a duration in seconds, NaN if it is not a number."""
    return float(duration) if isinstance(duration, int | float) else NAN
