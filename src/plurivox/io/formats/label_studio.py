"""Label Studio exports: JSON (tasks with their annotations) and JSON-MIN (one record an annotation).

Choices and ratings become votes. Several choices at once are one soft answer with equal shares. An annotation marked
as ground truth is gold and no vote; a cancelled one is skipped. https://labelstud.io/guide/task_format
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.encoding import as_names, sort_by_value
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.formats._contents import Contents, counted, votes_of
from plurivox.io.formats._label_studio_records import RATING, Answer, Export, is_min, is_task, read_min, read_tasks
from plurivox.io.tabular.column_values import frame_of
from plurivox.io.tabular.text_files import read_json


def is_export(records: Any) -> bool:
    """Whether what a JSON file holds looks like Label Studio's: a list whose first record is a task or an annotation."""
    first = records[0] if isinstance(records, list) and records else None
    return isinstance(first, dict) and (is_task(first) or is_min(first))


def read(
    path: str | Path,
    from_name: str | None = None,
    *,
    task_field: str | None = None,
    labels: Iterable[object] | None = None,
    records: Any = None,
) -> Contents:
    """The votes of a Label Studio export; `records` are what the file holds, where it has been read already.

    `from_name` picks one of several controls. Tasks are named by their id, or by a field of their data (`task_field`).
    `labels` lists all labels, since the file holds only those that somebody chose.
    """
    records = read_json(path) if records is None else records
    if not isinstance(records, list) or not records or not all(isinstance(record, dict) for record in records):
        raise InputError(f"{path} must hold a list of tasks, as Label Studio exports it")
    if all(is_task(record) for record in records):
        export = read_tasks(records, task_field, path)
    elif all(is_min(record) for record in records):
        export = read_min(records, from_name, task_field, path)
    else:
        raise InputError(f"{path} is no export of Label Studio: its records need 'annotations' or 'annotation_id'")
    control = _pick(export, from_name, path)
    try:
        votes, gold = _nouns(export, control, labels)
    except InputError as cause:
        raise InputError(f"{path}: {cause}") from None
    return Contents(Path(path).stem, votes, gold, items=_items(export, path), notes=_notes(export, control))


def _pick(export: Export, from_name: str | None, path: str | Path) -> str:
    """The control whose answers become votes."""
    controls = sorted(export.kinds)
    if from_name in controls:
        return str(from_name)
    if from_name is not None:
        raise InputError(
            f"{path} has no choices or ratings by {from_name!r}; it has {first_few(controls, 12) or 'none'}"
        )
    if len(controls) > 1:
        raise InputError(f"{path} has answers to {first_few(controls, 12)}; say which with from_name")
    if not controls:
        others = first_few(sorted(export.other), 12) or "no answers"
        raise InputError(f"{path} has no choices and no ratings, which could be votes; it has {others}")
    return controls[0]


def _nouns(export: Export, control: str, labels: Iterable[object] | None) -> tuple[Votes, SoftLabels | None]:
    answers = [answer for answer in export.answers if answer.said.get(control)]
    seen = as_names(label for answer in answers for label in answer.said[control])
    known = sort_by_value(seen).tolist() if labels is None else list(labels)
    tasks = _one_kind(export.shown)
    votes = _votes([answer for answer in answers if not answer.is_gold], control, tasks, known, export)
    gold = [answer for answer in answers if answer.is_gold]
    if not gold:
        return votes, None
    told = _votes(gold, control, tasks, known, export)
    told = told.on(told.voted)
    return votes, SoftLabels.shares(told.tally(), told.tasks, told.labels, scale=told.scale)


def _votes(answers: list[Answer], control: str, tasks: dict[Any, Any], labels: list[Any], export: Export) -> Votes:
    size = np.array([len(answer.said[control]) for answer in answers], int)
    row = np.repeat(np.arange(len(answers)), size)  # (n_rows,) the answer of each row
    soft = bool((size > 1).any())
    workers = _one_kind(answer.worker for answer in answers if answer.worker is not None)
    each = {"when": [answer.when for answer in answers], "seconds": [answer.seconds for answer in answers]}
    times = {name: np.array(column)[row] for name, column in each.items() if not np.isnan(column).all()}
    return votes_of(
        [tasks[answers[i].task] for i in row],
        [workers.get(answers[i].worker) for i in row],
        [label for answer in answers for label in answer.said[control]],
        tasks=list(tasks.values()),
        labels=labels,
        ordered=export.kinds[control] == RATING,
        weight=1 / size[row] if soft else None,
        answer=row if soft else None,
        **times,
    )


def _notes(export: Export, control: str) -> tuple[str, ...]:
    answers = [answer for answer in export.answers if answer.said.get(control)]
    votes = [answer for answer in answers if not answer.is_gold]
    others = sorted(set(export.kinds) - {control})
    return counted(
        (export.n["cancelled"], "cancelled annotations were skipped"),
        (len(export.answers) - len(answers), f"annotations say nothing to {control!r} and were dropped"),
        (sum(len(answer.said[control]) > 1 for answer in votes), "answers chose several labels, in equal shares"),
        (len(answers) - len(votes), "ground-truth annotations are gold and no votes"),
        (sum(answer.worker is None for answer in votes), "votes have no worker"),
        (export.n["merged"], "tasks share a name with an earlier one and were merged"),
        (export.n["times"], "times could not be read"),
        (export.n["predictions"], "predictions were left out"),
        (export.n["drafts"], "drafts were left out"),
        (
            export.other.total(),
            f"answers are no choice and no rating ({first_few(sorted(export.other))}) and were left out",
        ),
        (len(others), f"other controls were left out: {first_few(others)}"),
    )


def _items(export: Export, path: str | Path) -> pl.DataFrame | None:
    """`task` and the fields of the tasks' data; a value that is no plain one is kept as JSON."""
    fields = dict.fromkeys(name for data in export.shown.values() for name in data if name != "task")
    if not fields:
        return None
    columns: dict[str, list[Any]] = {"task": list(_one_kind(export.shown).values())}
    for name in fields:
        values = [data.get(name) for data in export.shown.values()]
        kinds = {type(value) for value in values if value is not None}
        plain = len(kinds) < 2 and kinds <= {str, int, float, bool}
        columns[name] = values if plain else [None if value is None else _text(value) for value in values]
    return frame_of(columns, path)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_kind(names: Iterable[Any]) -> dict[Any, Any]:
    """Names as they are, or all as text where whole numbers and text come together."""
    listed = list(names)
    mixed = len({type(name) for name in listed}) > 1
    return {name: str(name) if mixed else name for name in listed}
