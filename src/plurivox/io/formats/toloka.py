"""Read assignments of Toloka (TSV, or `get_assignments_df`): one row per task and worker, with INPUT:*, OUTPUT:*, GOLDEN:*.

Rejected assignments are left out of the votes. Answers of control tasks (`GOLDEN:*`) are gold labels.
https://toloka.ai/docs/guide/result-of-eval
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
    iso_time_to_unix_time,
    items_table,
    label_option,
    sorted_labels,
)
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._list_texts import is_list_text, parse_list_text
from plurivox.io.formats._table_columns import (
    column_that_differs_between_inputs,
    columns_as_lists,
    constant_columns_by_name,
    questions_of_labels_and_others,
)
from plurivox.io.tabular.table_file_names import table_name_of_file
from plurivox.io.tabular.table_files import Columns

INPUT, OUTPUT, GOLDEN, HINT = "INPUT:", "OUTPUT:", "GOLDEN:", "HINT:text"
WORKER, STATUS, VERDICT, TASK_ID = "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ACCEPT:verdict", "ASSIGNMENT:task_id"
TIMES = ("ASSIGNMENT:submitted", "ASSIGNMENT:started")  # the first that is given is the time of the answers
NOT_DONE = ("ACTIVE", "SKIPPED", "EXPIRED")

Columnwise = dict[str, list[Any]]


def recognises(table: Columns) -> bool:
    """Return whether a table has Toloka's columns: the worker of an assignment, and inputs and outputs of tasks."""
    return WORKER in table.names and all(any(name.startswith(one) for name in table.names) for one in (INPUT, OUTPUT))


def read_columns(table: Columns, names: FieldNames) -> ForeignContents:
    """Return the votes of accepted assignments, gold labels of control tasks, the inputs of tasks, and notes.

    `names.label` selects one of several outputs. Tasks are named by the input that differs between all tasks, else by all
    inputs, or by the column `names.task`.
    """
    columns = columns_as_lists(table)
    kept, rejected = _accepted_and_rejected_rows(columns)
    questions = {
        name.removeprefix(OUTPUT): [_labels_of_cell(columns[name][row]) for row in kept]
        for name in columns
        if name.startswith(OUTPUT)
    }
    questions = {name: rows for name, rows in questions.items() if any(rows)}
    named = None if names.label is None else names.label.removeprefix(OUTPUT)
    likely, others = questions_of_labels_and_others(questions, named)
    question = choose_question(likely, named, table.where, kind="outputs")
    task_column, task_of_row = _task_of_each_row(columns, names.task, table.where)
    worker = _column_or_error(columns, names.worker, (WORKER,), table.where) if names.worker else WORKER
    annotations = [
        Annotation(task_of_row[row], columns[worker][row], labels, when=_time(columns, row))
        for row, labels in zip(kept, questions[question], strict=True)
        if labels
    ]
    accepted = columns.get(GOLDEN + question, [None] * len(task_of_row))
    golds = {task_of_row[row]: labels for row in kept if (labels := _labels_of_cell(accepted[row]))}
    votes = annotations_to_votes(
        annotations,
        tasks=as_text_if_types_differ(task_of_row[row] for row in kept),
        labels=names.labels or sorted_labels(annotations, golds.values()),
    )
    data = {name.removeprefix(INPUT): columns[name] for name in columns if name.startswith(INPUT)}
    data |= {"hint": columns[HINT]} if any(columns.get(HINT, ())) else {}
    return ForeignContents(
        table_name_of_file(Path(table.where)),
        votes,
        gold_labels(golds, votes),
        items=items_table(constant_columns_by_name(task_of_row, data, rows=kept), table.where),
        notes=_notes(columns, annotations, kept, rejected, task_column, question, others, n_gold=len(golds)),
    )


