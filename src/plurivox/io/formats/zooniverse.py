"""Read classification exports of Zooniverse (CSV): one row per classification, with JSON in `annotations` and `subject_data`.

Tasks are subjects, questions are the tasks T0, T1, ... of a workflow. Classifications made before the project was live are
left out. https://help.zooniverse.org/next-steps/data-exports
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few
from plurivox.io.formats._annotations import (
    NAN,
    Annotation,
    annotations_to_votes,
    choose_question,
    gold_labels,
    iso_time_to_unix_time,
    items_table,
    label_option,
    sorted_labels,
)
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._table_columns import columns_as_lists, questions_of_labels_and_others
from plurivox.io.tabular.table_file_names import table_name_of_file
from plurivox.io.tabular.table_files import Columns

WORKER, SUBJECT, ANNOTATIONS = "user_name", "subject_ids", "annotations"
REQUIRED = ("classification_id", WORKER, "workflow_id", ANNOTATIONS, SUBJECT)
ANONYMOUS = (
    "not-logged-in"  # the start of the names of users without an account; the rest is a code of their IP address
)
OF_RETIREMENT = "retired"  # the part of subject_data that is not about the subject


@dataclass
class _Answers:
    """Parsed rows: the labels by question, the questions' texts, and the number of drawn marks."""

    labels: list[dict[str, list[Any]]] = field(default_factory=list)  # per row
    texts: dict[str, str] = field(default_factory=dict)
    n_marks: int = 0


def recognises(table: Columns) -> bool:
    """Return whether a table has the columns of a classification export."""
    return set(REQUIRED) <= set(table.names)


def read_columns(table: Columns, names: FieldNames) -> ForeignContents:
    """Return the votes on one question of a classification export, gold labels of gold-standard rows, and subject data.

    `names.label` selects a question: T0, or its text. `names.task` is a field of the subject data that names the tasks.
    """
    columns = columns_as_lists(table)
    metadata = [_parsed(text) for text in columns.get("metadata", [None] * len(columns[SUBJECT]))]
    kept = _rows_of_live_project(columns, metadata)
    answers = _parse_answers(columns, kept)
    questions = {name: [one.get(name, []) for one in answers.labels] for one in answers.labels for name in one}
    named = next((name for name, text in answers.texts.items() if text == names.label), names.label)
    likely, others = questions_of_labels_and_others(questions, named)
    unreadable = count_text(answers.n_marks, "mark") if answers.n_marks else ""
    question = choose_question(likely, named, table.where, unreadable=unreadable)
    data = _subject_data(columns, kept)
    tasks = _task_names(columns, kept, data, names.task, table.where)
    if (worker := names.worker or WORKER) not in columns:
        raise InputError(f"{table.where} has no column {worker!r} (worker); it has {WORKER}, user_id, user_ip")
    is_gold = [str(value).lower() == "true" for value in columns.get("gold_standard", [None] * len(metadata))]
    given = list(zip(kept, tasks, questions[question], strict=True))
    annotations = [
        Annotation(task, columns[worker][row], labels, _time(columns, row), _seconds(metadata[row]))
        for row, task, labels in given
        if labels and not is_gold[row]
    ]
    golds = {task: labels for row, task, labels in given if labels and is_gold[row]}
    labels = names.labels or sorted_labels(annotations, golds.values())
    votes = annotations_to_votes(annotations, tasks=list(dict.fromkeys(tasks)), labels=labels)
    items = {task: data.get(columns[SUBJECT][row], {}) for row, task in zip(kept, tasks, strict=True)}
    return ForeignContents(
        table_name_of_file(Path(table.where)),
        votes,
        gold_labels(golds, votes),
        items=items_table(items, table.where),
        notes=_notes(columns, annotations, answers, kept, question, others, n_gold=len(golds)),
    )


def _parsed(text: Any) -> Any:
    """Return the JSON in a cell; None if it is empty or no JSON."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return None


def _rows_of_live_project(columns: dict[str, list[Any]], metadata: Sequence[Any]) -> list[int]:
    """Return the rows with a subject; if some were made when the project was live, only these: the others are a test."""
    rows = [row for row, subject in enumerate(columns[SUBJECT]) if subject is not None]
    was_live = {row: isinstance(metadata[row], dict) and metadata[row].get("live_project") is True for row in rows}
    tested = {row for row in rows if isinstance(metadata[row], dict) and metadata[row].get("live_project") is False}
    return [row for row in rows if row not in tested] if any(was_live.values()) else rows


def _parse_answers(columns: dict[str, list[Any]], kept: Sequence[int]) -> _Answers:
    """Return the labels in `annotations`; questions are called <workflow>/T0 if the rows are of several workflows."""
    found = _Answers()
    names = columns.get("workflow_name", columns["workflow_id"])
    several = len({columns["workflow_id"][row] for row in kept}) > 1
    for row in kept:
        labels: dict[str, list[Any]] = {}
        for task, text, value in _values(_parsed(columns[ANNOTATIONS][row])):
            for part, chosen in _labels_by_part(value):
                question = f"{names[row]}/{task}{part}" if several else f"{task}{part}"
                if chosen is None:
                    found.n_marks += 1
                else:
                    labels.setdefault(question, []).extend(one for one in chosen if one not in labels[question])
                    found.texts.setdefault(question, str(text or ""))
        found.labels.append({question: chosen for question, chosen in labels.items() if chosen})
    return found


def _values(annotations: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield (task, text of the question, value) of annotations; those of a combination of tasks one by one."""
    for one in annotations if isinstance(annotations, list) else ():
        if not isinstance(one, dict) or "task" not in one:
            continue
        value = one.get("value")
        if isinstance(value, list) and value and all(isinstance(part, dict) and "task" in part for part in value):
            yield from _values(value)
        else:
            yield str(one["task"]), one.get("task_label"), value


