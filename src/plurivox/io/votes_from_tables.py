"""Build Votes from a DataFrame, a mapping of columns or arrays: long and wide tables of votes, and tables of counts."""

import warnings
from collections.abc import Iterable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from plurivox.core.array_types import Bools, Names
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning, first_few
from plurivox.core.name_encoding import (
    as_names,
    as_text,
    label_positions_on_scale_or_none,
    positions,
    sort_distinct_names_by_value,
    sorted_names,
)
from plurivox.core.votes import UNNAMED, Votes
from plurivox.io.repeated_answers import drop_repeats_and_return_notes
from plurivox.io.tabular.column_conversion import (
    codes_names_and_notes_of_column,
    to_floats_or_error_if_missing,
    to_seconds,
)
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.wide_to_long_votes import wide_to_long

Repeats = Literal["keep", "first", "last", "error"]


def votes(
    data: Any = None,
    *,
    task: Any = "task",
    worker: Any = "worker",
    label: Any = "label",
    weight: Any = "weight",
    answer: Any = "answer",
    when: Any = "when",
    seconds: Any = "seconds",
    wide: bool | None = None,
    missing: object = None,
    repeats: Repeats = "keep",
    labels: Iterable[object] | None = None,
    tasks: Iterable[object] | None = None,
    workers: Iterable[object] | None = None,
    ordered: bool | Iterable[float] = False,
    where: str = "the table",
) -> Votes:
    """Return the Votes in a pandas, polars or Arrow table, a mapping of columns, or plain arrays.

    Long tables have one row per vote; `task`, `worker` and `label` name their columns. Wide tables (`wide=True`) have one row
    per task and one column per worker: `worker` is the list of these columns, by default all but the task column, and a column
    whose values are nearly all different (text, ids, dates) is then an error. `worker=None`: the votes are unnamed.
    `missing` is the value, or list of values, that means "no answer". `repeats` selects among several answers of a worker to
    one task. `labels` and `tasks` set the lists of labels and tasks and their order, with those that have no vote; without a
    list they are sorted. The columns `weight`, `answer`, `when` and `seconds` are used if present; if another name is given,
    that column is required. With plain arrays they are arrays too. `where` names the table in errors.

    What is dropped or merged is counted in the votes' `notes` and reported as a `PlurivoxWarning`.

    >>> votes(task=["a", "a", "b"], worker=[1, 2, 1], label=["x", "y", "x"])
    <Votes: 3 votes, 2 tasks, 2 workers, 2 labels>
    >>> wide = {"site": ["a", "b"], "ann": ["x", None], "bo": ["y", "y"], "comment": ["dark", "fine"]}
    >>> votes(wide, task="site", worker=["ann", "bo"]).counts()
    array([[1., 1.],
           [0., 1.]])
    """
    if repeats not in get_args(Repeats):
        raise OptionError(f"repeats must be one of {', '.join(get_args(Repeats))}; got {repeats!r}")
    if isinstance(labels, str):
        raise InputError(f"labels must be a list; got the text {labels!r}")
    extras = {"weight": weight, "answer": answer, "when": when, "seconds": seconds}
    named = [one for one in (task, worker, label) if isinstance(one, str)]
    # a column of labels may be called answer: unless named for both, it is read once
    extras = {
        role: None if data is not None and column == role and role in named else column
        for role, column in extras.items()
    }
    wide = is_wide(wide, worker) if data is not None else False
    table, task, worker, label, notes = _long_table_column_names_and_notes(
        data, task, worker, label, extras, wide, where
    )
    table.check_has_columns({"task": task, "worker": worker, "label": label})
    labels = table.ordered_categories_or_none(label) if labels is None else labels
    reader = _VoteReader(table, missing, wide, notes)
    columns = reader.encode_task_worker_label_columns(task, worker, label)
    columns |= reader.read_optional_columns(**_optional_column_names(extras, table, has_table=data is not None))
    columns = reader.drop_rows_without_task_or_label(columns)
    if repeats != "keep":
        columns, notes = drop_repeats_and_return_notes(columns, reader.names, repeats)
        reader.notes += notes
    names = reader.final_name_lists_and_recode_columns(columns, tasks=tasks, workers=workers, labels=labels)
    made = Votes.coded(
        **columns,
        **names,
        scale=label_positions_on_scale_or_none(names["labels"], ordered),
        notes=tuple(reader.notes),
        missing=reader.n_missing,
    )
    if repeats == "keep" and made.n_repeats:
        note = (
            f"{made.n_repeats:,} answers are a worker's second or later answer to the same task: aggregation uses all of "
            "them, measures of agreement and assign only the first"
        )
        made = replace(made, notes=(*made.notes, note))
    warn_notes(made.notes)
    return made


