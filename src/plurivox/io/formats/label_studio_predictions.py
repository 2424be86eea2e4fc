"""Write soft labels as Label Studio predictions (pre-annotations), which its import shows to annotators.

A prediction has the most probable label as its result, that label's probability as its score, and all probabilities as `meta`
of the result. https://labelstud.io/guide/predictions
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.core.soft_labels import SoftLabels
from plurivox.io.formats._annotations import choose_question
from plurivox.io.formats._data_read_from_other_program import counted_notes
from plurivox.io.formats._label_studio_records import (
    CHOICES,
    PAIRWISE,
    PAIRWISE_FIELD,
    PATH_SEPARATOR,
    RATING,
    TAXONOMY,
    is_label_studio_task_record,
    parse_label_studio_task_records,
)
from plurivox.io.tabular.read_csv_and_json import read_json

MODEL_VERSION = "plurivox"
DIGITS = 6  # of probabilities in the file


@dataclass(frozen=True)
class Control:
    """The control of a labeling configuration that predictions fill, and the object it labels."""

    from_name: str
    to_name: str
    kind: str = CHOICES  # type of the control: choices, rating, taxonomy or pairwise


def write_label_studio_predictions(
    soft: SoftLabels,
    path: str | Path,
    *,
    items: str | Path | None = None,
    from_name: str | None = None,
    to_name: str | None = None,
    model_version: str = MODEL_VERSION,
) -> None:
    """Write soft labels as Label Studio tasks with predictions (JSON); a PlurivoxWarning says which tasks were left out.

    `items` is the project's export (JSON): tasks keep their id and data, and `from_name` and `to_name` are those of its
    annotations. `from_name` is needed if the export has several controls. Without `items` both are needed, and a task's data
    are {to_name: name of the task}.
    """
    if items is None:
        control = _control_as_named(from_name, to_name)
        data: dict[Any, dict[str, Any]] = {
            str(task): {"data": {control.to_name: str(task)}} for task in soft.tasks.tolist()
        }
    else:
        records = _task_records(items)
        control = _control_of_export(records, items, from_name, to_name)
        data = _tasks_by_name(records, [str(task) for task in soft.tasks.tolist()], items)
    results: dict[str, list[dict[str, Any]]] = defaultdict(list)
    scores: dict[str, list[float]] = defaultdict(list)
    unknown = []
    for task, probabilities in _probabilities_by_task(soft):
        base, _, item = task.rpartition("/") if task not in data else (task, "", "")
        if base not in data:
            unknown.append(task)
            continue
        results[base].append(_result(probabilities, control, task, int(item) if item.isdecimal() else None))
        scores[base].append(next(iter(probabilities.values())))
    tasks = [
        {**data[task], "predictions": [_prediction(found, scores[task], model_version)]}
        for task, found in results.items()
    ]
    with atomic_file(path) as part:
        part.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")
    absent, listed = len(data) - len(tasks), first_few(unknown)
    notes = counted_notes(
        (
            len(unknown),
            f"soft label has no task in {items}: {listed}",
            f"soft labels have no task in {items}: {listed}",
        ),
        (
            absent,
            f"task of {items} has no soft label and was left out",
            f"tasks of {items} have no soft label and were left out",
        ),
    )
    for note in notes:
        warn_user(note)


def _control_as_named(from_name: str | None, to_name: str | None) -> Control:
    """Return the control that the caller named; raise InputError if a name is missing."""
    if from_name is None or to_name is None:
        raise InputError(
            "Label Studio predictions need the names of the control and of the object in the labeling configuration: give the "
            "export of the project, items='export.json' (--items export.json), or from_name='sentiment', to_name='text' "
            "(--from-name sentiment --to-name text)"
        )
    return Control(from_name, to_name)


def _task_records(items: str | Path) -> list[dict[str, Any]]:
    """Return the tasks in a Label Studio export in the JSON format; raise InputError if the file is something else."""
    records = read_json(items)
    if (
        not isinstance(records, list)
        or not records
        or not all(isinstance(one, dict) and "data" in one for one in records)
    ):
        raise InputError(
            f"{items} is not a Label Studio export; export the project in the format JSON, not JSON-MIN or CSV"
        )
    return records


def _control_of_export(
    records: list[dict[str, Any]], items: str | Path, from_name: str | None, to_name: str | None
) -> Control:
    """Return the control of an export's annotations; names that the caller gave take precedence."""
    annotated = [record for record in records if is_label_studio_task_record(record)]
    export = parse_label_studio_task_records(annotated, None, items)
    usable = set(export.kinds) - set(export.regions)
    if from_name is not None and to_name is not None and from_name not in usable:
        return Control(from_name, to_name)  # not answered yet
    if not usable:
        return _control_as_named(from_name, to_name)
    try:
        name = choose_question(usable, from_name, items, kind="controls")
    except InputError as cause:
        raise InputError(str(cause).replace("label=", "from_name=").replace("--label", "--from-name")) from None
    return Control(name, to_name or export.objects[name], export.kinds[name])


