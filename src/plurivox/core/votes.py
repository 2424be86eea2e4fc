"""Votes: what the crowd said, as weights on labels."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.base import DataType
from plurivox.core.encoding import (
    as_names,
    decode,
    duplicates,
    encode,
    encode_into,
    in_range,
    label_positions,
    positions,
    readonly_names,
)
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_storage import Candidates
from plurivox.core.types import Bools, Floats, Ints, Names, readonly_copy, smallest_ints
from plurivox.core.vote_rows import check_answers, sort_rows

UNNAMED = -1  # the worker of a vote that nobody signed


@dataclass(frozen=True, eq=False, repr=False)
class Votes(DataType):
    """One row = one worker puts `weight` on one label of one task. Rows sorted by task, answer, worker, label.

    A plain vote weighs 1 and needs no weight column. A soft answer is several rows that share an `answer` number and
    whose weights sum to one. A count without a name is a row of worker -1 whose weight is the count.

    >>> votes = Votes.of(task=["b", "a", "b"], worker=[1, 1, 2], label=["x", "y", "y"])
    >>> votes
    <Votes: 3 votes, 2 tasks, 2 workers, 2 labels>
    >>> votes.counts()
    array([[0., 1.],
           [1., 1.]])
    """

    version: ClassVar[int] = 2  # 2: with `missing`

    task: Ints  # (n_rows,) code into `tasks`, non-decreasing
    worker: Ints  # (n_rows,) code into `workers`; -1 where nobody is named
    label: Ints  # (n_rows,) code into `labels`, in the smallest type that holds them
    tasks: Names  # (n_tasks,) tasks without a vote included
    workers: Names  # (n_workers,)
    labels: Names  # (n_labels,) labels nobody chose included
    weight: Floats | None = None  # (n_rows,) None: every row is one plain vote
    answer: Ints | None = None  # (n_rows,) rows of one soft answer share a number
    when: Floats | None = None  # (n_rows,) seconds since 1970, nan where unknown
    seconds: Floats | None = None  # (n_rows,) how long the answer took, nan where unknown
    scale: Floats | None = None  # (n_labels,) where each label stands; None: labels have no order
    notes: tuple[str, ...] = ()  # what was dropped, merged or guessed on the way in
    missing: int = 0  # rows that gave no label: missing or abstained

    def __post_init__(self) -> None:
        for name in ("tasks", "workers", "labels"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        self._narrow()
        for name in ("weight", "answer", "when", "seconds", "scale"):
            if (column := getattr(self, name)) is not None:
                object.__setattr__(self, name, readonly_copy(column))
        object.__setattr__(self, "missing", int(self.missing))
        self._check_shapes()
        self._check_order()
        self._check_weights()

    @classmethod
    def of(
        cls,
        task: Iterable[object],
        worker: Iterable[object] | None,
        label: Iterable[object],
        *,
        weight: Iterable[float] | None = None,
        answer: Iterable[object] | None = None,
        when: Iterable[float] | None = None,
        seconds: Iterable[float] | None = None,
        tasks: Iterable[object] | None = None,
        workers: Iterable[object] | None = None,
        labels: Iterable[object] | None = None,
        ordered: bool | Iterable[float] = False,
    ) -> Self:
        """Votes of columns of names, in any order.

        `tasks`, `workers` and `labels` may list more names than the columns hold; `labels` then also fixes their
        order. `ordered` says that the labels lie on a scale, evenly spaced or at the values given.
        """
        task_codes, task_names = _codes(task, tasks, "tasks")
        label_codes, label_names = encode_into(label, labels, "labels")
        if worker is None:
            worker_codes, worker_names = np.full(len(task_codes), UNNAMED), as_names(list(workers or ()), "workers")
        else:
            worker_codes, worker_names = _codes(worker, workers, "workers")
        return cls.coded(
            task=task_codes,
            worker=worker_codes,
            label=label_codes,
            tasks=task_names,
            workers=worker_names,
            labels=label_names,
            weight=None if weight is None else np.asarray(list(weight), np.float64),
            answer=None if answer is None else encode(answer, "answers")[0].astype(np.int64),
            when=None if when is None else np.asarray(list(when), np.float64),
            seconds=None if seconds is None else np.asarray(list(seconds), np.float32),
            scale=label_positions(label_names, ordered),
        )

    @classmethod
    def coded(
        cls, *, task: Ints, worker: Ints, label: Ints, tasks: Names, workers: Names, labels: Names, **rest: Any
    ) -> Self:
        """Votes of codes in any order: this is where rows get sorted."""
        extra = {name: rest[name] for name in ("answer", "weight", "when", "seconds") if rest.get(name) is not None}
        sizes = {len(column) for column in (task, worker, label, *extra.values())}
        if len(sizes) > 1:
            raise InputError(f"columns of votes must have one length; these have {sorted(sizes)}")
        for name, codes, low, n in (("task", task, 0, len(tasks)), ("worker", worker, UNNAMED, len(workers))):
            in_range(np.asarray(codes), low, n, name)  # before sorting: it packs the codes of a row into one number
        in_range(np.asarray(label), 0, len(labels), "label")
        columns = sort_rows(task, worker, label, extra, (len(tasks), len(workers), len(labels)))
        for column in columns.values():  # new arrays that nobody else holds: no need for the copy of a writable one
            column.flags.writeable = False
        return cls(**{**rest, **columns}, tasks=tasks, workers=workers, labels=labels)

    @classmethod
    def from_counts(
        cls,
        counts: NDArray[Any],
        tasks: Iterable[object],
        labels: Iterable[object],
        *,
        ordered: bool | Iterable[float] = False,
    ) -> Self:
        """Votes of a (n_tasks, n_labels) table of how many people, whose names are lost, chose each label.

        >>> Votes.from_counts(np.array([[3, 0], [1, 2]]), ["a", "b"], ["no", "yes"])
        <Votes: 6 votes, 2 tasks, 0 workers, 2 labels, unnamed counts>
        """
        task_names, label_names = as_names(tasks, "tasks"), as_names(labels, "labels")
        table = np.asarray(counts, np.float64)
        if table.shape != (len(task_names), len(label_names)):
            raise InputError(
                f"counts have the shape {table.shape}; {len(task_names)} tasks and {len(label_names)} labels need "
                f"({len(task_names)}, {len(label_names)})"
            )
        if not np.isfinite(table).all() or (table < 0).any():
            bad = np.flatnonzero((~np.isfinite(table) | (table < 0)).any(1))
            raise InputError(f"counts must be 0 or more; look at the tasks {first_few(task_names[bad].tolist())}")
        order = np.argsort(task_names, kind="stable")
        row, label = np.nonzero(table[order])
        return cls(
            task=row,
            worker=np.full(len(row), UNNAMED),
            label=label,
            tasks=task_names[order],
            workers=as_names([], "workers"),
            labels=label_names,
            weight=table[order][row, label],
            scale=label_positions(label_names, ordered),
        )

    # ---- what is inside

    def __len__(self) -> int:
        return len(self.task)

    @property
    def n_tasks(self) -> int:
        return len(self.tasks)

    @property
    def n_workers(self) -> int:
        return len(self.workers)

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    @cached_property
    def n_answers(self) -> float:
        """How many answers people gave: rows, soft answers taken once, counts by their number."""
        if self.answer is None:
            return float(len(self)) if self.weight is None else float(self.weight.sum())
        return float(self.weights.sum())

    @cached_property
    def weights(self) -> Floats:
        """(n_rows,) the weight column, ones where there is none."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def start(self) -> Ints:
        """(n_tasks + 1,) the rows of task t are `start[t]:start[t + 1]`."""
        return np.searchsorted(self.task, np.arange(self.n_tasks + 1))

    @cached_property
    def by_worker(self) -> tuple[Ints, Ints]:
        """(order, start): the rows of worker w are `order[start[w]:start[w + 1]]`, in task order."""
        order = np.argsort(self.worker, kind="stable")
        return order, np.searchsorted(self.worker[order], np.arange(self.n_workers + 1))

    @cached_property
    def support(self) -> Floats:
        """(n_tasks,) how many answers each task got; a soft answer counts once."""
        return np.bincount(self.task, self.weight, minlength=self.n_tasks).astype(np.float64)

    @cached_property
    def voted(self) -> Names:
        """The names of the tasks that have an answer."""
        return self.tasks[self.support > 0]

    @cached_property
    def workload(self) -> Floats:
        """(n_workers,) how many answers each worker gave."""
        named = self.worker >= 0
        weight = None if self.weight is None else self.weight[named]
        return np.bincount(self.worker[named], weight, minlength=self.n_workers).astype(np.float64)

    @cached_property
    def n_repeats(self) -> int:
        """How many answers are a named worker's second or later answer to the same task."""
        if self.answer is None:  # rows of one task and worker lie side by side
            again = (self.task[1:] == self.task[:-1]) & (self.worker[1:] == self.worker[:-1]) & (self.worker[1:] >= 0)
            return int(again.sum())
        named = self.worker >= 0
        pair = self.task[named].astype(np.int64) * max(self.n_workers, 1) + self.worker[named]
        _, first = np.unique(self.answer[named], return_index=True)
        alone = np.sort(pair[first])
        return int((alone[1:] == alone[:-1]).sum())

    def require_workers(self, what: str, hint: str = "", *, every: bool = True) -> Self:
        """The votes themselves; InputError where some have no worker, or none has one (`every=False`).

        `what` is the method that must know who voted; `hint` is added to the message.
        """
        unnamed = self.worker < 0
        if unnamed.any() if every else unnamed.all():
            raise InputError(f"{what} must know who voted; these votes hold counts without names{hint}")
        return self

    def require_plain(self, what: str) -> Self:
        """The votes themselves; InputError where they are soft answers, which the method `what` cannot use."""
        if self.answer is not None:
            raise InputError(f"{what} takes plain votes only; these are soft answers: take the top label of each")
        return self

    def counts(self) -> Floats:
        """(n_tasks, n_labels) the weight each label got; a task nobody voted on has a row of zeros."""
        key = self.task.astype(np.int64) * self.n_labels + self.label
        flat = np.bincount(key, self.weight, minlength=self.n_tasks * self.n_labels)
        return flat.reshape(self.n_tasks, self.n_labels).astype(np.float64, copy=False)

    def tally(self) -> Candidates:
        """The same numbers, only where they are not zero: for very many labels."""
        key = self.task.astype(np.int64) * self.n_labels + self.label
        cell, inverse = np.unique(key, return_inverse=True)
        mass = np.bincount(inverse, self.weight, minlength=len(cell)).astype(np.float64)
        task, label = np.divmod(cell, max(self.n_labels, 1))
        start = np.searchsorted(task, np.arange(self.n_tasks + 1))
        return Candidates(
            start, label.astype(smallest_ints(self.n_labels)), mass, np.zeros(self.n_tasks), self.n_labels
        )

    # ---- parts

    def on(self, tasks: Iterable[object]) -> Self:
        """The votes on these tasks, in this order; a task unknown here comes without votes and with a note."""
        wanted = as_names(tasks, "tasks")
        if len(twice := duplicates(wanted)):
            raise InputError(f"the list of tasks names some twice: {first_few(twice)}")
        place = positions(self.tasks, wanted)
        back = np.full(self.n_tasks, -1)
        back[place[place >= 0]] = np.flatnonzero(place >= 0)
        absent = int((place < 0).sum())
        note = (f"{absent} of {len(wanted)} tasks have no votes here",) if absent else ()
        return self._rows(back[self.task] >= 0, task=back[self.task], tasks=wanted, notes=self.notes + note)

    def with_labels(self, labels: Iterable[object]) -> Self:
        """The same votes over another list of labels that holds every label voted for; a scale must be given anew."""
        names = as_names(labels, "labels")
        place = positions(names, self.labels)
        used = np.unique(self.label)
        if len(lost := self.labels[used][place[used] < 0]):
            raise InputError(f"labels {first_few(lost)} have votes but are not in the list {first_few(names, 6)}")
        return self._rows(np.ones(len(self), bool), label=place[self.label], labels=names, scale=None)

    def where(self, keep: Bools) -> Self:
        """The rows where `keep` is true; tasks, workers and labels stay, some perhaps without a vote."""
        mask = np.asarray(keep)
        if mask.shape != self.task.shape or (mask.size and mask.dtype != bool):
            raise InputError(f"where() needs a truth value for each of {len(self)} rows; got {mask.shape} {mask.dtype}")
        cut = self._cut(mask.astype(bool))
        for column in cut.values():  # new arrays that nobody else holds
            column.flags.writeable = False
        rest = {name: getattr(self, name) for name in ("tasks", "workers", "labels", "scale", "notes", "missing")}
        return type(self)(**rest, **cut)  # rows that were sorted still are

    def _cut(self, keep: Bools) -> dict[str, Any]:
        """The columns that are there, where `keep` is true."""
        names = ("task", "worker", "label", "weight", "answer", "when", "seconds")
        return {name: column[keep] for name in names if (column := getattr(self, name)) is not None}

    def _rows(self, keep: Bools, **other: Any) -> Self:
        cut = self._cut(keep)
        cut |= {name: other.pop(name)[keep] for name in ("task", "label") if name in other}
        rest = {name: getattr(self, name) for name in ("tasks", "workers", "labels", "scale", "notes", "missing")}
        return type(self).coded(**{**rest, **other, **cut})

    # ---- faces

    def columns(self) -> dict[str, NDArray[Any]]:
        """task, worker, label by name, and the other columns that are there."""
        return self._table(slice(None))

    def _head(self, n: int) -> dict[str, NDArray[Any]]:
        return self._table(slice(n))

    def _table(self, rows: slice) -> dict[str, NDArray[Any]]:
        table: dict[str, NDArray[Any]] = {"task": self.tasks[self.task[rows]]}
        if self.n_workers:
            table["worker"] = decode(self.workers, self.worker[rows])
        table["label"] = self.labels[self.label[rows]]
        for name in ("weight", "answer", "when", "seconds"):
            if (column := getattr(self, name)) is not None:
                table[name] = column[rows]
        return table

    def info(self) -> dict[str, object]:
        total = round(self.n_answers)
        return {
            "votes": total,
            "tasks": self.n_tasks,
            "workers": self.n_workers,
            "labels": self.n_labels,
            "soft answers": True if self.answer is not None else None,
            "unnamed counts": True if len(self) and bool((self.worker < 0).any()) else None,
            "ordered": True if self.scale is not None else None,
        }

    # ---- invariants

    def _narrow(self) -> None:
        """Codes in small types: 4 bytes a task and a worker, the smallest type for a label."""
        kinds = {"task": _codes_type(self.n_tasks), "worker": _codes_type(self.n_workers)}
        kinds["label"] = smallest_ints(self.n_labels)
        for name, kind in kinds.items():
            column = np.asarray(getattr(self, name))
            in_range(column, UNNAMED if name == "worker" else 0, len(getattr(self, f"{name}s")), name)
            object.__setattr__(
                self, name, readonly_copy(column, kind)
            )  # once known in range: codes beyond would wrap around

    def _check_shapes(self) -> None:
        for name in ("worker", "label", "weight", "answer", "when", "seconds"):
            column = getattr(self, name)
            if column is not None and column.shape != self.task.shape:
                raise InputError(f"{name} has the shape {column.shape}; the votes have {self.task.shape}")
        if self.scale is not None and self.scale.shape != self.labels.shape:
            raise InputError(f"the scale has {self.scale.shape[0]} values for {self.n_labels} labels")
        for name in ("tasks", "workers", "labels"):
            if len(twice := duplicates(getattr(self, name))):
                raise InputError(f"{name} holds a name twice: {first_few(twice)}")

    def _check_order(self) -> None:
        if self.missing < 0:
            raise InputError(f"{self.missing} rows cannot be missing; give 0 or more")
        if len(self) and bool((self.task[1:] < self.task[:-1]).any()):
            raise InputError("the rows of votes are not sorted by task; use Votes.coded or Votes.of")

    def _check_weights(self) -> None:
        if self.weight is not None and (bad := ~np.isfinite(self.weight) | (self.weight < 0)).any():
            raise InputError(f"weights must be 0 or more; look at {first_few(self.tasks[self.task[bad]])}")
        if self.answer is not None:
            check_answers(self.answer, self.task, self.worker, self.weights)


def _codes(column: Iterable[object], given: Iterable[object] | None, what: str) -> tuple[Ints, Names]:
    """Codes of tasks or workers into their sorted names: those of the column, or those given."""
    return encode(column, what) if given is None else encode_into(column, np.sort(as_names(given, what)), what)


def _codes_type(n_codes: int) -> np.dtype[Any]:
    return np.dtype(np.int32 if n_codes < 2**31 else np.int64)
