"""Recognise a wide table of votes, one row per task and one column per worker, without the option `wide`."""

import polars as pl

from plurivox.io.tabular.names_of_wide_columns import check_no_full_column_with_other_name, names_with_common_first_word
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.time_email_and_ip_columns import holds_emails, holds_ip_addresses, holds_times
from plurivox.io.tabular.usual_column_names import (
    CONTENTS,
    ROW_IDS,
    bare_name,
    has_name_of_gold_or_consensus,
    has_name_of_numbered_worker,
    has_usual_name,
)

MAX_LABELS = 50  # with more different values columns have no small common set of labels
NOT_KNOWN = ("", "na", "n/a", "nan", "null", "none", "-", "?")  # texts that columns of other kinds have in common
MIN_SHARED = 0.5  # share of a worker's labels that other workers have given too


def task_and_worker_columns(
    table: Columns, task: str | None, label: str | None = None
) -> tuple[str | None, list[str]] | None:
    """Return (task column, worker columns) if a table is clearly wide, else None; the task column None: tasks are numbered.

    It is clear if pandas says that the columns are workers (after a pivot), if columns are called annotator_1, rater_b, ...,
    or if at least two columns of text or booleans have their few values in common and each task has one row. `task` is its
    column and `label` that of the label, if they are known: with a column of labels the table is wide only if the columns
    annotator_1, ... have labels too. If columns with common values are called `Dr. Lim`, `Dr. Haddad`, ..., only these are
    workers; raise InputError if one of them may be a reference by its name and because it alone has no empty cells. Gold
    labels, a consensus and columns of other values, such as a text, are left out. The rows of a survey are people, not tasks: a
    table with e-mail or IP addresses is not wide, nor one whose first column has times or worker names.
    """
    task = task or first_column_if_it_names_rows(table)
    columns = [name for name in table.names if name != task]
    if _has_rows_of_people(table, task, columns):
        return None
    numbered = [name for name in columns if has_name_of_numbered_worker(name) and not table[name].dtype.is_nested()]
    if len(numbered) >= 2:
        are_labels = label is None or _has_labels_of_column(table, numbered, label)
        return (task, numbered) if are_labels and not _has_numbered_labels(columns) else None
    rest = [name for name in columns if not has_name_of_gold_or_consensus(name)]
    if label is not None or (task is not None and _has_repeats(table[task])):
        return None
    if table.name_of_columns is not None and has_usual_name(table.name_of_columns, "worker"):
        return (task, rest) if rest else None
    found = _columns_with_common_labels({name: table[name] for name in rest})
    if len(found) < 2 or (task is None and not table.index and len(found) < len(rest)):
        return None
    found = names_with_common_first_word(found) or found
    check_no_full_column_with_other_name(table, found)
    return task, found


def id_column_of_wide_table(table: Columns, text: str) -> str | None:
    """Return the column `id` that names the tasks of a wide table better than a column of texts: its values are all different.

    In a wide table one row is one task, while in a long table a column `id` may number the votes.
    """
    ids = [name for name in table.names if bare_name(name) in ROW_IDS]
    is_better = bare_name(text) in CONTENTS and len(ids) == 1
    return ids[0] if is_better and not _has_repeats(table[ids[0]]) and not table[ids[0]].null_count() else None


def _has_rows_of_people(table: Columns, task: str | None, rest: list[str]) -> bool:
    """Return whether the rows of a table are people: it has addresses, or its first column has times or worker names."""
    if task == table.names[0] and (has_usual_name(task, "worker") or holds_times(table[task])):
        return True
    columns = [table[name] for name in (*rest, *([] if task is None else [task]))]
    return any(holds_emails(column) or holds_ip_addresses(column) for column in columns)


def first_column_if_it_names_rows(table: Columns) -> str | None:
    """Return the first column if its values are all different and its name is not a worker's; None if rows have an index."""
    if table.index or len(table.names) < 3 or has_name_of_numbered_worker(table.names[0]):
        return None
    first = table[table.names[0]]
    names_rows = first.dtype == pl.String or first.dtype.is_integer()
    return first.name if names_rows and len(first) > 1 and not _has_repeats(first) and not first.null_count() else None


def _has_repeats(column: pl.Series) -> bool:
    """Return whether a value occurs twice in a column."""
    known = column.drop_nulls()
    return known.n_unique() < len(known)


def _has_labels_of_column(table: Columns, workers: list[str], label: str) -> bool:
    """Return whether the columns of workers have the values of a column of labels: it is made of their labels.

    Else the columns may have the names of the workers who gave a label together.
    """
    known = set(_known_texts(table[label]).to_list())
    found = {value for name in workers for value in _known_texts(table[name]).to_list()}
    return len(found & known) >= MIN_SHARED * len(found)


def _has_numbered_labels(names: list[str]) -> bool:
    """Return whether columns are called label1, label2, ...: columns worker1, ... beside them are names of workers."""
    return sum(has_usual_name(name.rstrip("0123456789"), "label") for name in names if name[-1:].isdigit()) >= 2


def _columns_with_common_labels(columns: dict[str, pl.Series]) -> list[str]:
    """Return the columns of words or booleans whose few values are labels that other columns have too.

    Numbers, also as text, may be counts or properties of the tasks.

    Return none if there are two groups of such columns, of which only one can be the workers.
    """
    kinds = (pl.String, pl.Boolean, pl.Categorical, pl.Enum)
    known = {name: _known_texts(one) for name, one in columns.items() if one.dtype in kinds}
    known = {name: one for name, one in known.items() if one.cast(pl.Float64, strict=False).null_count()}
    labels = {
        name: set(one.unique().to_list())
        for name, one in known.items()
        if len(one) and (len(one) < 5 or one.n_unique() <= len(one) // 2)
    }
    groups: list[tuple[list[str], set[str]]] = []
    for name, found in labels.items():
        joined = [group for group in groups if group[1] & found]
        groups = [group for group in groups if not group[1] & found]
        groups.append(
            ([*(one for names, _ in joined for one in names), name], found.union(*(one for _, one in joined)))
        )
    several = [(names, values) for names, values in groups if len(names) > 1]
    if len(several) != 1 or len(several[0][1]) > MAX_LABELS:
        return []
    workers = [name for name in columns if name in several[0][0]]
    return [
        name
        for name in workers
        if len(labels[name] & set().union(*(labels[one] for one in workers if one != name)))
        >= MIN_SHARED * len(labels[name])
    ]


def _known_texts(column: pl.Series) -> pl.Series:
    """Return the values of a column that are not missing, blank or NA, as text; 1.0 is 1."""
    text = column.cast(pl.String)
    if column.dtype.is_float():
        text = text.str.replace(r"\.0$", "")
    return text.filter(text.is_not_null() & ~text.str.strip_chars().str.to_lowercase().is_in(NOT_KNOWN))