def _tasks_by_name(
    records: Sequence[dict[str, Any]], wanted: Sequence[str], items: str | Path
) -> dict[str, dict[str, Any]]:
    """Return {task name: its id and data}; the name is the id, or the field of the data in which most wanted names occur."""
    names = set(wanted) | {task.rpartition("/")[0] for task in wanted}
    fields = dict.fromkeys(key for record in records for key in record["data"])
    by_id = {str(record["id"]): record for record in records if "id" in record}
    by_field = [{str(record["data"][one]): record for record in records if one in record["data"]} for one in fields]
    found = max([by_id, *by_field], key=lambda named: len(names & set(named)))
    if not names & set(found):
        raise InputError(
            f"no task of the soft labels is in {items}: they are {first_few(wanted)}, those of the export {first_few(by_id)}"
        )
    return {name: {key: record[key] for key in ("id", "data") if key in record} for name, record in found.items()}


def _probabilities_by_task(soft: SoftLabels) -> list[tuple[str, dict[Any, float]]]:
    """Return (task, {label: probability}) of each task, the most probable label first, without labels of probability 0."""
    found: list[tuple[str, dict[Any, float]]] = []
    labels, tasks = soft.labels.tolist(), [str(task) for task in soft.tasks.tolist()]
    for rows, prob in soft.rows():
        for task, row in zip(tasks[rows], prob, strict=True):
            order = (-row).argsort(kind="stable")
            listed = {labels[i]: round(float(row[i]), DIGITS) for i in order if row[i] > 0.5 * 10**-DIGITS}
            found.append((task, listed))
    return found


def _result(probabilities: Mapping[Any, float], control: Control, task: str, item: int | None) -> dict[str, Any]:
    """Return the result of a prediction: the most probable label in the form of the control, and all probabilities."""
    top = next(iter(probabilities))
    value: dict[str, Any] = {CHOICES: [str(top)]}
    if control.kind == RATING:
        value = {RATING: _whole_number(top, task)}
    elif control.kind == TAXONOMY:
        value = {TAXONOMY: [str(top).split(PATH_SEPARATOR)]}
    elif control.kind == PAIRWISE:
        value = {PAIRWISE_FIELD: str(top)}
    return {
        "id": f"{MODEL_VERSION}-{task}",
        "from_name": control.from_name,
        "to_name": control.to_name,
        "type": control.kind,
        "value": value,
        "meta": {"probabilities": {str(label): p for label, p in probabilities.items()}},
        **({} if item is None else {"item_index": item}),
    }


def _whole_number(label: Any, task: str) -> int:
    """Return the label of a rating as a whole number; raise InputError if it is none."""
    try:
        return int(label)
    except ValueError:
        raise InputError(f"task {task!r} has the label {label!r}, but a rating needs numbers") from None


def _prediction(results: list[dict[str, Any]], scores: Sequence[float], model_version: str) -> dict[str, Any]:
    """Return one prediction: its score is the probability of the label, the mean over the items of a task with several."""
    return {"model_version": model_version, "score": round(sum(scores) / len(scores), DIGITS), "result": results}
