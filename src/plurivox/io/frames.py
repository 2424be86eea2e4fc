"""Votes and counts from frames and arrays."""

import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from plurivox.core.encoding import as_names, as_text, label_positions, positions, sort_by_value
from plurivox.core.errors import InputError, OptionError, PlurivoxWarning, first_few
from plurivox.core.types import Bools, Names
from plurivox.core.votes import UNNAMED, Votes
from plurivox.io.repeats import settle_repeats
from plurivox.io.tabular.column_values import code, floats_of, seconds_of
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.wide_tables import long_of_wide

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
    wide: bool = False,
    missing: object = None,
    repeats: Repeats = "keep",
    labels: Iterable[object] | None = None,
    tasks: Iterable[object] | None = None,
    workers: Iterable[object] | None = None,
    ordered: bool | Iterable[float] = False,
    where: str = "the table",
) -> Votes:
    """Votes of a table: a pandas, polars or Arrow frame, a mapping of columns, or plain arrays.

    Long tables have a row a vote; `task`, `worker` and `label` name their columns. Wide tables have a row a task and a
    column a worker. `worker=None`: nobody is named. `missing` is the value, or the list of values, that means "no
    answer". `repeats` says which of a worker's several answers to one task count. `labels` fixes the list of labels and
    its order. The columns `weight`, `answer`, `when` and `seconds` are used where they are there; other names for them
    must be. Beside plain arrays of tasks and labels they are arrays too.

    What is dropped or merged is counted in the votes' `notes` and told as a `PlurivoxWarning`.

    >>> votes(task=["a", "a", "b"], worker=[1, 2, 1], label=["x", "y", "x"])
    <Votes: 3 votes, 2 tasks, 2 workers, 2 labels>
    >>> votes({"site": ["a", "b"], "ann": ["x", None], "bo": ["y", "y"]}, task="site", wide=True).counts()
    array([[1., 1.],
           [0., 1.]])
    """
    if repeats not in get_args(Repeats):
        raise OptionError(f"repeats is one of {', '.join(get_args(Repeats))}; got {repeats!r}")
    if isinstance(labels, str):
        raise InputError(f"labels is the text {labels!r}; give a list of labels")
    extras = {"weight": weight, "answer": answer, "when": when, "seconds": seconds}
    table, task, worker, label = _table(data, task, worker, label, extras, wide, where)
    table.need({"task": task, "worker": worker, "label": label})
    labels = table.categories(label) if labels is None else labels
    reader = _Reader(table, missing, wide)
    columns = reader.codes(task, worker, label)
    columns |= reader.extras(**_extra_names(extras, table, given=data is not None))
    columns = reader.keep_answered(columns)
    if repeats != "keep":
        columns, notes = settle_repeats(columns, reader.names, repeats)
        reader.notes += notes
    names = reader.listed(columns, tasks=tasks, workers=workers, labels=labels)
    made = Votes.coded(
        **columns,
        **names,
        scale=label_positions(names["labels"], ordered),
        notes=tuple(reader.notes),
        missing=reader.n_missing,
    )
    if repeats == "keep" and made.n_repeats:
        note = f"{made.n_repeats:,} answers are a worker's second or later one to the same task; all are kept"
        made = replace(made, notes=(*made.notes, note))
    tell(made.notes)
    return made


def _table(
    data: Any, task: Any, worker: Any, label: Any, extras: dict[str, Any], wide: bool, where: str
) -> tuple[Columns, str, str | None, str]:
    """What was given as one long table, and what its three columns are called in it."""
    if data is None and isinstance(task, str):
        raise InputError("give a table, or the columns themselves: votes(task=[...], worker=[...], label=[...])")
    if data is None:
        given = {"task": task, "label": label} | ({} if worker is None else {"worker": worker})
        given |= {role: column for role, column in extras.items() if not isinstance(column, str | None)}
        return Columns.of(given, where), "task", None if worker is None else "worker", "label"
    table = Columns.of(data, where)
    return (long_of_wide(table, task), "task", "worker", "label") if wide else (table, task, worker, label)


