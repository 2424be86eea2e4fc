"""Find columns of a table of votes by their values: read the third one if two are known, else propose columns in an error.

If two columns or more are unknown they are only proposed, because other columns than votes can have the same structure.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product

import polars as pl

from plurivox.core.errors import first_few
from plurivox.io.tabular.column_roles import note_on_columns_found
from plurivox.io.tabular.label_column_by_values import columns_with_few_values
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.time_email_and_ip_columns import holds_dates, holds_times
from plurivox.io.tabular.usual_column_names import bare_name, has_name_of_gold_or_consensus, has_usual_name
from plurivox.io.tabular.wide_worker_columns import worker_option_text
from plurivox.io.votes_table_layout import VotesLayout, find_vote_columns

MIN_ROWS = 6
MAX_ROWS, MAX_COLUMNS = 20_000, 20  # that are examined
MAX_NAME_LENGTH = 60  # of a worker's name
ONE_VOTE = 0.95  # share of rows that are the only vote of a worker on a task
MIN_VOTES_PER_TASK = 1.2  # on average, of a table whose tasks or workers are found by their values
NAMES_OF_OTHER_COLUMNS = (
    *("remark", "remarks", "comment", "comments", "note", "notes", "bemerkung", "bemerkungen", "remarque", "remarques"),
    "confidence",
    "certainty",
    "confiance",
    "confianza",
    "sicherheit",
    "split",
    "age",
    "alter",
    "fold",
)


def with_column_found_by_values(layout: VotesLayout) -> VotesLayout:
    """Return the layout of a long table with the task, the worker or the label found by its values, and a note that says so.

    This is done if the other two are known and exactly one column fits. A column that the caller has named is never replaced.
    Else the layout is returned as it is.
    """
    roles = {"task": layout.task, "worker": layout.worker, "label": layout.label}
    missing, found = _missing_role_and_columns_that_fit(layout)
    if len(found) != 1:
        return layout
    complete = {**roles, missing: found[0]}
    read = find_vote_columns(layout.table, complete["task"], complete["worker"], complete["label"])
    return replace(read, notes=[*note_on_columns_found(complete), *read.notes])


def _missing_role_and_columns_that_fit(layout: VotesLayout) -> tuple[str, list[str]]:
    """Return the one role that has no column, and the columns that may have it; ("", []) if none or several are missing."""
    roles = {"task": layout.task, "worker": layout.worker, "label": layout.label}
    known = {role: name for role, name in roles.items() if name is not None and name in layout.table}
    missing = [role for role in roles if role not in known]
    if len(missing) != 1 or roles[missing[0]] != missing[0]:
        return "", []
    return missing[0], columns_that_fit(layout.table, missing[0], known)


def columns_that_fit(table: Columns, missing: str, known: Mapping[str, str]) -> list[str]:
    """Return the columns of a long table that may be the missing one of task, worker and label by their values.

    >>> rows = [{"id": t, "who": w, "mood": "sad" if t in w else "glad", "n": 1} for t in "abcd" for w in ("ada", "bob")]
    >>> columns_that_fit(Columns.from_frame_mapping_or_parquet(rows), "label", {"task": "id", "worker": "who"})
    ['mood']
    """
    rows = _text_columns(table, known.values())
    if rows.height < MIN_ROWS:
        return []
    if missing == "label":
        rest = [name for name in rows.columns if name not in known.values()]
        few = _columns_that_may_be_labels(rows, known["task"], known["worker"])
        return few or (
            columns_with_few_values(rows, known["task"], rest) if len(rest) == len(table.names) - 2 == 1 else []
        )
    n_values = {name: rows[name].n_unique() for name in rows.columns}
    found = [
        name
        for name in _candidates(known, missing, rows)
        if _is_one_vote_per_row(rows, {**known, missing: name}) and (missing == "task" or _are_words(rows[name]))
    ]
    return _without_equivalent(rows, found, n_values)


def check_has_vote_columns(layout: VotesLayout) -> None:
    """Raise InputError if a table of votes lacks its columns; the error names columns that may be them, if that is clear."""
    columns = {"task": layout.task, "worker": layout.worker, "label": layout.label}
    known = {role: name for role, name in columns.items() if name is None or name in layout.table}
    advice = None
    missing, several = _missing_role_and_columns_that_fit(layout)
    if len(several) > 1:
        how = _option_text({missing: several[0]}, layout.table)
        columns_text = " or ".join(repr(name) for name in several[:3])
        advice = f"by their values {columns_text} may be the {missing}; select one, for example {how}"
    elif len(known) < len(columns) and (found := propose_vote_columns(layout.table, known)) is not None:
        advice = _advice({role: name for role, name in found.items() if role not in known}, layout.table)
    elif not {"worker", "label"} & set(known) and (numbers := _columns_of_few_whole_numbers(layout.table)):
        advice = (
            f"if the columns of numbers {first_few(numbers)} are workers, {worker_option_text(numbers)}; if they count how "
            f"many people chose each label, pv.counts(table, task={layout.table.names[0]!r}), or give the file a name that "
            "ends in counts"
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
    return (
        f"by their values {proposed.replace(' the ', ' may be the ', 1)}; if so: {_option_text(column_by_role, table)}"
    )


def _option_text(column_by_role: Mapping[str, str], table: Columns) -> str:
    """Return how to name columns in the next call."""
    python = ", ".join(f"{role}={name!r}" for role, name in column_by_role.items())
    flags = " ".join(f"--{role} {shlex.quote(name)}" for role, name in column_by_role.items())
    return f"pv.votes(table, {python})" if table.is_in_memory else f"{flags} (in Python {python})"


def _columns_of_few_whole_numbers(table: Columns) -> list[str]:
    """Return at least two columns of whole numbers with few different values, such as points; [] if there are not two."""
    found = []
    for name in (one for one in table.names if not has_name_of_gold_or_consensus(one)):
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
        if name in always or not (_are_decimals(text) or holds_times(text) or holds_dates(text)):
            found[name] = text.set(text == "", None)
    return pl.DataFrame(found)


def _are_decimals(text: pl.Series) -> bool:
    """Return whether the texts of a column are numbers of which some are not whole, such as 6.5 or 6,5: a measure."""
    known = text.drop_nulls()
    numbers = known.filter(known != "").str.replace(",", ".").cast(pl.Float64, strict=False)
    return len(numbers) > 0 and not numbers.null_count() and bool((numbers % 1 != 0).any())


def _are_words(text: pl.Series) -> bool:
    """Return whether some texts of a column are not numbers."""
    return text.cast(pl.Float64, strict=False).null_count() > text.null_count()


def _is_one_vote_per_row(rows: pl.DataFrame, column_by_role: Mapping[str, str]) -> bool:
    """Return whether tasks have several rows, nearly all of other workers, of whom there are fewer than tasks."""
    task, worker = column_by_role["task"], column_by_role["worker"]
    n_tasks = rows[task].n_unique()
    if rows.height < MIN_VOTES_PER_TASK * n_tasks or rows[worker].n_unique() >= n_tasks:
        return False
    several = rows.filter(pl.col(task).count().over(task) > 1)
    return several.height >= MIN_ROWS and several.select(task, worker).n_unique() >= ONE_VOTE * several.height


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
        if not _has_other_meaning(name)
        and 2 * rows[name].n_unique() <= rows.height
        and not (rows[name].str.len_chars() > MAX_NAME_LENGTH).any()
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
    few = _columns_that_may_be_labels(rows, task, worker)
    texts = [name for name in few if _are_words(rows[name])]
    return few[0] if len(few) == 1 else texts[0] if len(texts) == 1 else None


def _columns_that_may_be_labels(rows: pl.DataFrame, task: str, worker: str) -> list[str]:
    """Return the columns with few values that depend on task and worker."""
    rest = [name for name in rows.columns if name not in (task, worker) and not _has_other_meaning(name)]
    few = [name for name in columns_with_few_values(rows, task, rest) if _is_filled_in_most_rows(rows[name])]
    per_task = rows.group_by(task).agg(pl.col(few).drop_nulls().n_unique()).drop(task)
    per_worker = rows.group_by(worker).agg(pl.col(few).drop_nulls().n_unique()).drop(worker)
    return [name for name in few if max(per_task[name]) > 1 and max(per_worker[name]) > 1]


def _is_filled_in_most_rows(column: pl.Series) -> bool:
    """Return whether at least half of the values are known: remarks are mostly empty."""
    text = column.cast(pl.String).str.strip_chars()
    return 2 * int((text.fill_null("") != "").sum()) >= len(text)


def _has_other_meaning(name: str) -> bool:
    """Return whether a column is by its name gold, a consensus, a time, a confidence, an age or a split."""
    is_time = has_usual_name(name, "when") or has_usual_name(name, "seconds")
    return is_time or has_name_of_gold_or_consensus(name) or bare_name(name) in NAMES_OF_OTHER_COLUMNS
