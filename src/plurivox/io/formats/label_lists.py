"""Read tables with one row per task and the votes in a list: `labels` [0, 1, 1], with the workers in a second list or without.

Lists are columns of lists (Parquet, JSON), lists written as text (CSV: "[0, 1, 1]", "['a' 'b']"), lists of objects
[{"annotator": "ann", "label": 1}], or an object of lists {"annotator": [...], "label": [...]}, as in Hugging Face `datasets`.
A list beside one worker per row is a set of labels: a soft answer with equal shares.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.io import votes_from_tables
from plurivox.io.formats._annotations import (
    Annotation,
    annotations_to_votes,
    as_text_if_types_differ,
    choose_question,
    label_option,
    only_choice_among_labels,
    shell_word,
    workers_table,
)
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.formats._label_list_columns import (
    LabelLists,
    find_label_lists,
    find_lists_of_unknown_name,
)
from plurivox.io.formats._nested_columns import first_nested_values, nested_column_names, nested_values
from plurivox.io.formats._table_columns import ID_NAME, constant_columns_by_name, is_rating, usual_names
from plurivox.io.tabular.column_roles import find_column
from plurivox.io.tabular.huggingface_class_labels import class_names_by_column, features_of_parquet
from plurivox.io.tabular.table_file_names import table_name_of_file
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.usual_column_names import CONTENTS, NAMED_BY_ID, UNITS, bare_name
from plurivox.io.tabular.wide_table_recognition import id_column_of_wide_table

SPLIT = "split"
MIN_LISTS_TO_COMPARE = 10  # with fewer, a column may equal the most frequent labels although it is not made of them
EXPERT = re.compile(r"(expert|adjudicated|correct|true)(label|answer|class|category|rating|decision)?")
ID_NAMES = {"uid", "uuid", "guid", "key", "hash", "identifier", *UNITS, *NAMED_BY_ID}
COLUMNS_WRITTEN = ("task", "labels", "annotators")  # by plurivox for `datasets`: no note on these names

ClassNames = Mapping[str, tuple[str, ...]]  # names of all labels in order, by column or column.field


@dataclass(frozen=True)
class _Tasks:
    """The task name of each row, the column it is from (None: rows are numbered), and notes."""

    names: list[Any]
    column: str | None
    notes: tuple[str, ...] = ()


def recognises(table: Columns) -> bool:
    """Return whether a table has the labels of each task as a list: by the names and first values of its columns."""
    nested = nested_column_names(table)
    if not nested or {"worker", "label"} <= set(table.names) - set(nested):
        return False
    first = {name: first_nested_values(table, name) for name in nested}
    if find_label_lists(first):
        return True
    found = find_lists_of_unknown_name(first)
    return bool(found) and not _has_other_labels(
        replace(table, names=[one for one in table.names if one not in nested]), found
    )


def has_votes_in_list(table: Columns, column: str) -> bool:
    """Return whether a column, or column.field, that the caller named has lists that can be labels."""
    name = column if column in table.names else column.split(".")[0]
    return name in nested_column_names(table) and bool(
        find_label_lists({name: first_nested_values(table, name)}, label=column)
    )


def _has_other_labels(scalars: Columns, lists: Mapping[str, LabelLists]) -> bool:
    """Return whether a table has labels in a column that is not a list, other than the gold labels of the lists."""
    columns = [name for name in scalars.names if bare_name(name) in usual_names("label", n_lines=2)]
    workers = [name for name in scalars.names if bare_name(name) in usual_names("worker")]
    known = [{str(value) for row in one.labels for value in row} for one in lists.values()]
    return bool(columns) and (
        bool(workers)
        or not any(
            {str(one) for one in scalars[column] if one is not None} <= values for column in columns for values in known
        )
    )


def read_columns(table: Columns, names: FieldNames, class_names: ClassNames | None = None) -> ForeignContents:
    """Return the votes in the lists of a table, gold labels from a column gold, truth, ..., and the other columns as items.

    `names.label` selects one of several lists, `names.worker` the list of workers. `class_names` are the names of all labels
    in order; without them they are those in the metadata of a Parquet file.
    """
    nested = nested_column_names(table)
    scalars = replace(table, names=[name for name in table.names if name not in nested])
    if names.label in scalars.names:  # the caller wants the votes of a plain table
        return _plain_votes(scalars, names)
    if class_names is None:
        class_names = class_names_by_column(features_of_parquet(table.source)) if isinstance(table.source, Path) else {}
    lists, others = _chosen_lists({name: nested_values(table, name) for name in nested}, names, table.where)
    tasks = _task_of_each_row(scalars, names.task)
    row_worker = _row_worker_column(scalars, lists, names.worker)
    annotations = _annotations(scalars, tasks, lists, row_worker)
    votes = annotations_to_votes(
        annotations,
        tasks=as_text_if_types_differ(tasks.names),
        labels=names.labels or class_names.get(lists.question),
    )
    gold, gold_notes = _gold(scalars, tasks, votes.labels.tolist(), lists)
    return ForeignContents(
        table_name_of_file(Path(table.where)),
        votes,
        gold,
        items=_items(scalars, tasks, row_worker),
        workers=_traits(lists, table.where),
        notes=(*tasks.notes, *gold_notes, *_notes(annotations, lists, row_worker, tasks.column, others)),
    )


def _plain_votes(table: Columns, names: FieldNames) -> ForeignContents:
    """Return the votes of a plain table whose columns the caller named."""
    columns: dict[str, Any] = {
        role: one for role in ("task", "worker", "label") if (one := getattr(names, role)) is not None
    }
    votes = votes_from_tables.votes(table, where=table.where, labels=names.labels, **columns)
    return ForeignContents(table_name_of_file(Path(table.where)), votes)


def _chosen_lists(columns: dict[str, list[Any]], names: FieldNames, where: str) -> tuple[LabelLists, list[str]]:
    """Return (the lists named by the caller as column, field or column.field, else the only ones, names of others).

    Lists of ratings are others if one list of labels is beside them. Raise InputError if several lists may be the labels.
    """
    try:
        found = find_label_lists(columns, names.worker, names.label)
    except InputError as cause:
        raise InputError(f"{where}, {cause}") from None
    if not found:
        found = find_lists_of_unknown_name(columns)
        if len(found) > 1 and names.label is None:
            raise InputError(
                f"{where} has several columns of lists that may be the labels: {first_few(found, 12)}; select one: "
                f"{label_option(next(iter(found)))}, and the list with the workers, if it has one: worker=... (--worker)"
            )
    matches = [one for one in found if names.label in (one, *one.split("."))]
    named = matches[0] if len(matches) == 1 else names.label
    if named is None:
        n_answers = {name: sum(map(bool, lists.labels)) for name, lists in found.items()}
        named = only_choice_among_labels(n_answers, (one for one in found if not is_rating(found[one].labels)))
    chosen = choose_question(found, named, where, kind="lists of labels")
    return found[chosen], [one for one in found if one != chosen and names.label is None]


def _task_of_each_row(table: Columns, named: str | None) -> _Tasks:
    """Return the task of each row: a column named as tasks usually are, else the number of the row, from 0."""
    if named is not None and named not in table:
        raise InputError(
            f"{table.where} has no column {named!r} for the tasks; its columns are {first_few(table.names, 12)}"
        )
    column = _task_column(table) if named is None else named
    if column is None:
        if not table.names:
            raise InputError(f"{table.where} has only lists; add a column with the tasks")
        numbers = list(range(len(table[table.names[0]])))
        return _Tasks(
            numbers, None, (f"no column names the tasks: they are numbered by row, from 0{_task_advice(table)}",)
        )
    values = table[column]
    if values.null_count():
        raise InputError(
            f"{table.where} has no task in column {column!r}, row {first_few(values.is_null().arg_true() + 1)}"
        )
    if SPLIT in table and bare_name(column) not in CONTENTS and column != SPLIT:
        pairs = pl.DataFrame({"split": table[SPLIT].cast(pl.String), "task": values}).unique()
        if pairs["task"].n_unique() < pairs.height:  # every split has its own numbers
            prefixed = [f"{split}/{task}" for split, task in zip(table[SPLIT].to_list(), values.to_list(), strict=True)]
            return _Tasks(
                prefixed, column, (f"splits repeat values of {column!r}: the tasks are named <split>/<{column}>",)
            )
    return _Tasks(values.to_list(), column)


def _task_column(table: Columns) -> str | None:
    """Return the column with a usual name of tasks, else one named like an id whose values are all different.

    A column `id` whose values are all different is preferred to a text: two tasks may have the same text.
    """
    if (column := find_column(table, "task", _columns_of_bytes(table))) is not None:
        return (id_column_of_wide_table(table, column) or column) if bare_name(column) in CONTENTS else column
    return next((name for name in _columns_of_different_values(table) if _is_named_like_an_id(name)), None)


def _is_named_like_an_id(name: str) -> bool:
    """Return whether a name is that of an id, or of something that can be labelled: prompt_id, promptID, uid, key, clip."""
    return bool(ID_NAME.search(name)) or bare_name(name) in ID_NAMES


def _columns_of_different_values(table: Columns) -> list[str]:
    """Return the columns of texts or whole numbers that are all different."""
    found = []
    for name in table.names:
        values = table[name] if table.may_hold_names(name) else pl.Series([None])
        is_name = values.dtype == pl.String or values.dtype.is_integer()
        if is_name and not values.null_count() and values.n_unique() == len(values):
            found.append(name)
    return found


def _task_advice(table: Columns) -> str:
    """Return how to name the tasks by a column instead, the first whose values are all different."""
    found = next(iter(_columns_of_different_values(table)), None)
    return " (task=..., --task)" if found is None else f"; by a column: task={found!r} (--task {shell_word(found)})"


def _columns_of_bytes(table: Columns) -> list[str]:
    """Return the columns that contain bytes, such as images, which name no task."""
    return [name for name in table.names if table[name].dtype == pl.Binary]


def _row_worker_column(table: Columns, lists: LabelLists, named: str | None) -> str | None:
    """Return the column that names one worker per row, whose labels are then a set; None if there is none.

    Lists with repeated labels are votes by several people, and need the column to be named by the caller.
    """
    if lists.workers is not None:
        return None
    if named is not None:
        table.check_has_columns({"worker": named})
        return named
    if any(len(set(row)) < len(row) for row in lists.labels):
        return None
    return next((name for name in table.names if bare_name(name) in usual_names("worker", n_lines=2)), None)


def _annotations(table: Columns, tasks: _Tasks, lists: LabelLists, row_worker: str | None) -> list[Annotation]:
    """Return one annotation per element of the lists, or one per list if each row has one worker."""
    if row_worker is not None:
        chosen = [list(dict.fromkeys(label for label in row if label is not None)) for row in lists.labels]
        rows = zip(tasks.names, table[row_worker].to_list(), chosen, strict=True)
        return [Annotation(task, worker, labels) for task, worker, labels in rows if labels]
    workers: Sequence[Sequence[Any]] = lists.workers or [[None] * len(row) for row in lists.labels]
    return [
        Annotation(task, worker, [label])
        for task, row, named in zip(tasks.names, lists.labels, workers, strict=True)
        for label, worker in zip(row, named, strict=True)
        if label is not None
    ]


def _traits(lists: LabelLists, where: str) -> pl.DataFrame | None:
    """Return a table of the workers with the lists beside the labels that have one value per worker, such as an age."""
    if lists.workers is None:
        return None
    known = [worker for row in lists.workers for worker in row]
    columns = {name: [value for row in rows for value in row] for name, rows in lists.traits.items()}
    plain = {
        name: values for name, values in columns.items() if not any(isinstance(one, list | dict) for one in values)
    }
    rows = [i for i, worker in enumerate(known) if worker is not None]
    return workers_table(constant_columns_by_name(known, plain, rows), where)


def _gold(
    table: Columns, tasks: _Tasks, labels: list[Any], lists: LabelLists
) -> tuple[SoftLabels | None, tuple[str, ...]]:
    """Return the gold labels in a column named gold, truth, expert, ..., or `label` beside lists of another name, and a note.

    None if there is no such column or its values are not labels.
    """
    column = find_column(table, "gold", [tasks.column]) or next(
        (name for name in table.names if name != tasks.column and EXPERT.fullmatch(bare_name(name))), None
    )
    of_label = [
        name for name in table.names if bare_name(name) == "label" and name not in (tasks.column, lists.question)
    ]
    if column is None and of_label:
        column = of_label[0]
    if column is None:
        return None, ()
    rows = list(zip(tasks.names, table[column].to_list(), strict=True))
    known = {task: label for task, label in rows if label is not None}
    if any(label is not None and known[task] != label for task, label in rows):
        return None, (f"column {column!r} has several values for some tasks: it is not read as gold labels",)
    if of_label and column == of_label[0] and _is_most_frequent_in_every_list(known, tasks, lists):
        return None, (f"column {column!r} is the most frequent label of every list: it is not read as gold labels",)
    by_text = {str(label): label for label in labels}
    if not known or not {str(label) for label in known.values()} <= set(by_text):
        n_other = len({str(label) for label in known.values()} - set(by_text))
        other = (
            f"column {column!r} is not gold labels: {count_text(n_other, 'value')} in it are not labels of the votes"
        )
        return None, (other,) * bool(known)
    gold = SoftLabels.gold(list(known), [by_text[str(label)] for label in known.values()], labels=labels)
    return gold, (f"column {column!r} is read as the gold labels of {count_text(len(gold), 'task')}",)


def _is_most_frequent_in_every_list(known: Mapping[Any, Any], tasks: _Tasks, lists: LabelLists) -> bool:
    """Return whether the labels in `known` (by task) are the most frequent of their lists, or tie with it, for every task."""
    chosen: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    for task, row in zip(tasks.names, lists.labels, strict=True):
        chosen[task].update(str(label) for label in row if label is not None)
    counted = [(chosen[task], str(label)) for task, label in known.items() if chosen[task]]
    return len(counted) >= MIN_LISTS_TO_COMPARE and all(
        counts[label] == max(counts.values()) for counts, label in counted
    )


def _items(table: Columns, tasks: _Tasks, row_worker: str | None) -> pl.DataFrame | None:
    """Return a table of `task` and the columns that are not lists, one row per task; None if there are no such columns."""
    others = [name for name in table.names if name not in ("task", tasks.column, row_worker)]
    if not others:
        return None
    names = as_text_if_types_differ(tasks.names)
    frame = pl.DataFrame({"task": [names[task] for task in tasks.names]} | {name: table[name] for name in others})
    return frame.unique("task", keep="first", maintain_order=True)


def _notes(
    annotations: list[Annotation],
    lists: LabelLists,
    row_worker: str | None,
    task_column: str | None,
    others: Sequence[str],
) -> tuple[str, ...]:
    """Return notes on which columns were read, and on what is missing."""
    n_missing = sum(label is None for row in lists.labels for label in row)
    task = f"{task_column!r} as the task, " if task_column not in (None, "task") else ""
    worker = lists.worker_name or row_worker
    who = f" and {worker!r} as the workers" if worker else ""
    notes = (
        (
            (task_column, lists.question, worker) != COLUMNS_WRITTEN,
            f"read {task}the lists {lists.question!r} as the labels{who}; others: task=..., label=... (--task, --label)",
        ),
        (others, f"other lists of labels are {first_few(others)}: {label_option(others[0]) if others else ''}"),
        (
            worker is None and annotations,
            f"the votes in {lists.question!r} have no workers: no list beside it names them (worker=..., --worker)",
        ),
        (row_worker, f"several labels in {lists.question!r} are one answer by {row_worker!r}, in equal shares"),
        (n_missing, f"{count_text(n_missing, 'missing label')} in the lists left out"),
    )
    return tuple(text for is_needed, text in notes if is_needed)