def _extra_names(extras: dict[str, Any], table: Columns, *, given: bool) -> dict[str, str | None]:
    """What the optional columns are called in the table; one that came as an array has the name of its role."""
    for role, column in extras.items():
        if given and not isinstance(column, str | None):
            raise InputError(f"{role} names a column of the table; got {type(column).__name__}: put it into the table")
        if isinstance(column, str) and column != role and column not in table:
            raise InputError(f"{table.where} has no column {column!r} to take as {role}; it has {table.names}")
    return {role: column if isinstance(column, str | None) else role for role, column in extras.items()}


def counts(
    data: Any,
    *,
    task: str = "task",
    labels: Iterable[object] | None = None,
    ordered: bool | Iterable[float] = False,
    where: str = "the table",
) -> Votes:
    """Votes of a table with a row a task and, for every label, a column with how many people chose it.

    >>> counts({"task": ["a", "b"], "no": [3, 0], "yes": [1, 5]})
    <Votes: 9 votes, 2 tasks, 0 workers, 2 labels, unnamed counts>
    """
    table = Columns.of(data, where)
    table.need({"task": task})
    if table.names == [task]:
        raise InputError(f"{where} has no column besides {task!r}; counts need one for every label")
    names = [name for name in table.names if name != task] if labels is None else [str(one) for one in labels]
    table.need({f"label {name}": name for name in names})
    tasks, task_names, notes = code(table[task], "task")
    if (tasks < 0).any():
        raise InputError(f"{where} has {int((tasks < 0).sum())} rows without a task")
    numbers = np.stack([floats_of(table[name].fill_null(0), f"column {name!r} of {where}") for name in names], 1)
    total = np.zeros((len(task_names), len(names)))
    np.add.at(total, tasks, numbers)
    if len(task_names) < len(tasks):
        notes.append(f"{len(tasks) - len(task_names)} rows repeat a task; their counts were added")
    tell(notes)
    given = names if labels is None else list(labels)
    return Votes.from_counts(total, task_names, given, ordered=ordered)