def _accepted_and_rejected_rows(columns: Columnwise) -> tuple[list[int], list[int]]:
    """Return the numbers of the rows that are votes, and of those that are rejected, also by a verdict in ACCEPT:verdict."""
    n = len(columns[WORKER])
    status, verdict = (columns.get(name, [None] * n) for name in (STATUS, VERDICT))
    rows = [row for row in range(n) if columns[WORKER][row] is not None]  # blank lines are between task suites
    state = {row: str(status[row] or "").upper() for row in rows}
    rejected = [row for row in rows if state[row] == "REJECTED" or (verdict[row] == "-" and state[row] != "APPROVED")]
    out = set(rejected)
    return [row for row in rows if row not in out and state[row] not in NOT_DONE], rejected


def _labels_of_cell(cell: Any) -> list[Any]:
    """Return the labels in a cell: one, or those of a list such as ["a", "b"]; [] for an empty cell or an object."""
    if cell is None or (isinstance(cell, float) and cell != cell):
        return []
    if is_list_text(cell):
        cell = parse_list_text(cell) or []
    if isinstance(cell, str):
        return [] if cell.startswith("{") else [cell]
    labels = cell if isinstance(cell, list) else [cell]
    return list(dict.fromkeys(one for one in labels if isinstance(one, str | int | float)))


def _task_of_each_row(columns: Columnwise, named: str | None, where: str) -> tuple[str, list[Any]]:
    """Return (what names the tasks, task of each row): one column, or all inputs joined if none differs between all tasks."""
    inputs = [name for name in columns if name.startswith(INPUT)]
    if named is not None:
        column = _column_or_error(columns, named, inputs, where)
        return column, columns[column]
    rows = [row for row, worker in enumerate(columns[WORKER]) if worker is not None]
    key = column_that_differs_between_inputs({name: [columns[name][row] for row in rows] for name in inputs})
    if key is None and None not in [columns[TASK_ID][row] if TASK_ID in columns else None for row in rows]:
        key = TASK_ID
    if key is not None:
        return key, columns[key]
    texts = [" | ".join(str(columns[name][row] or "") for name in inputs) for row in range(len(columns[WORKER]))]
    return " | ".join(inputs), texts


def _column_or_error(columns: Columnwise, named: str, suggested: Sequence[str], where: str) -> str:
    """Return the column that the caller named, with or without INPUT:; raise InputError if there is none."""
    found = next((name for name in (named, INPUT + named) if name in columns), None)
    if found is None:
        raise InputError(f"{where} has no column {named!r}; it has {first_few(suggested, 12)}")
    return found


def _time(columns: Columnwise, row: int) -> float:
    """Return when an assignment was submitted, else started, as seconds since 1970; NaN if neither is known."""
    times = (iso_time_to_unix_time(columns[name][row]) for name in TIMES if name in columns)
    return next((time for time in times if time is not None and time == time), NAN)


def _notes(
    columns: Columnwise,
    annotations: list[Annotation],
    kept: list[int],
    rejected: list[int],
    task_column: str,
    question: str,
    others: list[str],
    *,
    n_gold: int,
) -> tuple[str, ...]:
    """Return notes on rejected assignments, control tasks, what names the tasks, and on what was left out."""
    workers = Counter(str(columns[WORKER][row]) for row in rejected)
    n_open = sum(worker is not None for worker in columns[WORKER]) - len(kept) - len(rejected)
    several = sum(len(one.labels) > 1 for one in annotations)
    n_empty = len(kept) - len(annotations)
    notes = (
        (
            len(rejected),
            f"{count_text(len(rejected), 'answer')} in rejected assignments of the workers {first_few(workers)} left out; to "
            f"keep them, set {STATUS} to APPROVED in the file",
        ),
        (n_open, f"{count_text(n_open, 'row')} of assignments that were not submitted left out"),
        (n_empty, f"{count_text(n_empty, 'row')} without an answer to {question!r}"),
        (several, f"{count_text(several, 'answer')} with several labels, which have equal shares"),
        (
            n_gold,
            f"{count_text(n_gold, 'control task')}, whose known labels ({GOLDEN}{question}) are gold; the answers to them are "
            "votes",
        ),
        (True, f"tasks are named by {task_column}; name another column by task=... (--task)"),
        (
            len(others),
            f"votes are the answers to {question!r}; other questions are {first_few(others)}: "
            f"{label_option(others[0]) if others else ''}",
        ),
    )
    return tuple(text for is_needed, text in notes if is_needed)
