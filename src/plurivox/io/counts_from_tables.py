"""Build Votes from tables of counts, with one row per task and one column per label: how many people chose it."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.counts_table_layout import (
    CountColumns,
    find_count_columns,
    find_task_column,
    has_only_numbers_besides_task,
    is_named_counts,
)
from plurivox.io.gold_in_votes_table import gold_in_votes_table
from plurivox.io.tabular.column_conversion import codes_names_and_notes_of_column, to_floats_or_error_if_missing
from plurivox.io.tabular.table_files import NO_FILE, Columns
from plurivox.io.tabular.wide_table_recognition import first_column_if_it_names_rows
from plurivox.io.votes_from_tables import warn_notes
from plurivox.io.votes_table_layout import VotesLayout, find_vote_columns


def counts(
    data: Any,
    *,
    task: str = "task",
    labels: Iterable[object] | None = None,
    ordered: bool | Iterable[float] | None = None,
    where: str = "the table",
) -> Votes:
    """Return unnamed Votes from a table with one row per task and one column per label: how many people chose it.

    `labels` are the columns of labels, by default all but the task column.

    >>> counts({"task": ["a", "b"], "no": [3, 0], "yes": [1, 5]})
    <Votes: 9 votes, 2 tasks, 0 workers, 2 labels, unnamed counts>
    """
    roles = find_vote_columns(Columns.from_frame_mapping_or_parquet(data, where), task, None, None)
    table, task = roles.table, roles.task
    table.check_has_columns({"task": task})
    if table.names == [task]:
        raise InputError(f"{where} has no column besides {task!r}; counts need one column per label")
    given = [name for name in table.names if name != task] if labels is None else list(labels)
    columns = {label: str(label) for label in given}
    table.check_has_columns({f"label {name}": name for name in columns.values()})
    made, notes = _votes_of_columns(table, task, columns, ordered)
    warn_notes([*roles.notes, *notes])
    return made


def counts_and_gold_or_none(
    table: Columns, options: Mapping[str, Any], table_name: str
) -> tuple[Votes, SoftLabels | None] | None:
    """Return (votes, gold labels or None) in a table of counts, None if it is none.

    Raise InputError if it may be a table of counts but is not named "counts".
    `options` are those of `votes`. Columns of numbers that are called annotator_1, annotator_2, ... are the
    workers of a wide table.
    """
    given = {key: options[key] for key in ("labels", "ordered") if key in options}
    if {"worker", "label"} & set(options):
        return None
    if options.get("wide") is None and (found := find_count_columns(table, options.get("task"))) is not None:
        made = _counts_of_recognised_table(table, found, **given)
        layout = VotesLayout(table, found.task, None, "", given=table, given_task=found.task, gold=found.gold)
        gold, notes = gold_in_votes_table(layout, made)
        warn_notes(notes)
        return made, gold
    of_counts = is_named_counts(table_name)
    task = options.get("task") or find_task_column(table)
    task = first_column_if_it_names_rows(table) if task is None and of_counts else task
    if task is None or not has_only_numbers_besides_task(table, task):
        return None
    if of_counts:
        return counts(table, task=task, where=table.where, **given), None
    read_counts = "pv.counts(table)" if table_name == NO_FILE else "give the file a name that ends in counts"
    raise InputError(
        f"{table.where} has {task!r} and columns of numbers: if they count how many people chose each label, "
        f"{read_counts}; if every column is a worker, read it as a wide table: wide=True (--wide)"
    )


def _counts_of_recognised_table(
    table: Columns, found: CountColumns, *, labels: Iterable[object] | None = None, ordered: Any = None
) -> Votes:
    """Return unnamed Votes from a table whose columns of counts were recognised; `labels` are labels or columns, in order."""
    columns: dict[object, str] = dict(found.column_by_label.items())
    if labels is not None:
        given = list(labels)
        known = {str(label): column for label, column in columns.items()} | {name: name for name in columns.values()}
        if unknown := [label for label in given if str(label) not in known]:
            raise InputError(
                f"{table.where} has no column of counts for {first_few(unknown)}; it has {first_few(columns, 12)}"
            )
        columns = {label: known[str(label)] for label in given}
    made, notes = _votes_of_columns(table, found.task, columns, ordered)
    warn_notes([*found.notes, *notes])
    return made


def _votes_of_columns(
    table: Columns, task: str, column_by_label: Mapping[object, str], ordered: bool | Iterable[float] | None
) -> tuple[Votes, list[str]]:
    """Return (votes, notes) from the columns with the counts of each label; an empty cell is 0."""
    tasks, task_names, notes = codes_names_and_notes_of_column(table[task], "task")
    if (tasks < 0).any():
        rows = np.flatnonzero(tasks < 0) + 1
        raise InputError(f"{table.where}: no value in column {task!r}, row {first_few(rows)}; fill it or drop the row")
    numbers = np.stack(
        [
            to_floats_or_error_if_missing(table[name].fill_null(0), f"column {name!r} of {table.where}")
            for name in column_by_label.values()
        ],
        1,
    )
    total = np.zeros((len(task_names), len(column_by_label)))
    np.add.at(total, tasks, numbers)
    if n_same := len(tasks) - len(task_names):
        notes.append(f"{count_text(n_same, 'row repeats', 'rows repeat')} a task; the counts were added")
    made = Votes.from_counts(total, task_names, list(column_by_label), ordered=False if ordered is None else ordered)
    return made, notes