class _Reader:
    """One reading of one table: the codes on their way to `Votes`, and the notes gathered meanwhile."""

    def __init__(self, table: Columns, missing: object, wide: bool) -> None:
        self.table, self.wide = table, wide
        self.missing = _several(missing)
        self.notes: list[str] = []
        self.n_missing = 0  # rows that gave no label
        self.names: dict[str, Names] = {}

    def codes(self, task: str, worker: str | None, label: str) -> dict[str, Any]:
        """The three columns as codes, -1 where a value is missing."""
        wanted = {
            role: name for role, name in (("task", task), ("worker", worker), ("label", label)) if name is not None
        }
        with ThreadPoolExecutor(2) as pool:  # the long column of tasks, and meanwhile the others
            coded = dict(zip(wanted, pool.map(lambda role: code(self.table[wanted[role]], role), wanted), strict=True))
        columns: dict[str, Any] = {role: codes for role, (codes, _, _) in coded.items()}
        self.names = {role: names for role, (_, names, _) in coded.items()}
        self.notes += [note for _, _, notes in coded.values() for note in notes]
        if worker is None:
            columns["worker"], self.names["worker"] = np.full(len(columns["task"]), UNNAMED), as_names([])
        if not len(columns["task"]):
            raise InputError(f"{self.table.where} has no rows; votes need at least one")
        return columns

    def extras(self, weight: str | None, answer: str | None, when: str | None, seconds: str | None) -> dict[str, Any]:
        """The optional columns that are there."""
        found: dict[str, Any] = {}
        if weight in self.table and weight is not None:
            found["weight"] = floats_of(self.table[weight], f"column {weight!r}")
        if answer in self.table and answer is not None:
            found["answer"] = code(self.table[answer], "answer")[0].astype(np.int64)
        if when in self.table and when is not None:
            found["when"] = seconds_of(self.table[when], f"column {when!r}")
        if seconds in self.table and seconds is not None:
            found["seconds"] = seconds_of(self.table[seconds], f"column {seconds!r}").astype(np.float32)
        elif seconds == "seconds" and "rt_ms" in self.table:
            found["seconds"] = (floats_of(self.table["rt_ms"].fill_null(np.nan), "rt_ms") / 1000).astype(np.float32)
        return found

    def keep_answered(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Without rows that name no task or no label; their tasks and workers stay known."""
        silent = columns["label"] < 0
        bare = silent & ((columns["task"] < 0) ^ (columns["worker"] < 0))  # names a task or a worker without a vote
        abstained = self._abstained(columns) & ~silent
        silent, nameless = silent & ~bare, (columns["task"] < 0) & ~bare
        unsigned = (columns["worker"] < 0) & ~(nameless | silent | abstained | bare)
        if nameless.any():
            self.notes.append(f"{int(nameless.sum()):,} rows name no task; dropped")
        if silent.any() and not self.wide:  # an empty cell of a wide table says only that nobody was asked
            self.notes.append(f"{int(silent.sum()):,} rows have no label; dropped, their tasks stay")
        if unsigned.any() and len(self.names["worker"]):
            self.notes.append(f"{int(unsigned.sum()):,} votes name no worker; kept as unnamed votes")
        keep = ~(nameless | silent | abstained | bare)
        if not keep.any() and not bare.all():
            raise InputError(f"{self.table.where} has {len(keep)} rows but no vote in them: every label is missing")
        self._hint_at_minus_one()
        self.n_missing = int(abstained.sum()) + (0 if self.wide else int(silent.sum()))
        return columns if keep.all() else {name: column[keep] for name, column in columns.items()}

    def _abstained(self, columns: dict[str, Any]) -> Bools:
        """(n_rows,) rows whose label means "no answer"; such labels leave the list of labels."""
        if not len(self.missing):
            return np.zeros(len(columns["label"]), bool)
        gone = positions(self.missing, self.names["label"]) >= 0
        if not gone.any():
            self.notes.append(f"no row says {first_few(self.missing)}, the value given as missing")
        abstained = np.append(gone, False)[columns["label"]]
        if abstained.any():
            words = first_few(self.names["label"][gone])
            self.notes.append(f"{int(abstained.sum()):,} rows say {words}, which means no answer; not votes")
        columns["label"] = np.append(np.where(gone, -1, np.cumsum(~gone) - 1), -1)[columns["label"]]
        self.names["label"] = self.names["label"][~gone]
        return abstained

    def _hint_at_minus_one(self) -> None:
        if not len(self.missing) and "-1" in as_text(self.names["label"][:2]).tolist() and len(self.names["label"]) > 1:
            others = as_text(self.names["label"])
            if not any(name.startswith("-") for name in others.tolist() if name != "-1"):
                self.notes.append("-1 is read as a label like any other; if it means no answer, say missing=-1")

    def listed(self, columns: dict[str, Any], **given: Iterable[object] | None) -> dict[str, Any]:
        """The names, widened to the lists given; codes are moved in place where names move."""
        out: dict[str, Any] = {}
        for role in ("task", "worker", "label"):
            names, wanted = self.names[role], given[f"{role}s"]
            if wanted is None:
                out[f"{role}s"] = names if role != "label" else sort_by_value(names)
            else:
                fixed = as_names(list(wanted), f"{role}s")
                out[f"{role}s"] = fixed if role == "label" else np.sort(fixed)
            if not np.array_equal(out[f"{role}s"], names):
                self._move(columns, role, out[f"{role}s"])
        return out

    def _move(self, columns: dict[str, Any], role: str, names: Names) -> None:
        place = positions(names, self.names[role])
        used = np.zeros(len(place), bool)
        used[columns[role][columns[role] >= 0]] = True
        if len(strangers := self.names[role][(place < 0) & used]):
            raise InputError(
                f"{role}s outside the given list: {first_few(strangers)}; the list has {first_few(names, 6)}"
            )
        columns[role] = np.append(place, -1)[columns[role]]


def _several(missing: object) -> Names:
    if missing is None:
        return as_names([])
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        return as_names([missing], "missing")
    return as_names(list(missing), "missing")


def tell(notes: Sequence[str]) -> None:
    """Say what was dropped, merged or guessed."""
    for note in notes:
        warnings.warn(note, PlurivoxWarning, stacklevel=3)
