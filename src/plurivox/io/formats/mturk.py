"""Read batch results of Amazon Mechanical Turk (CSV): one row per assignment, with columns Input.*, Answer.* and WorkerId.

Rejected assignments are left out of the votes. A HIT may show several items (`Input.image_url_1`, ...), each with a question of
its number (`Answer.label_1`, ...): every item is then a task. https://docs.aws.amazon.com/AWSMechTurk/latest/RequesterUI
"""

from collections import Counter
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
    items_table,
)
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._mturk_answers import ANSWER_PREFIX, parse_answer_columns
from plurivox.io.formats._mturk_items_per_hit import (
    INPUT_PREFIX,
    ItemsPerHit,
    answers_per_item,
    find_items_per_hit,
    numbered_families,
    one_row_per_item,
    shown_items,
)
from plurivox.io.formats._table_columns import (
    column_that_differs_between_inputs,
    columns_as_lists,
    constant_columns_by_name,
    number_or_nan,
    questions_of_labels_and_others,
)
from plurivox.io.formats._time_texts import english_time_to_unix_time
from plurivox.io.tabular.table_file_names import table_name_of_file
from plurivox.io.tabular.table_files import Columns

HIT, WORKER, SECONDS = "HITId", "WorkerId", "WorkTimeInSeconds"
REQUIRED = (HIT, "AssignmentId", WORKER)


def recognises(table: Columns) -> bool:
    """Return whether a table is a batch result of Mechanical Turk: it has ids of HIT, assignment and worker, and answers."""
    return set(REQUIRED) <= set(table.names) and any(name.startswith(ANSWER_PREFIX) for name in table.names)


def read_columns(table: Columns, names: FieldNames) -> ForeignContents:
    """Return the votes of a batch result, the inputs of its tasks, and notes on rejected assignments.

    Tasks are named by the `Input.*` column that differs between all inputs, else by HITId, or by the column `names.task`.
    `names.label` selects one of several questions (`Answer.*`).
    """
    columns = columns_as_lists(table)
    kept, rejected = _accepted_and_rejected_rows(columns)
    questions, unreadable = parse_answer_columns(
        {name: [columns[name][row] for row in kept] for name in columns if name.startswith(ANSWER_PREFIX)}
    )
    named = None if names.label is None else names.label.removeprefix(ANSWER_PREFIX)
    likely, other_questions = questions_of_labels_and_others(questions, named)
    items = find_items_per_hit(
        {one: questions[one] for one in likely}, _inputs(columns), named, names.task, table.where
    )
    rejected_by = [columns[WORKER][row] for row in rejected]
    if items is not None:
        paired = {one for family in items.questions.values() for one in family.values()}
        other_questions = [one for one in other_questions if one not in paired or len(items.numbers) == 1]
        shown = shown_items(columns, items, kept)
        questions = answers_per_item(questions, items, shown)
        likely, _ = questions_of_labels_and_others(questions, named)
        columns = one_row_per_item(columns, items, kept, shown, HIT, SECONDS)
        kept = list(range(len(columns[HIT])))
    question = choose_question(likely, named, table.where, unreadable=unreadable)
    task_column = _task_column(columns, _task_name(names.task, items), table.where)
    annotations = [
        _annotation(columns, row, task_column, labels)
        for row, labels in zip(kept, questions[question], strict=True)
        if labels
    ]
    used = [columns[task_column][row] for row in kept]
    by_task = constant_columns_by_name(
        columns[task_column],
        {name.removeprefix(INPUT_PREFIX): columns[name] for name in _inputs(columns)},
        rows=kept,
    )
    return ForeignContents(
        table_name_of_file(Path(table.where)),
        annotations_to_votes(annotations, tasks=as_text_if_types_differ(used), labels=names.labels),
        items=items_table(by_task, table.where),
        notes=(
            *_notes_on_items(items, question, task_column),
            *_notes(columns, annotations, kept, rejected_by, task_column, question, other_questions, items),
        ),
    )


def _inputs(columns: dict[str, list[Any]]) -> list[str]:
    """Return the columns of the inputs of HITs."""
    return [name for name in columns if name.startswith(INPUT_PREFIX)]


def _task_name(named: str | None, items: ItemsPerHit | None) -> str | None:
    """Return the column of tasks that the caller named, without its number if the inputs of a HIT are several items."""
    if named is None or items is None:
        return named
    return next(iter(items.inputs))  # the only one left, as the caller named it


