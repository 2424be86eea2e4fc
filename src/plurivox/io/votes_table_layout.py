"""The layout of a table of votes: long or wide, and which columns contain tasks, workers, labels and gold labels."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.io.tabular.column_roles import find_column, note_on_columns_found
from plurivox.io.tabular.columns_of_lists import without_columns_of_lists
from plurivox.io.tabular.frame_index import UNNAMED_LEVELS
from plurivox.io.tabular.table_files import HOW_TO_GIVE_ROWS, Columns
from plurivox.io.tabular.usual_column_names import has_usual_name
from plurivox.io.tabular.wide_table_recognition import (
    first_column_if_it_names_rows,
    id_column_of_wide_table,
    task_and_worker_columns,
)
from plurivox.io.tabular.wide_to_long_votes import wide_to_long
from plurivox.io.votes_by_task_mapping import (
    columns_and_note_of_votes_by_task,
    is_mapping_of_mappings,
    table_of_pandas_mapping_or_none,
)

MAX_WORKERS_NAMED = 5  # worker columns listed in a note


@dataclass(frozen=True)
class VotesLayout:
    """A table of votes as a long table, its columns of tasks, workers and labels, and notes on what was inferred.

    `given` is the table before it was made long; its columns `given_task` and `gold` are the tasks and gold labels, if it has
    any.
    """

    table: Columns
    task: str
    worker: str | None
    label: str
    notes: list[str] = field(default_factory=list)
    is_wide: bool = False
    given: Columns | None = None
    given_task: str | None = None
    gold: str | None = None

    @property
    def has_all_columns(self) -> bool:
        """Whether the table has the columns of tasks, workers (unless there are none) and labels."""
        return all(name is None or name in self.table for name in (self.task, self.worker, self.label))


def layout_of_votes(
    data: Any,
    *,
    task: Any,
    worker: Any,
    label: Any,
    extras: Mapping[str, Any],
    wide: bool | None,
    where: str,
    is_minus_one_missing: bool = True,
) -> VotesLayout:
    """Return the layout of votes given as a table, a matrix, a mapping of columns or plain arrays.

    `is_minus_one_missing`: -1 in a matrix of whole numbers means "no answer" if no other number is negative.
    """
    if data is None:
        return _layout_of_arrays(task, worker, label, extras, where)
    if isinstance(data, Mapping) and is_mapping_of_mappings(data):
        data = table_of_pandas_mapping_or_none(data) or data
    if isinstance(data, Mapping) and is_mapping_of_mappings(data):
        columns, note = columns_and_note_of_votes_by_task(data, where)
        return VotesLayout(Columns.from_frame_mapping_or_parquet(columns, where), "task", "worker", "label", [note])
    if isinstance(data, np.ndarray) and data.dtype.names is None:
        return _layout_of_matrix(data, where, is_minus_one_missing=is_minus_one_missing)
    table = without_columns_of_lists(Columns.from_frame_mapping_or_parquet(data, where), [task, worker, label])
    if is_wide(wide, worker):
        return _layout_of_wide_table(table, task, worker)
    roles = find_vote_columns(table, task, worker, label)
    found = None if wide is not None else recognise_wide_table(roles, is_task_named=task != "task")
    if found is None:
        return roles
    given = {"task": task, "worker": worker, "label": label}
    roles.table.check_has_columns({role: name for role, name in given.items() if name != role})
    return _layout_of_recognised_wide_table(roles.table, *found)


def recognise_wide_table(roles: VotesLayout, *, is_task_named: bool = False) -> tuple[str | None, list[str]] | None:
    """Return (task column or None if rows are numbered, worker columns) of a table without a worker column that is wide.

    `roles` are its columns by their names as in a long table; a column of ids is preferred to texts unless the caller named the
    task. Return None for any other table.
    """
    table, label = roles.table, roles.label if roles.label in roles.table else None
    if roles.worker is None or roles.worker in table:
        return None
    task = roles.task if roles.task in table else None
    if task is not None and not is_task_named:
        task = id_column_of_wide_table(table, task) or task
    return task_and_worker_columns(table, task, label)


def is_wide(wide: bool | None, worker: Any) -> bool:
    """Return whether the caller says that a table has one column per worker: by `wide`, or by a list of worker columns."""
    several = worker is not None and not isinstance(worker, str)
    if several and wide is False:
        raise OptionError(
            "a list of worker columns is for a wide table, with one column per worker: leave out wide=False (--long), "
            "or name the one column that contains the workers"
        )
    return several or bool(wide)


def find_vote_columns(table: Columns, task: Any = "task", worker: Any = "worker", label: Any = "label") -> VotesLayout:
    """Return the layout of a long table: its columns as named by the caller, else found by their usual names.

    The index of a pandas DataFrame counts if the columns have no task or worker. A column that is not found keeps plurivox's
    own name, so that the check of columns names it.
    """
    found: dict[str, Any] = {"task": task, "worker": worker, "label": label}
    table = _with_index_levels(table, found)
    inferred = [role for role, name in found.items() if name == role and role not in table]
    for role in inferred:
        found[role] = find_column(table, role, [name for name in found.values() if name is not None]) or role
    if found["task"] not in table and _index_may_name_tasks(table):
        name = next(iter(table.index)) or "index"
        name = name if name not in table else "index of the table"
        table, found["task"] = table.with_index_as_columns({next(iter(table.index)): name}), name
    notes = note_on_columns_found(found) if inferred else []
    if found["worker"] == "worker" not in table and _has_only_tasks_and_labels(table, found["task"], found["label"]):
        found["worker"] = None
        notes.append("there is no column of workers: the votes are read without worker names")
    known = all(name is None or name in table for name in found.values())
    gold, several = _gold_column(table, [*found.values()]) if known else (None, [])
    return VotesLayout(
        table, found["task"], found["worker"], found["label"], [*notes, *several] if known else [], given=table,
        given_task=found["task"], gold=gold,
    )  # fmt: skip


def _gold_column(table: Columns, taken: Collection[str | None]) -> tuple[str | None, list[str]]:
    """Return (the column of gold labels in a table of votes, or None, notes): of several such columns none is read."""
    try:
        return find_column(table, "gold", taken), []
    except InputError:
        found = [name for name in table.names if name not in taken and has_usual_name(name, "gold")]
        return None, [f"the columns {first_few(found)} may each be the gold labels: none of them is read"]


def _with_index_levels(table: Columns, column_by_role: Mapping[str, Any]) -> Columns:
    """Return the table with the levels of its index that are named as task or worker, or by the caller, as columns.

    Levels without names are the task and the worker if there are two of them and the table has neither column.
    """
    levels = {}
    if tuple(table.index) == UNNAMED_LEVELS and not any(
        find_column(table, role) or column_by_role[role] in table for role in ("task", "worker")
    ):
        return table.with_index_as_columns(dict(zip(UNNAMED_LEVELS, ("task", "worker"), strict=True)))
    for level in table.index:
        only = Columns({level: []}, [level], table.where)
        for role in ("task", "worker"):
            wanted = column_by_role[role]
            usual = wanted == role and role not in table and find_column(table, role) is None
            if level and (level == wanted or (usual and find_column(only, role) == level)):
                levels[level] = level
    return table.with_index_as_columns(levels) if levels else table


def _index_may_name_tasks(table: Columns) -> bool:
    """Return whether the rows have one index whose values are texts, or repeat and have a name: not the numbers of the rows."""
    if len(table.index) != 1:
        return False
    if next(iter(table.index)) == "" and not any(isinstance(one, str) for one in next(iter(table.index.values()))):
        return False  # such as after pandas.concat
    values = list(next(iter(table.index.values())))
    return any(isinstance(value, str) for value in values) or len(set(values)) < len(values)


def _has_only_tasks_and_labels(table: Columns, task: str, label: str) -> bool:
    """Return whether a table has nothing but tasks, some of them in several rows, and labels: votes of people without names."""
    if task not in table or label not in table:
        return False
    rest = [name for name in table.names if name not in (task, label, "weight")]
    further = {find_column(table, role, [task, label]) for role in ("when", "seconds", "gold")}
    return set(rest) <= further and table[task].n_unique() < len(table[task])


def _layout_of_arrays(task: Any, worker: Any, label: Any, extras: Mapping[str, Any], where: str) -> VotesLayout:
    """Return the layout of votes given as plain arrays."""
    if isinstance(task, str):
        raise InputError("no data: give a table, or the columns: votes(task=[...], worker=[...], label=[...])")
    given = {"task": task, "label": label} | ({} if worker is None else {"worker": worker})
    given |= {role: column for role, column in extras.items() if not isinstance(column, str | None)}
    table = Columns.from_frame_mapping_or_parquet(given, where)
    return VotesLayout(table, "task", None if worker is None else "worker", "label")


def _layout_of_matrix(matrix: Any, where: str, *, is_minus_one_missing: bool) -> VotesLayout:
    """Return the layout of a numpy matrix with a row per task and a column per worker, both numbered from 0; NaN: no answer."""
    if matrix.ndim != 2:
        raise InputError(
            f"an array of shape {matrix.shape} is not a matrix of votes, with one row per task and one column per worker"
        )
    if matrix.shape[1] == 3 and _has_disjoint_texts(matrix):
        raise InputError(
            f"the three columns of {where} have no value in common: they are not the labels of three workers; if they "
            f"are tasks, workers and labels, {HOW_TO_GIVE_ROWS}"
        )
    inferred_notes = []
    if is_minus_one_missing and matrix.dtype.kind == "i" and matrix.size and matrix.min() == -1 < matrix.max():
        matrix = np.where(matrix == -1, np.nan, matrix)
        inferred_notes = ["-1 in the matrix is read as no answer; if it is a label: missing=[] (--missing '')"]
    if matrix.dtype.kind == "f" and bool((np.isnan(matrix) | (matrix == np.floor(matrix))).all()):
        columns = [pl.Series(column, nan_to_null=True).cast(pl.Int64) for column in matrix.T]
    else:
        columns = [column.copy() for column in matrix.T]
    n_tasks, n_workers = matrix.shape
    wide = Columns({str(i): column for i, column in enumerate(columns)}, [str(i) for i in range(n_workers)], where)
    long, notes = wide_to_long(wide, None, wide.names)
    numbered = {**long.source, "worker": np.repeat(np.arange(n_workers), n_tasks)}
    long_table = Columns(numbered, list(numbered), where)
    return VotesLayout(long_table, "task", "worker", "label", [*inferred_notes, *notes], is_wide=True)


def _has_disjoint_texts(matrix: Any) -> bool:
    """Return whether a matrix of texts has at least three rows, and columns that have no value in common."""
    if len(matrix) < 3 or matrix.dtype.kind not in "UTO":
        return False
    columns = [{str(value) for value in column if value is not None and str(value) != "nan"} for column in matrix.T]
    return len(set().union(*columns)) == sum(map(len, columns)) and all(columns)


def _layout_of_wide_table(table: Columns, task: Any, worker: Any) -> VotesLayout:
    """Return the layout of a table that the caller says is wide.

    Tasks are named by a column with a usual name, else by the index, else by the first column if its values are all different;
    else they are numbered.
    """
    inferred_notes: list[str] = []
    if task == "task" and task not in table:
        roles = find_vote_columns(table, task, None, None)
        table, task, inferred_notes = roles.table, roles.task, roles.notes
        if task in table and (better := id_column_of_wide_table(table, task)) is not None:
            task, inferred_notes = better, note_on_columns_found({"task": better})
        if task not in table and table.index:
            table, task = _with_first_index_level(table)
        elif task not in table:
            named = {str(name) for name in worker} if worker is not None and not isinstance(worker, str) else set()
            first = first_column_if_it_names_rows(table)
            task = None if first in named else first
            inferred_notes = [
                f"{task!r} is the task" if task is not None else "the rows are the tasks, numbered from 0"
            ]
            inferred_notes = [
                f"wide table without a column 'task': {inferred_notes[0]}; another column: task=... (--task COLUMN)"
            ]
    columns = [worker] if isinstance(worker, str) and worker != "worker" else worker
    columns = None if columns is None or isinstance(columns, str) else list(columns)
    gold, several = _gold_column(table, [task, *(columns or [])])
    without_gold = replace(table, names=[name for name in table.names if name != gold])
    long, notes = wide_to_long(without_gold, task, columns)
    return VotesLayout(
        long, "task", None if worker is None else "worker", "label", [*inferred_notes, *several, *notes], is_wide=True,
        given=table, given_task=task, gold=gold,
    )  # fmt: skip


def _with_first_index_level(table: Columns) -> tuple[Columns, str]:
    """Return the table with the first level of its index as a column, and the name of this column."""
    level = next(iter(table.index))
    return table.with_index_as_columns({level: level or "index"}), level or "index"


def _layout_of_recognised_wide_table(table: Columns, task: str | None, workers: list[str]) -> VotesLayout:
    """Return the layout of a table that is clearly wide, with a note that says how it was read."""
    if task is None and table.index:
        table, task = _with_first_index_level(table)
    long, notes = wide_to_long(table, task, workers)
    others = [name for name in table.names if name not in (task, *workers)]
    gold, several = _gold_column(table, [task, *workers])
    unread = [name for name in others if name != gold]
    named = first_few(workers, MAX_WORKERS_NAMED)
    how_read = (
        f"read as a wide table: {'the rows are the tasks' if task is None else f'{task!r} is the task'}, the columns {named} "
        f"are workers{f', not read: {first_few(unread)}' if unread else ''}; if not: wide=False (--long), or worker=[...] "
        "(--worker a,b)"
    )
    n_same = 0 if task is None else len(table[task].drop_nulls()) - table[task].drop_nulls().n_unique()
    same = (
        [f"{count_text(n_same, 'row')} with a task of another row in {task!r}: read as the same task"] if n_same else []
    )
    return VotesLayout(
        long,
        "task",
        "worker",
        "label",
        [how_read, *same, *several, *notes],
        is_wide=True,
        given=table,
        given_task=task,
        gold=gold,
    )