def is_wide(wide: bool | None, worker: Any) -> bool:
    """Return whether a table has one column per worker: by the option `wide`, or because `worker` is a list of columns."""
    several = worker is not None and not isinstance(worker, str)
    if several and wide is False:
        raise OptionError(
            "a list of worker columns is for a wide table, with one column per worker: leave out wide=False (--long), "
            "or name the one column that contains the workers"
        )
    return several or bool(wide)


def _long_table_column_names_and_notes(
    data: Any, task: Any, worker: Any, label: Any, extras: dict[str, Any], wide: bool, where: str
) -> tuple[Columns, str, str | None, str, list[str]]:
    """Return votes given as a table, columns or arrays as a long table, its task, worker and label columns, and notes."""
    if data is None and isinstance(task, str):
        raise InputError("no data: give a table, or the columns: votes(task=[...], worker=[...], label=[...])")
    if data is None:
        given = {"task": task, "label": label} | ({} if worker is None else {"worker": worker})
        given |= {role: column for role, column in extras.items() if not isinstance(column, str | None)}
        return (
            Columns.from_frame_mapping_or_parquet(given, where),
            "task",
            None if worker is None else "worker",
            "label",
            [],
        )
    table = Columns.from_frame_mapping_or_parquet(data, where)
    if not wide:
        return table, task, worker, label, []
    columns = [worker] if isinstance(worker, str) and worker != "worker" else worker
    columns = None if columns is None or isinstance(columns, str) else list(columns)
    long, notes = wide_to_long(table, task, columns)
    return long, "task", None if worker is None else "worker", "label", notes


def _optional_column_names(
    columns_by_role: dict[str, Any], table: Columns, *, has_table: bool
) -> dict[str, str | None]:
    """Return {role: column name} of weight, answer, when, seconds; raise InputError if a column named is missing."""
    for role, column in columns_by_role.items():
        if has_table and not isinstance(column, str | None):
            raise InputError(
                f"{role} must be the name of a column; got {type(column).__name__}: add it to the table as a column"
            )
        if isinstance(column, str) and column != role and column not in table:
            raise InputError(f"missing column {column!r} ({role}) in {table.where}; its columns are {table.names}")
    return {role: column if isinstance(column, str | None) else role for role, column in columns_by_role.items()}


def counts(
    data: Any,
    *,
    task: str = "task",
    labels: Iterable[object] | None = None,
    ordered: bool | Iterable[float] = False,
    where: str = "the table",
) -> Votes:
    """Return unnamed Votes from a table with one row per task and one column per label: how many people chose it.

    >>> counts({"task": ["a", "b"], "no": [3, 0], "yes": [1, 5]})
    <Votes: 9 votes, 2 tasks, 0 workers, 2 labels, unnamed counts>
    """
    table = Columns.from_frame_mapping_or_parquet(data, where)
    table.check_has_columns({"task": task})
    if table.names == [task]:
        raise InputError(f"{where} has no column besides {task!r}; counts need one column per label")
    names = [name for name in table.names if name != task] if labels is None else [str(one) for one in labels]
    table.check_has_columns({f"label {name}": name for name in names})
    tasks, task_names, notes = codes_names_and_notes_of_column(table[task], "task")
    if (tasks < 0).any():
        rows = np.flatnonzero(tasks < 0) + 1
        raise InputError(f"{where}: no value in column {task!r}, row {first_few(rows)}; fill it or drop the row")
    numbers = np.stack(
        [to_floats_or_error_if_missing(table[name].fill_null(0), f"column {name!r} of {where}") for name in names], 1
    )
    total = np.zeros((len(task_names), len(names)))
    np.add.at(total, tasks, numbers)
    if len(task_names) < len(tasks):
        notes.append(f"{len(tasks) - len(task_names)} rows repeat a task; their counts were added")
    warn_notes(notes)
    given = names if labels is None else list(labels)
    return Votes.from_counts(total, task_names, given, ordered=ordered)


