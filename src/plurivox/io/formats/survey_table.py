"""Read tables of surveys: Google Forms, Microsoft Forms, Qualtrics, or any table with one row per person and columns of tasks.

Rows are workers, and the tasks are the columns with questions that share their answers: "Yes" and "No" to twenty posts. Other
columns, such as age or comments, are traits of the workers.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few
from plurivox.io import votes_from_tables
from plurivox.io.formats._annotations import (
    NAN,
    Annotation,
    annotations_to_votes,
    as_text_if_types_differ,
    items_table,
    shell_word,
    workers_table,
)
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._survey_layouts import ROW_PER_WORKER, Survey, find_survey
from plurivox.io.formats._survey_questions import groups_of_questions, labels_by_cell
from plurivox.io.formats._table_columns import columns_as_lists, number_or_nan
from plurivox.io.formats._time_texts import form_times_to_unix_times
from plurivox.io.tabular.table_file_names import table_name_of_file
from plurivox.io.tabular.table_files import Columns

Columnwise = dict[str, list[Any]]


def recognises(table: Columns) -> bool:
    """Return whether the rows of a table are people who answered a survey, and its columns tasks.

    A table that no survey tool wrote must have at least three questions, half of its columns, whose answers are not numbers.
    """
    if (survey := find_survey(table)) is None:
        return False
    answers = _answers(_read_rows(table, survey)[0], survey)
    groups = groups_of_questions(answers)
    if survey.tool != ROW_PER_WORKER or not groups:
        return bool(groups)
    labels = {str(value) for name in groups[0] for value in answers[name] if value is not None}
    return len(groups[0]) >= max(3, len(answers) / 2) and all(
        number_or_nan(one) != number_or_nan(one) for one in labels
    )


def read_columns(table: Columns, names: FieldNames) -> ForeignContents:
    """Return the votes in a survey, what is known of the people, and the texts of the questions.

    The tasks are the largest group of columns that share their answers, or those whose names match the pattern `names.task`,
    such as `Q*`. `names.worker` is the column that names the people. A column named as `names.label`: it is a plain table.
    """
    if names.label in table.names:
        columns = {role: one for role in ("task", "worker", "label") if (one := getattr(names, role)) is not None}
        found = votes_from_tables.votes(table, where=table.where, labels=names.labels, **columns)
        return ForeignContents(table_name_of_file(Path(table.where)), found)
    survey = find_survey(table)
    assert survey is not None
    kept, texts, notes = _read_rows(table, survey)
    tasks, others = _choose_tasks(_answers(kept, survey), names.task, table.where)
    workers, worker_column = _worker_of_each_row(kept, survey, names.worker, table.where)
    when = form_times_to_unix_times(kept[survey.when]) if survey.when in kept else [NAN] * len(workers)
    labels = labels_by_cell({name: kept[name] for name in tasks})
    annotations = [
        Annotation(task, workers[row], chosen, when[row])
        for task in tasks
        for row, chosen in enumerate(labels[task])
        if chosen
    ]
    votes = annotations_to_votes(annotations, tasks=tasks, labels=names.labels)
    traits = [name for name in kept if name not in (*tasks, *survey.other, survey.when, worker_column)]
    people = {worker: {name: kept[name][row] for name in traits} for row, worker in enumerate(workers)}
    used = as_text_if_types_differ(people)
    return ForeignContents(
        table_name_of_file(Path(table.where)),
        votes,
        items=items_table({task: {"text": texts[task]} for task in tasks} if texts else {}, table.where),
        workers=workers_table({used[worker]: people[worker] for worker in people}, table.where),
        repeats="last",  # a person's later form replaces the earlier one
        notes=(*_notes(survey, tasks, others, traits, worker_column, annotations), *notes),
    )


def _read_rows(table: Columns, survey: Survey) -> tuple[Columnwise, dict[str, str], list[str]]:
    """Return (columns of the responses, text of the question in each column if known, notes on rows that were left out)."""
    columns = columns_as_lists(table)
    responses, texts = survey.split_headings(columns)
    rows, notes = survey.responses_to_keep(columns, responses)
    return {name: [values[row] for row in rows] for name, values in columns.items()}, texts, notes


def _answers(columns: Columnwise, survey: Survey) -> Columnwise:
    """Return the columns that may be questions: not those that the survey tool adds."""
    return {name: values for name, values in columns.items() if name not in survey.known and not survey.is_score(name)}


def _choose_tasks(answers: Columnwise, pattern: str | None, where: str) -> tuple[list[str], list[str]]:
    """Return (the columns that are tasks, those of other groups of questions); raise InputError if no column matches."""
    if pattern is None:
        groups = groups_of_questions(answers)
        return groups[0], [name for group in groups[1:] for name in group]
    tasks = [name for name in answers if name == pattern or fnmatchcase(name, pattern)]
    if not tasks:
        raise InputError(
            f"{where} is a table of a survey, in which no question matches {pattern!r}; task=... (--task) is a pattern for "
            f"its columns, such as 'Q*'; it has {first_few(answers, 12)}"
        )
    return tasks, []


def _worker_of_each_row(
    columns: Columnwise, survey: Survey, named: str | None, where: str
) -> tuple[list[Any], str | None]:
    """Return the worker of each row and the column with their names; without such a column rows are numbered from 1."""
    if named is not None and named not in columns:
        raise InputError(f"{where} has no column {named!r} (worker); its columns are {first_few(columns, 12)}")
    column = named or next((name for name in survey.worker if name in columns), None)
    n = len(next(iter(columns.values())))
    if column is None:
        return list(range(1, n + 1)), None
    names = columns[column]
    return [f"row {row}" if name is None else name for row, name in enumerate(names, 1)], column


def _notes(
    survey: Survey,
    tasks: Sequence[str],
    others: Sequence[str],
    traits: Sequence[str],
    worker_column: str | None,
    annotations: Sequence[Annotation],
) -> tuple[str, ...]:
    """Return notes on how the survey was read, on further questions, and on several labels."""
    named = (
        "rows are workers, numbered from 1"
        if worker_column is None
        else f"rows are workers, named by {worker_column!r}"
    )
    several = sum(len(one.labels) > 1 for one in annotations)
    start = others[0][:20].split("*")[0] + "*" if others else ""
    short = [name if len(name) <= 40 else f"{name[:37]}..." for name in tasks]
    notes: Mapping[str, bool] = {
        f"read as {survey.tool}: {named}; the tasks are {count_text(len(tasks), 'column')}: {first_few(short)}; "
        "task='Q*' (--task 'Q*') selects columns by their names; if the rows are tasks: wide=True (--wide)": True,
        f"further questions with common answers are not tasks: {first_few(others)}; task={start!r} "
        f"(--task {shell_word(start)}) selects them": bool(others),
        f"other columns are traits of the workers: {first_few(traits)}": bool(traits),
        f"{count_text(several, 'answer')} with several labels, which have equal shares": several > 0,
    }
    return tuple(text for text, is_needed in notes.items() if is_needed)