def _accepted_and_rejected_rows(columns: dict[str, list[Any]]) -> tuple[list[int], list[int]]:
    """Return the numbers of the rows that are votes, and of those that are rejected, or marked for it in the column Reject."""
    n = len(columns[HIT])
    status, mark = (columns.get(name, [None] * n) for name in ("AssignmentStatus", "Reject"))
    rejected = [
        row
        for row in range(n)
        if str(status[row]).lower() == "rejected" or (mark[row] and str(status[row]).lower() != "approved")
    ]
    out = set(rejected)
    return [row for row in range(n) if row not in out and columns[HIT][row] is not None], rejected


def _task_column(columns: dict[str, list[Any]], named: str | None, where: str) -> str:
    """Return the column that names the tasks: the one that the caller named, else an input that differs between all inputs.

    Such an input has one value per HIT, and HITs with the same value have the same inputs: HITs of two batches are then one
    task.
    """
    inputs = _inputs(columns)
    if named is not None:
        found = next((name for name in (named, f"{INPUT_PREFIX}{named}") if name in columns), None)
        if found is None:
            raise InputError(f"{where} has no column {named!r} for the tasks; it has {first_few([HIT, *inputs], 12)}")
        return found
    if numbered_families(inputs) and numbered_families(name for name in columns if name.startswith(ANSWER_PREFIX)):
        return HIT  # a question that is not about one of the items
    n_inputs = len(set(zip(*(columns[name] for name in inputs), strict=True))) if inputs else 0
    if n_inputs < 2 <= len(set(columns[HIT])):
        return HIT  # all HITs show the same
    return column_that_differs_between_inputs({name: columns[name] for name in inputs}) or HIT


def _annotation(columns: dict[str, list[Any]], row: int, task_column: str, labels: list[Any]) -> Annotation:
    """Return the labels chosen in one assignment, with its worker and times."""
    when = english_time_to_unix_time(columns["SubmitTime"][row]) if "SubmitTime" in columns else NAN
    seconds = number_or_nan(columns[SECONDS][row]) if SECONDS in columns else NAN
    return Annotation(columns[task_column][row], columns[WORKER][row], labels, NAN if when is None else when, seconds)


def _notes_on_items(items: ItemsPerHit | None, question: str, task_column: str) -> tuple[str, ...]:
    """Return a note on HITs with several items: what names the tasks, and how to take the HIT as the task."""
    if items is None:
        return ()
    of_question = next(one for stem, one in items.questions.items() if question in (stem, *one.values()))
    shown = task_column if task_column != HIT else next(iter(items.inputs))
    first = of_question[min(of_question)]
    tasks = f"named by {task_column} without the number" if task_column != HIT else "named <HIT>/<number>"
    asked = repr(first) if len(of_question) == 1 else f"{first!r}, ..."
    return (
        f"several items per HIT: the answers to {asked} are about the {shown} of the same number; tasks are {tasks}; "
        f"work times are equal shares. To take the HIT as the task: label={first!r}, task={HIT!r} (--label {first} "
        f"--task {HIT})",
    )


def _notes(
    columns: dict[str, list[Any]],
    annotations: list[Annotation],
    kept: list[int],
    rejected_by: list[Any],
    task_column: str,
    question: str,
    other_questions: list[str],
    items: ItemsPerHit | None,
) -> tuple[str, ...]:
    """Return notes on rejected assignments, on what names the tasks, and on what was left out."""
    workers = Counter(map(str, rejected_by))
    several = sum(len(one.labels) > 1 for one in annotations)
    no_time = sum(english_time_to_unix_time(time) is None for time in columns.get("SubmitTime", ()))
    n_empty = len(kept) - len(annotations)
    n_merged = len({columns[HIT][row] for row in kept}) - len({columns[task_column][row] for row in kept})
    notes = (
        (
            len(rejected_by),
            f"{count_text(len(rejected_by), 'rejected assignment')} of the workers {first_few(workers)} left out; to keep "
            "them, set AssignmentStatus to Approved in the file",
        ),
        (
            n_empty,
            f"{count_text(n_empty, 'assignment' if items is None else 'item')} without an answer to {question!r}",
        ),
        (several, f"{count_text(several, 'answer')} with several labels, which have equal shares"),
        (no_time, f"{count_text(no_time, 'SubmitTime', 'times in SubmitTime')} could not be read"),
        (
            task_column != HIT and items is None,
            f"tasks are named by {task_column}; name another column, such as {HIT}, by task=... (--task)",
        ),
        (
            n_merged if task_column != HIT and items is None else 0,
            f"{count_text(n_merged, 'HIT')} merged with another that has the same {task_column}",
        ),
        (
            len(other_questions),
            f"votes are the answers to {question!r}; other questions are {first_few(other_questions)}: label=... (--label)",
        ),
    )
    return tuple(text for is_needed, text in notes if is_needed)
