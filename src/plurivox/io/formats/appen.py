"""Read full reports of Appen (Figure Eight, CrowdFlower): CSV with one row per judgment, `_unit_id`, `_worker_id`, `_trust`.

The answers of the test questions (`<question>_gold`, alternatives in lines) are gold labels; trust, country and channel are
traits of the workers. An aggregated report has no votes and is refused.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few
from plurivox.io.formats._annotations import (
    NAN,
    Annotation,
    annotations_to_votes,
    as_text_if_types_differ,
    choose_question,
    gold_labels,
    items_table,
    sorted_labels,
    workers_table,
)
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._table_columns import (
    columns_as_lists,
    constant_columns_by_name,
    number_or_nan,
    questions_of_labels_and_others,
)
from plurivox.io.formats._time_texts import american_time_to_unix_time
from plurivox.io.tabular.table_file_names import table_name_of_file
from plurivox.io.tabular.table_files import Columns

TASK, WORKER, TRUST = "_unit_id", "_worker_id", "_trust"
GOLD_SUFFIX, CONFIDENCE_SUFFIX = "_gold", ":confidence"
WORKER_TRAITS = ("_trust", "_country", "_region", "_city", "_channel")
AGGREGATED = ("_unit_state", "_trusted_judgments")  # columns of an aggregated report

Columnwise = dict[str, list[Any]]


def recognises(table: Columns) -> bool:
    """Return whether a table is a full or aggregated report of Appen, by the columns that the platform adds."""
    names = set(table.names)
    is_aggregated = WORKER not in names and bool(set(AGGREGATED) & names)
    return TASK in names and ({WORKER, TRUST} <= names or is_aggregated)


def read_columns(table: Columns, names: FieldNames) -> ForeignContents:
    """Return the votes, gold labels, task data and traits of the workers in a full report.

    `names.label` selects one of several questions; `names.task` is a data column that names the tasks instead of `_unit_id`.
    """
    if WORKER not in table:
        raise InputError(
            f"{table.where} is an aggregated report: it has the result of each row of data, not the votes; download the full "
            "report (Results, Full)"
        )
    columns = columns_as_lists(table)
    task_column = TASK if names.task is None else names.task
    if task_column not in columns:
        raise InputError(f"{table.where} has no column {task_column!r} for the tasks; use {TASK} or a data column")
    questions = _labels_by_question(columns)
    likely, others = questions_of_labels_and_others(questions, names.label)
    question = choose_question(likely, names.label, table.where)
    annotations = _annotations(columns, task_column, questions[question])
    tasks = as_text_if_types_differ(columns[task_column])
    golds = _alternatives_by_task(columns, task_column, question)
    labels = names.labels or sorted_labels(annotations, golds.values())
    votes = annotations_to_votes(annotations, tasks=tasks, labels=labels)
    asked = (*questions, *(f"{one}{GOLD_SUFFIX}" for one in questions))
    data = {
        name: column
        for name, column in columns.items()
        if name != task_column and name[:1] != "_" and name not in asked
    }
    traits = {name[1:]: columns[name] for name in WORKER_TRAITS if name in columns}
    return ForeignContents(
        table_name_of_file(Path(table.where)),
        votes,
        gold_labels(golds, votes),
        items=items_table(constant_columns_by_name(columns[task_column], data), table.where),
        workers=workers_table(_last_traits(columns[WORKER], traits), table.where),
        notes=_notes(columns, annotations, question, others),
    )


def _labels_by_question(columns: Columnwise) -> dict[str, list[list[str]]]:
    """Return the labels of each judgment by question: columns with a gold column, else those that differ within a unit."""
    data = [name for name in columns if name[:1] != "_" and not name.endswith((GOLD_SUFFIX, CONFIDENCE_SUFFIX))]
    asked = [name for name in data if f"{name}{GOLD_SUFFIX}" in columns]
    constant = constant_columns_by_name(columns[TASK], {name: columns[name] for name in data})
    same = set(next(iter(constant.values()), {}))
    asked = asked or [name for name in data if name not in same]
    found = {name: [_lines(value) for value in columns[name]] for name in asked}
    return {name: rows for name, rows in found.items() if any(rows)}


def _lines(value: Any) -> list[Any]:
    """Return the labels in a cell: one per line, each once."""
    if value is None:
        return []
    if not isinstance(value, str):  # pandas makes decimals of whole numbers in a column with empty cells
        return [int(value) if isinstance(value, float) and value.is_integer() else value]
    return list(dict.fromkeys(line.strip() for line in value.splitlines() if line.strip()))


def _annotations(columns: Columnwise, task_column: str, labels: Sequence[list[Any]]) -> list[Annotation]:
    """Return the judgments that have a label, with the time of submission and the seconds since the page was opened."""
    n = len(labels)
    begun, done = (
        [american_time_to_unix_time(time) for time in columns.get(name, [None] * n)]
        for name in ("_started_at", "_created_at")
    )
    return [
        Annotation(
            columns[task_column][row],
            columns[WORKER][row],
            labels[row],
            NAN if (end := done[row]) is None else end,
            NAN if end is None or (start := begun[row]) is None or end < start else end - start,
        )
        for row in range(n)
        if labels[row]
    ]


def _alternatives_by_task(columns: Columnwise, task_column: str, question: str) -> dict[Any, list[Any]]:
    """Return {task: accepted answers} of the test questions."""
    golds = columns.get(f"{question}{GOLD_SUFFIX}", [])
    return {task: _lines(value) for task, value in zip(columns[task_column], golds, strict=False) if _lines(value)}


def _last_traits(workers: Sequence[Any], traits: dict[str, list[Any]]) -> dict[Any, dict[str, Any]]:
    """Return {worker: traits}, each trait from the last row of the worker that has it; trust is a number."""
    found: dict[Any, dict[str, Any]] = {worker: {} for worker in workers if worker is not None}
    for name, values in traits.items():
        for worker, value in zip(workers, values, strict=True):
            if worker is not None and value is not None:
                found[worker][name] = number_or_nan(value) if f"_{name}" == TRUST else value
    return found


def _notes(columns: Columnwise, annotations: list[Annotation], question: str, others: list[str]) -> tuple[str, ...]:
    """Return notes on tainted judgments, judgments without a label, several labels, and questions left out."""
    tainted = [row for row, value in enumerate(columns.get("_tainted", ())) if str(value).lower() == "true"]
    workers = Counter(str(columns[WORKER][row]) for row in tainted)
    unlabelled = len(columns[WORKER]) - len(annotations)
    several = sum(len(one.labels) > 1 for one in annotations)
    notes = (
        (
            len(tainted),
            f"{count_text(len(tainted), 'tainted judgment')} of the workers {first_few(workers)}, who failed test questions, "
            "kept as votes; to leave them out, delete the rows with _tainted true",
        ),
        (unlabelled, f"{count_text(unlabelled, 'judgment')} without an answer to {question!r}"),
        (several, f"{count_text(several, 'answer')} with several labels, which have equal shares"),
        (
            len(others),
            f"votes are the answers to {question!r}; other questions are {first_few(others)}: label=... (--label)",
        ),
    )
    return tuple(text for is_needed, text in notes if is_needed)