def _labels_by_part(value: Any) -> Iterator[tuple[str, list[Any] | None]]:
    """Yield (part of the question, labels) of a value; None for a drawn mark.

    Only a menu has parts. The value is an answer, a list of answers, species of a survey, or options of menus.
    """
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str | int | float):
            yield "", [one]
        elif isinstance(one, dict) and "choice" in one:  # of a survey
            yield "", [one["choice"]]
        elif isinstance(one, dict) and "option" in one:  # of a menu
            menu, chosen = one.get("select_label"), one.get("label", one.get("value"))
            yield f"/{menu}" if menu else "", [] if chosen is None else [chosen]
        elif one is not None:
            yield "", None


def _subject_data(columns: dict[str, list[Any]], kept: Sequence[int]) -> dict[Any, dict[str, Any]]:
    """Return {subject: its metadata}; a row with several subjects has none."""
    found: dict[Any, dict[str, Any]] = {}
    for row in kept if "subject_data" in columns else ():
        subject = columns[SUBJECT][row]
        if subject not in found:
            data = _parsed(columns["subject_data"][row])
            of_subject = data.get(str(subject)) if isinstance(data, dict) else None
            found[subject] = {
                name: value
                for name, value in (of_subject if isinstance(of_subject, dict) else {}).items()
                if name != OF_RETIREMENT
            }
    return found


def _task_names(
    columns: dict[str, list[Any]], kept: Sequence[int], data: dict[Any, dict[str, Any]], named: str | None, where: str
) -> list[Any]:
    """Return the task of each kept row: its subject, or the field of the subject data that the caller named."""
    subjects = [columns[SUBJECT][row] for row in kept]
    if named in (None, SUBJECT):
        return subjects
    tasks = [data.get(subject, {}).get(str(named)) for subject in subjects]
    if None in tasks:
        known = dict.fromkeys(name for fields in data.values() for name in fields)
        raise InputError(
            f"{where} has subjects without the field {named!r} (task); they have {first_few([SUBJECT, *known], 12)}"
        )
    return tasks


def _time(columns: dict[str, list[Any]], row: int) -> float:
    """Return `created_at` (2022-07-01 12:00:00 UTC) as seconds since 1970, NaN if it is missing or cannot be read."""
    text = columns["created_at"][row] if "created_at" in columns else None
    time = iso_time_to_unix_time(str(text).removesuffix(" UTC") if text is not None else None)
    return NAN if time is None else time


def _seconds(metadata: Any) -> float:
    """Return the seconds between `started_at` and `finished_at`, NaN if one is missing."""
    if not isinstance(metadata, dict):
        return NAN
    begun, done = (iso_time_to_unix_time(metadata.get(name)) for name in ("started_at", "finished_at"))
    return done - begun if begun is not None and done is not None and done >= begun else NAN


def _notes(
    columns: dict[str, list[Any]],
    annotations: Sequence[Annotation],
    answers: _Answers,
    kept: Sequence[int],
    question: str,
    others: Sequence[str],
    *,
    n_gold: int,
) -> tuple[str, ...]:
    """Return notes on the question, on classifications before the project was live, and on what was left out."""
    n_tests = sum(subject is not None for subject in columns[SUBJECT]) - len(kept)
    n_empty = len(kept) - len(annotations) - n_gold
    anonymous = sum(str(one.worker).startswith(ANONYMOUS) for one in annotations)
    several = sum(len(one.labels) > 1 for one in annotations)
    versions = sorted({str(columns["workflow_version"][row]) for row in kept} if "workflow_version" in columns else ())
    notes = (
        (True, f"votes are the answers to {question!r} ({answers.texts.get(question) or 'no text'})"),
        (len(others), f"other questions are {first_few(others)}: {label_option(others[0]) if others else ''}"),
        (
            n_tests,
            f"{count_text(n_tests, 'classification')} from before the project was live left out (live_project in metadata)",
        ),
        (len(versions) > 1, f"the votes are from {len(versions)} versions of the workflow: {first_few(versions)}"),
        (n_empty, f"{count_text(n_empty, 'classification')} without an answer to {question!r}"),
        (several, f"{count_text(several, 'answer')} with several labels, which have equal shares"),
        (n_gold, f"{count_text(n_gold, 'gold-standard classification')} {'is' if n_gold == 1 else 'are'} gold"),
        (answers.n_marks, f"{count_text(answers.n_marks, 'drawn mark')} left out"),
        (
            anonymous,
            f"{count_text(anonymous, 'vote')} by users who were not logged in: each internet address is a worker",
        ),
    )
    return tuple(text for is_needed, text in notes if is_needed)