class _VoteReader:
    """Reader of one table of votes: encodes its columns, drops rows without a vote, and collects notes on what it dropped."""

    def __init__(self, table: Columns, missing: object, wide: bool, notes: Sequence[str] = ()) -> None:
        self.table, self.wide = table, wide
        self.missing = _labels_meaning_no_answer(missing)
        self.notes: list[str] = list(notes)
        self.n_missing = 0  # rows without a label
        self.names: dict[str, Names] = {}

    def encode_task_worker_label_columns(self, task: str, worker: str | None, label: str) -> dict[str, Any]:
        """Return {"task", "worker", "label"} as integer codes, -1 if missing; set `self.names` to the sorted names of each."""
        wanted = {
            role: name for role, name in (("task", task), ("worker", worker), ("label", label)) if name is not None
        }
        with ThreadPoolExecutor(2) as pool:  # encode the task column and the others in parallel
            coded = dict(
                zip(
                    wanted,
                    pool.map(lambda role: codes_names_and_notes_of_column(self.table[wanted[role]], role), wanted),
                    strict=True,
                )
            )
        columns: dict[str, Any] = {role: codes for role, (codes, _, _) in coded.items()}
        self.names = {role: names for role, (_, names, _) in coded.items()}
        self.notes += [note for _, _, notes in coded.values() for note in notes]
        if worker is None:
            columns["worker"], self.names["worker"] = np.full(len(columns["task"]), UNNAMED), as_names([])
        if not len(columns["task"]):
            raise InputError(f"{self.table.where} has no rows; a table of votes needs at least one")
        return columns

    def read_optional_columns(
        self, weight: str | None, answer: str | None, when: str | None, seconds: str | None
    ) -> dict[str, Any]:
        """Return the optional columns of votes that the table has: weight, answer, when, seconds."""
        found: dict[str, Any] = {}
        if weight in self.table and weight is not None:
            found["weight"] = to_floats_or_error_if_missing(self.table[weight], f"column {weight!r}")
        if answer in self.table and answer is not None:
            found["answer"] = codes_names_and_notes_of_column(self.table[answer], "answer")[0].astype(np.int64)
        if when in self.table and when is not None:
            found["when"] = to_seconds(self.table[when], f"column {when!r}")
        if seconds in self.table and seconds is not None:
            found["seconds"] = to_seconds(self.table[seconds], f"column {seconds!r}").astype(np.float32)
        elif seconds == "seconds" and "rt_ms" in self.table:
            found["seconds"] = (
                to_floats_or_error_if_missing(self.table["rt_ms"].fill_null(np.nan), "rt_ms") / 1000
            ).astype(np.float32)
        return found

    def drop_rows_without_task_or_label(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the columns without rows that have no task or label, and note them; raise InputError if no vote is left."""
        no_label = columns["label"] < 0
        # lists a task or a worker that has no vote
        name_only = no_label & ((columns["task"] < 0) ^ (columns["worker"] < 0))
        abstained = self._unset_no_answer_labels_and_return_mask(columns) & ~no_label
        no_label, no_task = no_label & ~name_only, (columns["task"] < 0) & ~name_only
        unnamed = (columns["worker"] < 0) & ~(no_task | no_label | abstained | name_only)
        if no_task.any():
            self.notes.append(f"{int(no_task.sum()):,} rows have no task; dropped")
        if no_label.any() and not self.wide:  # an empty cell of a wide table: the worker was not asked
            self.notes.append(f"{int(no_label.sum()):,} rows have no label; dropped, their tasks stay")
        if unnamed.any() and len(self.names["worker"]):
            self.notes.append(f"{int(unnamed.sum()):,} votes have no worker; kept as unnamed votes")
        keep = ~(no_task | no_label | abstained | name_only)
        if not keep.any() and not name_only.all():
            raise InputError(f"{self.table.where} has {len(keep)} rows but no votes: the label is missing in every row")
        self._note_if_minus_one_may_mean_no_answer()
        self.n_missing = int(abstained.sum()) + (0 if self.wide else int(no_label.sum()))
        return columns if keep.all() else {name: column[keep] for name, column in columns.items()}

    def _unset_no_answer_labels_and_return_mask(self, columns: dict[str, Any]) -> Bools:
        """Return (n_rows,) whether the label means "no answer"; remove these labels from `columns` and `names` in place."""
        if not len(self.missing):
            return np.zeros(len(columns["label"]), bool)
        is_missing = positions(self.missing, self.names["label"]) >= 0
        if not is_missing.any():
            self.notes.append(f"no row has the label {first_few(self.missing)}, which was given as missing")
        abstained = np.append(is_missing, False)[columns["label"]]
        if abstained.any():
            labels = first_few(self.names["label"][is_missing])
            self.notes.append(
                f"{int(abstained.sum()):,} rows have the label {labels}, which means no answer; not votes"
            )
        columns["label"] = np.append(np.where(is_missing, -1, np.cumsum(~is_missing) - 1), -1)[columns["label"]]
        self.names["label"] = self.names["label"][~is_missing]
        return abstained

    def _note_if_minus_one_may_mean_no_answer(self) -> None:
        """Add a note to `self.notes` if -1 is the only negative label: it may mean "no answer"."""
        if not len(self.missing) and "-1" in as_text(self.names["label"][:2]).tolist() and len(self.names["label"]) > 1:
            others = as_text(self.names["label"])
            if not any(name.startswith("-") for name in others.tolist() if name != "-1"):
                self.notes.append("-1 is read as a label; if it means no answer, set missing=-1 (--missing -1)")

    def final_name_lists_and_recode_columns(
        self, columns: dict[str, Any], **given_names: Iterable[object] | None
    ) -> dict[str, Any]:
        """Return the lists of task, worker and label names, as given or found; recode `columns` in place if they differ."""
        out: dict[str, Any] = {}
        for role in ("task", "worker", "label"):
            names, wanted = self.names[role], given_names[f"{role}s"]
            if wanted is None:
                out[f"{role}s"] = names if role != "label" else sort_distinct_names_by_value(names)
            else:
                fixed = as_names(list(wanted), f"{role}s")
                out[f"{role}s"] = sorted_names(fixed) if role == "worker" or isinstance(wanted, Set) else fixed
            if not np.array_equal(out[f"{role}s"], names):
                self._recode_as_positions_in_names(columns, role, out[f"{role}s"])
        return out

    def _recode_as_positions_in_names(self, columns: dict[str, Any], role: str, names: Names) -> None:
        """Change the codes of one role in `columns` in place to positions in `names`; raise InputError for other names."""
        place = positions(names, self.names[role])
        used = np.zeros(len(place), bool)
        used[columns[role][columns[role] >= 0]] = True
        if len(unlisted := self.names[role][(place < 0) & used]):
            raise InputError(
                f"{self.table.where} has {role}s that are not in the list given: {first_few(unlisted)}; "
                f"the list is {first_few(names, 6)}"
            )
        columns[role] = np.append(place, -1)[columns[role]]


def _labels_meaning_no_answer(missing: object) -> Names:
    """Return the labels that mean "no answer" as a list, from the option `missing` (one value or several)."""
    if missing is None:
        return as_names([])
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        return as_names([missing], "missing")
    return as_names(list(missing), "missing")


def warn_notes(notes: Sequence[str]) -> None:
    """Issue one PlurivoxWarning per note on what was dropped, merged or inferred when reading votes."""
    for note in notes:
        warnings.warn(note, PlurivoxWarning, stacklevel=3)
