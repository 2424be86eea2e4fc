"""The records of a Label Studio export, in its two forms, as answers by control."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few

CHOICES, RATING = "choices", "rating"
NAN = float("nan")
AFTER = ("annotator", "annotation_id")  # what JSON-MIN writes after the answers; "id" stands before them


@dataclass(frozen=True)
class Answer:
    """What one person said about one task, by control."""

    task: Any
    worker: Any  # None where nobody is named
    said: dict[str, list[Any]]  # control -> labels
    when: float
    seconds: float
    is_gold: bool = False


@dataclass
class Export:
    """What a file holds, and the counts of what was passed over."""

    answers: list[Answer] = field(default_factory=list)
    shown: dict[Any, dict[str, Any]] = field(default_factory=dict)  # task -> its data
    kinds: dict[str, str] = field(default_factory=dict)  # control -> choices or rating
    other: Counter[str] = field(default_factory=Counter)  # answers of other kinds: boxes, text
    n: Counter[str] = field(default_factory=Counter)


def is_task(record: dict[str, Any]) -> bool:
    """Does this look like a task with its annotations?"""
    return isinstance(record.get("annotations"), list) and isinstance(record.get("data"), dict)


def is_min(record: dict[str, Any]) -> bool:
    """Does this look like a record of JSON-MIN?"""
    return all(name in record for name in AFTER)


def read_tasks(records: list[dict[str, Any]], task_field: str | None, path: str | Path) -> Export:
    """The JSON form: tasks with their annotations."""
    export = Export()
    for record in records:
        task = _task_name(record, record["data"], task_field, path)
        export.n["merged"] += task in export.shown
        export.shown.setdefault(task, record["data"])
        for what in ("predictions", "drafts"):
            export.n[what] += len(record.get(what) or ())
        for annotation in record["annotations"]:
            if not isinstance(annotation, dict):
                raise InputError(f"{path}: task {task!r} has numbers in place of annotations; export them in full")
            if annotation.get("was_cancelled"):
                export.n["cancelled"] += 1
            else:
                export.answers.append(_read_annotation(annotation, task, export, path))
    return export


def _read_annotation(annotation: dict[str, Any], task: Any, export: Export, path: str | Path) -> Answer:
    said: dict[str, list[Any]] = {}
    for result in annotation.get("result") or ():
        value = result.get("value") or {}
        kind = next((kind for kind in (CHOICES, RATING) if kind in value), None)
        if kind is None:
            export.other[str(result.get("type"))] += 1
            continue
        control = str(result.get("from_name"))
        if control in said:
            raise InputError(
                f"{path}: task {task!r} has several answers to {control!r} in one annotation; "
                "answers about parts of a task are no votes on the task"
            )
        said[control] = list(dict.fromkeys(value[kind])) if kind == CHOICES else [value[kind]]
        export.kinds[control] = kind
    return Answer(
        task,
        _worker(annotation.get("completed_by")),
        said,
        _when(annotation.get("created_at"), export),
        _seconds(annotation.get("lead_time")),
        bool(annotation.get("ground_truth")),
    )


def read_min(records: list[dict[str, Any]], from_name: str | None, task_field: str | None, path: str | Path) -> Export:
    """The JSON-MIN form, such as {"image": "1.png", "id": 1, "animal": "cat", "annotator": 3, "annotation_id": 8}.

    The answers stand between `id` and `annotator`; where a file was written anew in another order, `from_name` helps.
    """
    export = Export()
    for record in records:
        keys = list(record)
        begin, end = keys.index("id") + 1 if "id" in keys else 0, keys.index(AFTER[0])
        said: dict[str, list[Any]] = {}
        for control in keys[begin:end] if from_name is None else [from_name]:
            kind, labels = _min_value(record.get(control))
            if kind:
                said[control], export.kinds[control] = labels, kind
            elif record.get(control) is not None:
                export.other[control] += 1
        task = _task_name(record, record, task_field, path)
        export.shown.setdefault(task, {key: record[key] for key in keys[: max(begin - 1, 0)] if key not in said})
        when, seconds = _when(record.get("created_at"), export), _seconds(record.get("lead_time"))
        export.answers.append(Answer(task, _worker(record["annotator"]), said, when, seconds))
    return export


def _min_value(value: Any) -> tuple[str, list[Any]]:
    """A choice is plain text, several are {"choices": [...]}, a rating is [{"rating": 4}]."""
    if isinstance(value, str):
        return CHOICES, [value]
    inside = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(inside, dict) and isinstance(inside.get(CHOICES), list):
        return CHOICES, list(dict.fromkeys(inside[CHOICES]))
    if isinstance(inside, dict) and RATING in inside:
        return RATING, [inside[RATING]]
    return "", []


def _task_name(record: dict[str, Any], data: dict[str, Any], task_field: str | None, path: str | Path) -> Any:
    name = record.get("id") if task_field is None else data.get(task_field)
    if not isinstance(name, str | int):
        wanted = "an id" if task_field is None else f"the field {task_field!r}"
        raise InputError(f"{path} has a task without {wanted}; name another field of it: {first_few(data, 6)}")
    return name


def _worker(given: Any) -> Any:
    """An id, or the id in a description of the person, else the address there; None where there is nothing."""
    if isinstance(given, dict):
        given = given.get("email") if given.get("id") is None else given["id"]
    return None if given == "" else given


def _when(given: Any, export: Export) -> float:
    if given is None:
        return NAN
    try:
        moment = datetime.fromisoformat(str(given))
    except ValueError:
        export.n["times"] += 1
        return NAN
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _seconds(given: Any) -> float:
    return float(given) if isinstance(given, int | float) else NAN
