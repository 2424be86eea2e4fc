"""Parse the records of a Label Studio export (JSON and JSON-MIN) into the labels chosen in each control of a task."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few
from plurivox.io.formats._annotations import NAN, iso_time_to_unix_time

CHOICES, RATING, TAXONOMY, PAIRWISE = "choices", "rating", "taxonomy", "pairwise"
PAIRWISE_FIELD = "selected"  # the field of `value` that has the answer: "left" or "right"
PATH_SEPARATOR = "/"  # between the levels of a taxonomy: Animal/Dog
LAST_FIELDS = ("annotator", "annotation_id")  # JSON-MIN writes these after the answers, and "id" before them
GEOMETRY = frozenset(("x", "points", "vertices", "rle", "start", "startOffset", "ranges", "sequence", "bbox"))


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
    people: dict[Any, dict[str, Any]] = field(default_factory=dict)  # worker -> email, first name, ...
    kinds: dict[str, str] = field(default_factory=dict)  # control -> choices, rating, taxonomy or pairwise
    objects: dict[str, str] = field(default_factory=dict)  # control -> the object tag that it labels (to_name)
    regions: dict[str, Any] = field(
        default_factory=dict
    )  # control that labels regions within a task -> an example task
    other: Counter[str] = field(default_factory=Counter)  # number of skipped results (boxes, text), by type
    n: Counter[str] = field(default_factory=Counter)  # how many records were skipped or merged, by reason

    def time(self, iso_time: Any) -> float:
        """Return an ISO time as seconds since 1970, NaN if missing; count the times that cannot be read."""
        seconds = iso_time_to_unix_time(iso_time)
        self.n["times"] += seconds is None
        return NAN if seconds is None else seconds


def is_label_studio_task_record(record: dict[str, Any]) -> bool:
    """Return whether a record is a task with its annotations (JSON format)."""
    return isinstance(record.get("annotations"), list) and isinstance(record.get("data"), dict)


def is_label_studio_json_min_record(record: dict[str, Any]) -> bool:
    """Return whether a record is in the JSON-MIN format."""
    return all(name in record for name in LAST_FIELDS)


# ---- JSON


def parse_label_studio_task_records(
    records: list[dict[str, Any]], task_field: str | None, path: str | Path, worker_field: str | None = None
) -> Export:
    """Return the Export parsed from records in the JSON format: tasks with their annotations.

    Where people label the items of a task one by one, every item is a task, named <task>/<number of the item>.
    """
    export = Export()
    for record in records:
        task = task_name(record, record["data"], task_field, path)
        export.n["merged"] += task in export.shown
        export.shown.setdefault(task, record["data"])
        for what in ("predictions", "drafts"):
            found = record.get(what) or ()
            export.n[what] += len(found) if isinstance(found, list | tuple) else 1
        for annotation in record["annotations"]:
            if not isinstance(annotation, dict):
                raise InputError(
                    f"{path}: task {task!r} has annotation ids instead of annotations; export the full annotations"
                )
            if annotation.get("was_cancelled"):
                export.n["cancelled"] += 1
            else:
                export.answers += _annotation_to_answers(annotation, task, export, worker_field)
    _check_worker_field_was_found(export, worker_field, path)
    _drop_tasks_whose_items_are_labelled_instead(export)
    return export


def _annotation_to_answers(
    annotation: dict[str, Any], task: Any, export: Export, worker_field: str | None
) -> list[Answer]:
    """Return one annotation as Answers, one per item of the task; add kinds, regions and skipped results to `export`."""
    worker = annotator_name(annotation.get("completed_by"), worker_field, export)
    when, seconds = export.time(annotation.get("created_at")), seconds_or_nan(annotation.get("lead_time"))
    by_item: dict[Any, dict[str, list[Any]]] = defaultdict(dict)
    results = [result for result in annotation.get("result") or () if isinstance(result, dict)]
    regions = {result["id"] for result in results if _is_region(result) and result.get("id") is not None}
    for result in results:
        value: dict[str, Any] = result["value"] if isinstance(result.get("value"), dict) else {}
        kind, labels = kind_and_labels_of_value(value)
        if not kind:
            export.other[str(result.get("type"))] += 1
            continue
        control = str(result.get("from_name"))
        item = result.get("item_index", value.get("item_index"))
        if _is_region(result) or result.get("id") in regions or control in by_item[item]:
            export.regions.setdefault(control, task)
        by_item[item][control] = labels
        export.kinds.setdefault(control, kind)
        export.objects.setdefault(control, str(result.get("to_name")))
    names = {item: task if item is None else f"{task}/{item}" for item in by_item or (None,)}
    for item, name in names.items():
        if item is not None:
            export.shown.setdefault(name, {**export.shown[task], "item": item})
            export.n["items"] += 1
    gold = bool(annotation.get("ground_truth"))
    return [Answer(name, worker, by_item[item], when, seconds, gold) for item, name in names.items()]


def _is_region(result: dict[str, Any]) -> bool:
    """Return whether a result marks or describes a part of the task: a box, a polygon, a span of text or of time."""
    value = result.get("value")
    return isinstance(value, dict) and not GEOMETRY.isdisjoint(value)


def _drop_tasks_whose_items_are_labelled_instead(export: Export) -> None:
    """Remove from the tasks of `export` those of which only the items were labelled."""
    if not export.n["items"]:
        return
    own = {answer.task for answer in export.answers if answer.labels}
    with_items = {name.rpartition("/")[0] for name in own if isinstance(name, str) and "item" in export.shown[name]}
    for task in [task for task in export.shown if task not in own and str(task) in with_items]:
        del export.shown[task]
    export.answers = [answer for answer in export.answers if answer.task in export.shown]


# ---- JSON-MIN


def parse_label_studio_json_min_records(
    records: list[dict[str, Any]],
    controls: Sequence[str] | None,
    task_field: str | None,
    path: str | Path,
    worker_field: str | None = None,
) -> Export:
    """Return the Export parsed from records in the JSON-MIN format: one record per annotation.

    A record is {"image": "1.png", "id": 1, "animal": "cat", "annotator": 3, "annotation_id": 8}. The answers are the
    fields between `id` and `annotator`; if a file has another order, name the controls with `controls`.
    """
    export = Export()
    for record in records:
        if str(record.get("was_cancelled")).lower() in ("true", "1"):
            export.n["cancelled"] += 1
            continue
        keys = list(record)
        begin, end = keys.index("id") + 1 if "id" in keys else 0, keys.index(LAST_FIELDS[0])
        labels: dict[str, list[Any]] = {}
        for control in keys[begin:end] if controls is None else controls:
            kind, chosen = _kind_and_labels_of_json_min_value(record.get(control))
            if kind:
                labels[control], export.kinds[control] = chosen, kind
            elif record.get(control) not in (None, ""):
                export.other[control] += 1
        task = task_name(record, record, task_field, path)
        export.shown.setdefault(task, {key: record[key] for key in keys[: max(begin - 1, 0)] if key not in labels})
        worker = annotator_name(record["annotator"] if worker_field is None else record.get(worker_field), None, export)
        times = export.time(record.get("created_at")), seconds_or_nan(record.get("lead_time"))
        export.answers.append(Answer(task, worker, labels, *times))
    if worker_field is not None and not any(worker_field in record for record in records):
        raise InputError(
            f"{path} has no field {worker_field!r} to name workers by; the fields are {first_few(keys, 12)}"
        )
    return export


def _kind_and_labels_of_json_min_value(value: Any) -> tuple[str, list[Any]]:
    """Return (kind, labels) of a JSON-MIN field: text and {"choices": [..]} are choices, [{"rating": 4}] is a rating."""
    if isinstance(value, str) and value:
        return CHOICES, [value]
    inside = value[0] if isinstance(value, list) and len(value) == 1 else value
    return kind_and_labels_of_value(inside) if isinstance(inside, dict) and GEOMETRY.isdisjoint(inside) else ("", [])


# ---- parts of both


def kind_and_labels_of_value(value: dict[str, Any]) -> tuple[str, list[Any]]:
    """Return (kind, labels) of the `value` of a result; ("", []) for boxes, text and all else that is not a label.

    >>> kind_and_labels_of_value({"taxonomy": [["Animal", "Dog"], ["Animal", "Cat"]]})
    ('taxonomy', ['Animal/Dog', 'Animal/Cat'])
    """
    if isinstance(value.get(CHOICES), list):
        return CHOICES, list(dict.fromkeys(value[CHOICES]))
    if RATING in value:
        return RATING, [value[RATING]]
    if isinstance(value.get(TAXONOMY), list):
        paths = [path if isinstance(path, list) else [path] for path in value[TAXONOMY]]
        return TAXONOMY, list(dict.fromkeys(PATH_SEPARATOR.join(map(str, path)) for path in paths))
    if isinstance(value.get(PAIRWISE_FIELD), str):
        return PAIRWISE, [value[PAIRWISE_FIELD]]
    return "", []


def task_name(record: dict[str, Any], data: dict[str, Any], task_field: str | None, path: str | Path) -> Any:
    """Return the id of a task, or its data field `task_field`; raise InputError if that is missing."""
    name = record.get("id") if task_field is None else data.get(task_field)
    if not isinstance(name, str | int):
        wanted = "an id" if task_field is None else f"the field {task_field!r}"
        raise InputError(
            f"{path} has a task without {wanted}; name tasks by another field: task=... (--task ...); "
            f"the fields are {first_few(data, 6)}"
        )
    return name


def annotator_name(annotator: Any, field_name: str | None, export: Export) -> Any:
    """Return the id or else the email address of an annotator, or the field `field_name`; None if there is neither.

    Further fields (email, first name, last name) are added to `export.people`.
    """
    if not isinstance(annotator, dict):
        return None if annotator == "" or field_name is not None else annotator
    name = annotator.get(field_name or "id")
    if name is None and field_name is None:
        name = annotator.get("email")
    if name not in (None, ""):
        traits = {key: value for key, value in annotator.items() if isinstance(value, str | int) and value != ""}
        export.people.setdefault(name, {key: value for key, value in traits.items() if value != name})
    return None if name == "" else name


def _check_worker_field_was_found(export: Export, worker_field: str | None, path: str | Path) -> None:
    """Raise InputError if the caller named a field of the annotators that no annotation has."""
    if worker_field is not None and all(answer.worker is None for answer in export.answers):
        raise InputError(
            f"{path} has no annotator with the field {worker_field!r}; `completed_by` may have the fields id, email, "
            "first_name, last_name: name one of these as worker=... (--worker ...), or leave the option out"
        )


def seconds_or_nan(duration: Any) -> float:
    """Return a duration in seconds, NaN if it is not a number."""
    try:
        return NAN if duration is None or isinstance(duration, bool) else float(duration)
    except (TypeError, ValueError):
        return NAN
