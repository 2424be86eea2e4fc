"""Check that a table of votes has its columns; if not, propose columns by their values, to be named by the caller.

Columns are proposed, never read, because other columns than votes can have the same structure.
"""

import shlex
from collections.abc import Iterable, Mapping
from itertools import product

import polars as pl

from plurivox.core.errors import first_few
from plurivox.io.tabular.label_column_by_values import columns_with_few_values
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.wide_worker_columns import worker_option_text
from plurivox.io.votes_table_layout import VotesLayout

MIN_ROWS = 6
MAX_ROWS, MAX_COLUMNS = 20_000, 20  # that are examined
MAX_NAME_LENGTH = 60  # of a worker's name
ONE_VOTE = 0.95  # share of rows that are the only vote of a worker on a task


def check_has_vote_columns(layout: VotesLayout) -> None:
    """Raise InputError if a table of votes lacks its columns; the error names columns that may be them, if that is clear."""
    columns = {"task": layout.task, "worker": layout.worker, "label": layout.label}
    known = {role: name for role, name in columns.items() if name is None or name in layout.table}
    advice = None
    if len(known) < len(columns) and (found := propose_vote_columns(layout.table, known)) is not None:
        advice = _advice({role: name for role, name in found.items() if role not in known}, layout.table)
    elif not {"worker", "label"} & set(known) and (numbers := _columns_of_few_whole_numbers(layout.table)):
        advice = (
            f"if the columns of numbers {first_few(numbers)} are workers, {worker_option_text(numbers)}; if they count how "
            "many people chose each label, pv.counts(table, labels=[...])"
        )
    layout.table.check_has_columns(columns, advice)


def propose_vote_columns(table: Columns, known: Mapping[str, str | None]) -> dict[str, str] | None:
    """Return the columns of task, worker and label of a long table if its values leave one possibility, else None.

    `known` are those found already. Each worker votes once on a task, workers have fewer values than tasks, and the label is
    the only column with few values that depends on both.

    >>> rows = [{"what": t, "who": w, "code": "yes" if t in w else "no"} for t in "abcd" for w in ("ada", "bob")]
    >>> propose_vote_columns(Columns.from_frame_mapping_or_parquet(rows), {})
    {'task': 'what', 'worker': 'who', 'label': 'code'}
    """
    rows = _text_columns(table, [name for name in known.values() if name is not None])
    if rows.height < MIN_ROWS or None in known.values():
        return None
    n_values = {name: rows[name].n_unique() for name in rows.columns}
    pairs = [
        (task, worker)
        for task, worker in product(_candidates(known, "task", rows), _candidates(known, "worker", rows))
        if _may_be_task_and_worker(rows, task, worker, n_values, are_sizes_known="task" in known or "worker" in known)
    ]
    tasks = _without_equivalent(rows, [task for task, _ in pairs], n_values)
    workers = _without_equivalent(rows, [worker for _, worker in pairs], n_values)
    if len(tasks) != 1 or len(workers) != 1:
        return None
    task, worker = tasks[0], workers[0]
    label = known.get("label") or _label_or_none(rows, task, worker)
    return None if label is None else {"task": task, "worker": worker, "label": label}


def _advice(column_by_role: Mapping[str, str], table: Columns) -> str:
    """Return the part of an error that names columns, so that the next call can be copied from it."""
    proposed = ", ".join(f"{name!r} the {role}" for role, name in column_by_role.items())
    python = ", ".join(f"{role}={name!r}" for role, name in column_by_role.items())
    flags = " ".join(f"--{role} {shlex.quote(name)}" for role, name in column_by_role.items())
    how = f"pv.votes(table, {python})" if table.is_in_memory else f"{flags} (in Python {python})"
    return f"by their values {proposed.replace(' the ', ' may be the ', 1)}; if so: {how}"


def _columns_of_few_whole_numbers(table: Columns) -> list[str]:
    """Return at least two columns of whole numbers with few different values, such as points; [] if there are not two."""
    found = []
    for name in table.names:
        text = table[name].cast(pl.String) if not table[name].dtype.is_nested() else pl.Series([], dtype=pl.String)
        known = text.drop_nulls().cast(pl.Float64, strict=False)
        if (
            len(known)
            and not known.null_count()
            and (known % 1 == 0).all()
            and len(known) >= max(MIN_ROWS, 2 * known.n_unique())
        ):
            found.append(name)
    return found if len(found) > 1 else []


def _text_columns(table: Columns, always: Iterable[str]) -> pl.DataFrame:
    """Return the first rows of the columns that can contain names or labels, as text; blank is missing."""
    found: dict[str, pl.Series] = {}
    for name in dict.fromkeys((*always, *table.names)):
        column = table[name].head(MAX_ROWS)
        kind = column.dtype
        if kind.is_nested() or kind.is_temporal() or kind.is_float() or len(found) >= MAX_COLUMNS:
            continue
        text = column.cast(pl.String).str.strip_chars()
        found[name] = text.set(text == "", None)
    return pl.DataFrame(found)


def _candidates(known: Mapping[str, str | None], role: str, rows: pl.DataFrame) -> list[str]:
    """Return the columns that may have a role: the one known, else those with repeated values that are not known otherwise."""
    if (name := known.get(role)) is not None:
        return [name]
    free = [name for name in rows.columns if name not in known.values()]
    full = [name for name in free if not rows[name].null_count() and rows[name].n_unique() >= 2]
    if role == "task":
        return [name for name in full if rows[name].n_unique() < rows.height]
    return [
        name
        for name in full
        if 2 * rows[name].n_unique() <= rows.height and not (rows[name].str.len_chars() > MAX_NAME_LENGTH).any()
    ]


def _may_be_task_and_worker(
    rows: pl.DataFrame, task: str, worker: str, n_values: Mapping[str, int], *, are_sizes_known: bool
) -> bool:
    """Return whether nearly all rows are the only one of a task and a worker, of whom there are fewer than tasks."""
    if task == worker or (not are_sizes_known and n_values[task] <= n_values[worker]):
        return False
    return rows.select(task, worker).n_unique() >= ONE_VOTE * rows.height


def _without_equivalent(rows: pl.DataFrame, names: Iterable[str], n_values: Mapping[str, int]) -> list[str]:
    """Return columns without those that name the same things as a column with shorter texts, such as texts beside ids."""
    order = sorted(dict.fromkeys(names), key=lambda name: (rows[name].str.len_chars().mean(), rows.columns.index(name)))
    kept: list[str] = []
    for name in order:
        if not any(n_values[name] == n_values[one] == rows.select(name, one).n_unique() for one in kept):
            kept.append(name)
    return kept


def _label_or_none(rows: pl.DataFrame, task: str, worker: str) -> str | None:
    """Return the only column with few values that depends on task and worker, rather a text than a number; None if unclear."""
    rest = [name for name in rows.columns if name not in (task, worker)]
    few = columns_with_few_values(rows, task, rest)
    per_task = rows.group_by(task).agg(pl.col(few).drop_nulls().n_unique()).drop(task)
    per_worker = rows.group_by(worker).agg(pl.col(few).drop_nulls().n_unique()).drop(worker)
    few = [name for name in few if max(per_task[name]) > 1 and max(per_worker[name]) > 1]
    texts = [name for name in few if rows[name].cast(pl.Float64, strict=False).null_count() > rows[name].null_count()]
    return few[0] if len(few) == 1 else texts[0] if len(texts) == 1 else None
