"""Annotations read from another program's export, and what every reader makes of them: votes, a table of items, the question.

An annotation with several labels becomes a soft answer in which they have equal shares.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, sort_distinct_names_by_value
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.formats._data_read_from_other_program import votes_with_unnamed
from plurivox.io.tabular.column_conversion import frame_of

NAN = float("nan")
TASK_COLUMN, WORKER_COLUMN = "task", "worker"
RARE = 0.5  # a question with fewer answers than this share of those to another one is a comment or a follow-up


@dataclass(frozen=True)
class Annotation:
    """The labels that one worker chose for one task."""

    task: Any
    worker: Any  # None if nobody is named
    labels: Sequence[Any]  # one or several different labels
    when: float = NAN  # seconds since 1970
    seconds: float = NAN  # time taken


def annotations_to_votes(
    annotations: Sequence[Annotation],
    *,
    tasks: Iterable[Any],
    labels: Iterable[object] | None = None,
    ordered: bool = False,
) -> Votes:
    """Return annotations as votes; several labels of one annotation become a soft answer with equal shares.

    `tasks` lists all tasks, also those without annotations. `labels` lists all labels in order; None: those chosen, sorted.
    Names of tasks or workers whose types differ are converted to text.
    """
    size = np.array([len(one.labels) for one in annotations], int)
    row = np.repeat(np.arange(len(annotations)), size)  # (n_rows,) the annotation of each row
    of_row = [one for one in annotations for _ in one.labels]
    soft = bool((size > 1).any())
    task_names = as_text_if_types_differ(tasks)
    workers = as_text_if_types_differ(one.worker for one in annotations if one.worker is not None)
    each = {"when": [one.when for one in annotations], "seconds": [one.seconds for one in annotations]}
    times = {name: np.array(column)[row] for name, column in each.items() if not np.isnan(column).all()}
    chosen = [label for one in annotations for label in one.labels]
    return votes_with_unnamed(
        [task_names[one.task] for one in of_row],
        [workers.get(one.worker) for one in of_row],
        chosen,
        tasks=list(dict.fromkeys(task_names.values())),
        labels=sort_distinct_names_by_value(as_names(chosen)).tolist() if labels is None else list(labels),
        ordered=ordered,
        weight=1 / size[row] if soft else None,
        answer=row if soft else None,
        **times,
    )


def sorted_labels(annotations: Iterable[Annotation], gold: Iterable[Sequence[Any]] = ()) -> list[Any]:
    """Return the labels that were chosen in annotations, or are gold, sorted by value."""
    listed = [label for labels in (*(one.labels for one in annotations), *gold) for label in labels]
    return list(sort_distinct_names_by_value(as_names(listed)).tolist())


def gold_labels(labels_by_task: Mapping[Any, Sequence[Any]], votes: Votes) -> SoftLabels | None:
    """Return the known labels of tasks of `votes`; several accepted labels have equal shares. None if no task has any."""
    if not labels_by_task:
        return None
    annotations = [Annotation(task, None, accepted) for task, accepted in labels_by_task.items()]
    found = annotations_to_votes(annotations, tasks=labels_by_task, labels=votes.labels.tolist())
    return SoftLabels.shares(found.sparse_vote_counts(), found.tasks, found.labels, estimates="truth")


def items_table(fields_by_task: Mapping[Any, Mapping[str, Any]], path: str | Path) -> pl.DataFrame | None:
    """Return a table of `task` and the fields of each task; lists and objects become JSON text. None if there are no fields."""
    return _table_of_named_rows(TASK_COLUMN, fields_by_task, path)


def workers_table(traits_by_worker: Mapping[Any, Mapping[str, Any]], path: str | Path) -> pl.DataFrame | None:
    """Return a table of `worker` and the traits of each worker; None if there are none."""
    return _table_of_named_rows(WORKER_COLUMN, traits_by_worker, path)


def _table_of_named_rows(key: str, rows: Mapping[Any, Mapping[str, Any]], path: str | Path) -> pl.DataFrame | None:
    """Return a table with the names in the column `key` and one column per field, None where a row lacks the field."""
    fields = dict.fromkeys(name for row in rows.values() for name in row if name != key)
    if not fields:
        return None
    columns: dict[str, list[Any]] = {key: list(as_text_if_types_differ(rows).values())}
    for name in fields:
        values = [row.get(name) for row in rows.values()]
        kinds = {type(value) for value in values if value is not None}
        plain = len(kinds) < 2 and kinds <= {str, int, float, bool}
        columns[name] = values if plain else [None if value is None else _text_or_json(value) for value in values]
    return frame_of(columns, path)


def _text_or_json(value: Any) -> str:
    """Return a value unchanged if it is text, else as JSON text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def as_text_if_types_differ(names: Iterable[Any]) -> dict[Any, Any]:
    """Return {name: name to use}; all names are converted to text if their types differ.

    >>> as_text_if_types_differ([3, "bo"])
    {3: '3', 'bo': 'bo'}
    """
    listed = list(names)
    mixed = len({type(name) for name in listed}) > 1
    return {name: str(name) if mixed else name for name in listed}


def choose_question(
    questions: Iterable[str], named: str | None, where: str | Path, *, kind: str = "questions", unreadable: str = ""
) -> str:
    """Return the question whose answers are the votes: the one named by the caller, else the only one.

    Raise InputError with the names to choose from if there are several, none, or none of this name. `kind` is the program's
    word for questions; `unreadable` says what the file has besides.
    """
    known = sorted(questions)
    besides = f"; it has {unreadable}" if unreadable else ""
    if not known:
        raise InputError(f"{where} has no answers that can be read as votes{besides}")
    if named is not None and named not in known:
        raise InputError(
            f"{where} has no {kind} named {named!r} that can be read as votes; it has {first_few(known, 12)}"
        )
    if named is None and len(known) > 1:
        raise InputError(
            f"{where} has answers to the {kind} {first_few(known, 12)}; select one: {label_option(known[0])}"
        )
    return known[0] if named is None else named


def only_choice_among_labels(n_answers_by_question: Mapping[str, int], choices: Iterable[str]) -> str | None:
    """Return the only one of the `choices` that is not RARE, None if there are several or none.

    `choices` are choices among labels; the other questions are ratings or rankings.

    >>> only_choice_among_labels({"sentiment": 9, "stars": 8}, ["sentiment"])
    'sentiment'
    """
    most = max(n_answers_by_question.values(), default=0)
    found = [one for one in choices if n_answers_by_question[one] >= RARE * most]
    return found[0] if len(found) == 1 else None


def label_option(question: str) -> str:
    """Return how to select a question in Python and on the command line.

    >>> print(label_option("is it spam?"))
    label='is it spam?' (--label "is it spam?")
    """
    return f"label={question!r} (--label {shell_word(question)})"


def shell_word(text: str) -> str:
    """Return a text as one word of a command line, in quotes if it contains spaces."""
    return json.dumps(text, ensure_ascii=False) if set(text) & set(" '\"()|&;<>$*?#") else text


def iso_time_to_unix_time(iso_time: Any) -> float | None:
    """Return an ISO time as seconds since 1970 (UTC if it has no zone), NaN if it is missing, None if it cannot be read."""
    if iso_time is None or iso_time == "":
        return NAN
    try:
        moment = datetime.fromisoformat(str(iso_time))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
