"""Recognise a wide table of votes, one row per task and one column per worker, without being told."""

from collections import Counter

import polars as pl

from plurivox.io.tabular.column_roles import USUAL_NAMES, bare_name, find_column, has_name_of_numbered_worker
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.time_email_and_ip_columns import holds_emails, holds_ip_addresses, holds_times

MAX_LABELS = 50  # with more different values columns have no small common set of labels
MIN_SHARED = 0.5  # share of a worker's labels that other workers have given too


def task_and_worker_columns(table: Columns, task: str | None) -> tuple[str | None, list[str]] | None:
    """Return (task column, worker columns) if a table is clearly wide, else None; the task column None: tasks are numbered.

    It is clear if pandas says that the columns are workers (after a pivot), if columns are called annotator_1, rater_b, ...,
    or if at least two columns of text or booleans have their few values in common. Each task has one row. `task` is its
    column, if it is known; columns that are neither task nor worker, such as a text, are left out. The rows of a survey are
    people, not tasks: a table with e-mail or IP addresses is not wide, nor one whose first column has times or worker names.
    """
    task = task or first_column_if_it_names_rows(table)
    rest = [name for name in table.names if name != task]
    if _has_rows_of_people(table, task, rest):
        return None
    if task is not None and _has_repeats(table[task]):
        return None
    gold = find_column(table, "gold", [task]) if len(_gold_like(rest)) == 1 else None
    rest = [name for name in rest if name != gold]
    if table.name_of_columns is not None and bare_name(table.name_of_columns) in sum(USUAL_NAMES["worker"], ()):
        return (task, rest) if rest else None
    numbered = [name for name in rest if has_name_of_numbered_worker(name) and not table[name].dtype.is_nested()]
    if len(numbered) >= 2:
        return task, numbered
    found = _columns_with_common_labels({name: table[name] for name in rest})
    if len(found) < 2 or (task is None and not table.index and len(found) < len(rest)):
        return None
    return task, found


def _has_rows_of_people(table: Columns, task: str | None, rest: list[str]) -> bool:
    """Return whether the rows of a table are people: it has addresses, or its first column has times or worker names."""
    if task == table.names[0] and (bare_name(task) in sum(USUAL_NAMES["worker"], ()) or holds_times(table[task])):
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


def _gold_like(names: list[str]) -> list[str]:
    """Return the columns that are named as gold labels."""
    return [name for name in names if bare_name(name) in USUAL_NAMES["gold"][0]]


def _columns_with_common_labels(columns: dict[str, pl.Series]) -> list[str]:
    """Return the columns of text or booleans whose values are labels that other columns have too."""
    kinds = (pl.String, pl.Boolean, pl.Categorical, pl.Enum)
    texts = {name: one.cast(pl.String) for name, one in columns.items() if one.dtype in kinds}
    known = {name: one.filter(one.is_not_null() & (one.str.strip_chars() != "")) for name, one in texts.items()}
    labels = {
        name: frozenset(one.unique().to_list())
        for name, one in known.items()
        if len(one) and (len(one) < 5 or one.n_unique() <= len(one) // 2)
    }
    n_columns = Counter(label for found in labels.values() for label in found)
    workers = [
        name
        for name, found in labels.items()
        if sum(n_columns[label] > 1 for label in found) >= MIN_SHARED * len(found)
    ]
    all_labels = set().union(*(labels[name] for name in workers)) if workers else set()
    return workers if len(all_labels) <= MAX_LABELS else []
