"""Read Label Studio exports: JSON (tasks with their annotations) and JSON-MIN (one record per annotation).

Choices and ratings become votes. Several choices in one annotation are a soft answer with equal shares. An annotation marked
as ground truth is gold, not a vote; cancelled ones are skipped. https://labelstud.io/guide/task_format
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, sort_distinct_names_by_value
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.formats._data_read_from_other_program import (
    FieldNames,
    ForeignContents,
    notes_with_nonzero_count,
    votes_with_unnamed,
)
from plurivox.io.formats._label_studio_records import (
    RATING,
    Answer,
    Export,
    is_label_studio_json_min_record,
    is_label_studio_task_record,
    parse_label_studio_json_min_records,
    parse_label_studio_task_records,
)
from plurivox.io.tabular.column_conversion import frame_of


def recognises(records: list[dict[str, Any]]) -> bool:
    """Return whether JSON records are a Label Studio export, by the fields of the first record."""
    return is_label_studio_task_record(records[0]) or is_label_studio_json_min_record(records[0])


def read_records(records: list[dict[str, Any]], where: str | Path, names: FieldNames) -> ForeignContents:
    """Return the votes and gold labels of a Label Studio export.

    `names.label` (`from_name` in the file) selects one of several controls. Tasks are named by their id, or by a field
    of their data (`names.task`). `names.labels` lists all labels, since the file contains only those that were chosen.
    `where` is the path of the file.
    """
    if all(is_label_studio_task_record(record) for record in records):
        export = parse_label_studio_task_records(records, names.task, where)
    elif all(is_label_studio_json_min_record(record) for record in records):
        export = parse_label_studio_json_min_records(records, names.label, names.task, where)
    else:
        raise InputError(f"{where} is not a Label Studio export: its records need 'annotations' or 'annotation_id'")
    control = _choose_control_for_votes(export, names.label, where)
    try:
        votes, gold = _votes_and_gold(export, control, names.labels)
    except InputError as cause:
        raise InputError(f"{where}: {cause}") from None
    return ForeignContents(
        Path(where).stem, votes, gold, items=_task_data_table(export, where), notes=_notes_on_skipped(export, control)
    )


def _choose_control_for_votes(export: Export, control_name: str | None, path: str | Path) -> str:
    """Return the name of the control (question) whose labels become votes; raise InputError if none or several are possible."""
    controls = sorted(export.kinds)
    if control_name in controls:
        return str(control_name)
    if control_name is not None:
        raise InputError(
            f"{path} has no choices or ratings from the control {control_name!r}; it has {first_few(controls, 12) or 'none'}"
        )
    if len(controls) > 1:
        raise InputError(
            f"{path} has answers to the controls {first_few(controls, 12)}; select one: label=... (--label ...)"
        )
    if not controls:
        others = first_few(sorted(export.other), 12) or "no answers"
        raise InputError(f"{path} has no choices or ratings to read as votes; it has {others}")
    return controls[0]


def _votes_and_gold(export: Export, control: str, labels: Iterable[object] | None) -> tuple[Votes, SoftLabels | None]:
    """Return the votes of one control, and the gold labels from its ground-truth annotations (None if there are none)."""
    answers = [answer for answer in export.answers if answer.labels.get(control)]
    chosen = as_names(label for answer in answers for label in answer.labels[control])
    known = sort_distinct_names_by_value(chosen).tolist() if labels is None else list(labels)
    tasks = _dict_to_text_names_if_types_differ(export.shown)
    votes = _chosen_labels_as_votes_or_soft_answers(
        [answer for answer in answers if not answer.is_gold], control, tasks, known, export
    )
    gold = [answer for answer in answers if answer.is_gold]
    if not gold:
        return votes, None
    gold_votes = _chosen_labels_as_votes_or_soft_answers(gold, control, tasks, known, export)
    gold_votes = gold_votes.on(gold_votes.tasks_with_votes)
    return votes, SoftLabels.shares(
        gold_votes.sparse_vote_counts(),
        gold_votes.tasks,
        gold_votes.labels,
        scale=gold_votes.scale,
        estimates="truth",  # ground-truth annotations are known labels
    )


def _chosen_labels_as_votes_or_soft_answers(
    answers: list[Answer], control: str, tasks: dict[Any, Any], labels: list[Any], export: Export
) -> Votes:
    """Return the labels chosen in one control as votes; several labels in one annotation become a soft answer."""
    size = np.array([len(answer.labels[control]) for answer in answers], int)
    row = np.repeat(np.arange(len(answers)), size)  # (n_rows,) the answer of each row
    soft = bool((size > 1).any())
    workers = _dict_to_text_names_if_types_differ(answer.worker for answer in answers if answer.worker is not None)
    each = {"when": [answer.when for answer in answers], "seconds": [answer.seconds for answer in answers]}
    times = {name: np.array(column)[row] for name, column in each.items() if not np.isnan(column).all()}
    return votes_with_unnamed(
        [tasks[answers[i].task] for i in row],
        [workers.get(answers[i].worker) for i in row],
        [label for answer in answers for label in answer.labels[control]],
        tasks=list(tasks.values()),
        labels=labels,
        ordered=export.kinds[control] == RATING,
        weight=1 / size[row] if soft else None,
        answer=row if soft else None,
        **times,
    )


def _notes_on_skipped(export: Export, control: str) -> tuple[str, ...]:
    """Return notes, with counts, on what of a Label Studio export was skipped, merged or left out."""
    answers = [answer for answer in export.answers if answer.labels.get(control)]
    votes = [answer for answer in answers if not answer.is_gold]
    others = sorted(set(export.kinds) - {control})
    return notes_with_nonzero_count(
        (export.n["cancelled"], "cancelled annotations were skipped"),
        (len(export.answers) - len(answers), f"annotations have no label for {control!r} and were dropped"),
        (sum(len(answer.labels[control]) > 1 for answer in votes), "answers chose several labels, in equal shares"),
        (len(answers) - len(votes), "ground-truth annotations are gold, not votes"),
        (sum(answer.worker is None for answer in votes), "votes have no worker"),
        (export.n["merged"], "tasks share a name with an earlier one and were merged"),
        (export.n["times"], "times could not be read"),
        (export.n["predictions"], "predictions were left out"),
        (export.n["drafts"], "drafts were left out"),
        (
            export.other.total(),
            f"answers are neither choices nor ratings ({first_few(sorted(export.other))}) and were left out",
        ),
        (len(others), f"other controls were left out: {first_few(others)}"),
    )


def _task_data_table(export: Export, path: str | Path) -> pl.DataFrame | None:
    """Return a table of `task` and the data fields of the Label Studio tasks; lists and objects become JSON text."""
    fields = dict.fromkeys(name for data in export.shown.values() for name in data if name != "task")
    if not fields:
        return None
    columns: dict[str, list[Any]] = {"task": list(_dict_to_text_names_if_types_differ(export.shown).values())}
    for name in fields:
        values = [data.get(name) for data in export.shown.values()]
        kinds = {type(value) for value in values if value is not None}
        plain = len(kinds) < 2 and kinds <= {str, int, float, bool}
        columns[name] = values if plain else [None if value is None else _text_or_json(value) for value in values]
    return frame_of(columns, path)


def _text_or_json(value: Any) -> str:
    """Return a value unchanged if it is text, else as JSON text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _dict_to_text_names_if_types_differ(names: Iterable[Any]) -> dict[Any, Any]:
    """Return {name: name to use}; all names are converted to text if their types differ."""
    listed = list(names)
    mixed = len({type(name) for name in listed}) > 1
    return {name: str(name) if mixed else name for name in listed}
