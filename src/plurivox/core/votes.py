"""Votes: what the crowd said, as weights on labels."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.errors import InputError, some
from plurivox.core.names import (
    Bools,
    Floats,
    Ints,
    Names,
    as_names,
    by_value,
    duplicates,
    encode,
    frozen,
    numbers,
    positions,
    smallest_ints,
)
from plurivox.core.noun import Noun
from plurivox.core.rows import Candidates

UNNAMED = -1  # the worker of a vote that nobody signed
WHOLE = 1e-6  # how far the weights of one soft answer may be from summing to one


@dataclass(frozen=True, eq=False, repr=False)
class Votes(Noun):
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

    def __post_init__(self) -> None:
        for name in ("tasks", "workers", "labels"):
            object.__setattr__(self, name, as_names(getattr(self, name), name))
        self._narrow()
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, frozen(value))
        self._check_shapes()
        self._check_codes()
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
        task_codes, task_names = _coded(task, tasks, "task")
        label_codes, label_names = _coded(label, labels, "label")
        if worker is None:
            worker_codes, worker_names = np.full(len(task_codes), UNNAMED), as_names(list(workers or ()), "workers")
        else:
            worker_codes, worker_names = _coded(worker, workers, "worker")
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
            scale=scale_of(label_names, ordered),
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
        columns = sort_rows(task, worker, label, extra, (len(tasks), len(workers), len(labels)))
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
            raise InputError(f"counts must be 0 or more; look at the tasks {some(task_names[bad].tolist())}")
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
            scale=scale_of(label_names, ordered),
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

    @property
    def is_plain(self) -> bool:
        """Every row is one whole vote."""
        return self.weight is None

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
            raise InputError(f"the list of tasks names some twice: {some(twice)}")
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
            raise InputError(f"labels {some(lost)} have votes but are not in the list {some(names, 6)}")
        return self._rows(np.ones(len(self), bool), label=place[self.label], labels=names, scale=None)

    def where(self, keep: Bools) -> Self:
        """The rows where `keep` is true; tasks, workers and labels stay, some perhaps without a vote."""
        return self._rows(np.asarray(keep, bool))

    def _rows(self, keep: Bools, **other: Any) -> Self:
        columns = {
            name: getattr(self, name) for name in ("task", "worker", "label", "weight", "answer", "when", "seconds")
        }
        columns.update({name: other.pop(name) for name in list(other) if name in columns})
        cut = {name: None if column is None else column[keep] for name, column in columns.items()}
        rest = {name: getattr(self, name) for name in ("tasks", "workers", "labels", "scale", "notes")}
        return type(self).coded(**{**rest, **other, **cut})

    # ---- faces

    def columns(self) -> dict[str, NDArray[Any]]:
        """task, worker, label by name, and the other columns that are there."""
        table: dict[str, NDArray[Any]] = {"task": self.tasks[self.task]}
        if self.n_workers:
            named = self.workers[np.maximum(self.worker, 0)]
            if (self.worker < 0).any():
                named = named.astype(object)
                named[self.worker < 0] = None
            table["worker"] = named
        table["label"] = self.labels[self.label]
        for name in ("weight", "answer", "when", "seconds"):
            if (column := getattr(self, name)) is not None:
                table[name] = column
        return table

    def facts(self) -> dict[str, object]:
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
            if column.dtype.kind not in "iu":
                raise InputError(f"the {name} codes of votes are {column.dtype}; they must be whole numbers")
            if name == "label":  # before narrowing: a code out of range would wrap around
                _in_range(column, 0, self.n_labels, name)
            object.__setattr__(self, name, column.astype(kind, copy=False))

    def _check_shapes(self) -> None:
        for name in ("worker", "label", "weight", "answer", "when", "seconds"):
            column = getattr(self, name)
            if column is not None and column.shape != self.task.shape:
                raise InputError(f"{name} has the shape {column.shape}; the votes have {self.task.shape}")
        if self.scale is not None and self.scale.shape != self.labels.shape:
            raise InputError(f"the scale has {self.scale.shape[0]} values for {self.n_labels} labels")
        for name in ("tasks", "workers", "labels"):
            if len(twice := duplicates(getattr(self, name))):
                raise InputError(f"{name} holds a name twice: {some(twice)}")

    def _check_codes(self) -> None:
        _in_range(self.task, 0, self.n_tasks, "task")
        _in_range(self.worker, UNNAMED, self.n_workers, "worker")
        if len(self) and bool((self.task[1:] < self.task[:-1]).any()):
            raise InputError("the rows of votes are not sorted by task; use Votes.coded or Votes.of")

    def _check_weights(self) -> None:
        if self.weight is not None and (bad := ~np.isfinite(self.weight) | (self.weight < 0)).any():
            raise InputError(f"weights must be 0 or more; look at {some(self.tasks[self.task[bad]])}")
        if self.answer is not None:
            self._check_answers()

    def _check_answers(self) -> None:
        assert self.answer is not None
        numbers_, answer = np.unique(self.answer, return_inverse=True)
        first = np.full(len(numbers_), len(self), np.int64)
        np.minimum.at(first, answer, np.arange(len(self)))
        strangers = (self.task != self.task[first[answer]]) | (self.worker != self.worker[first[answer]])
        if strangers.any():
            raise InputError(
                f"an answer belongs to one task and one worker; look at {some(np.unique(self.answer[strangers]))}"
            )
        total = np.bincount(answer, self.weights)
        single = np.bincount(answer) == 1
        count = single & (self.worker[first] == UNNAMED)
        wrong = (np.abs(total - 1) > WHOLE) & ~count
        if wrong.any():
            raise InputError(f"the weights of one answer must sum to one; look at the answers {some(numbers_[wrong])}")


def scale_of(labels: Names, ordered: bool | Iterable[float]) -> Floats | None:
    """Where the labels stand: evenly spaced, at their own values where they are numbers, or at those given."""
    if isinstance(ordered, bool):
        if not ordered:
            return None
        own = numbers(labels)
        return np.arange(len(labels), dtype=np.float64) if own is None else own
    values = np.asarray(list(ordered), np.float64)
    if values.shape != labels.shape:
        raise InputError(f"the scale has {len(values)} values for {len(labels)} labels")
    return values


def sort_rows(
    task: Ints, worker: Ints, label: Ints, extra: dict[str, NDArray[Any]], sizes: tuple[int, int, int]
) -> dict[str, NDArray[Any]]:
    """The columns sorted by task, answer, worker, label (then weight and times, so that input order never shows)."""
    n_tasks, n_workers, n_labels = sizes
    if not extra and n_tasks * (n_workers + 1) * n_labels < 2**63:  # one number a row: sorting it sorts everything
        key = task.astype(np.int64)
        key *= n_workers + 1
        key += worker
        key += 1
        key *= n_labels
        key += label
        if (key[1:] < key[:-1]).any():
            key.sort()
        rest = key // max(n_labels, 1)
        key -= rest * n_labels
        label = key.astype(smallest_ints(n_labels))
        task = (rest // (n_workers + 1)).astype(np.int32)
        rest -= task.astype(np.int64) * (n_workers + 1)
        return {"task": task, "worker": (rest - 1).astype(np.int32), "label": label}
    keys = [extra[name] for name in ("seconds", "when", "weight") if name in extra]
    keys += [label, worker, *([extra["answer"]] if "answer" in extra else []), task]
    order = np.lexsort(keys)
    columns = {"task": task, "worker": worker, "label": label, **extra}
    return {name: column[order] for name, column in columns.items()}


def _coded(column: Iterable[object], given: Iterable[object] | None, what: str) -> tuple[Ints, Names]:
    """Codes into the given names, or into the sorted names of the column."""
    if given is None:
        codes, names = encode(column, f"{what}s")
        if what != "label" or len(ranked := by_value(names)) == 0:
            return codes, names
        return positions(ranked, names)[codes], ranked
    names = as_names(given, f"{what}s")
    values = as_names(column, f"{what}s")
    distinct_codes, distinct = encode(values, f"{what}s")
    place = positions(names, distinct)
    if len(strangers := distinct[place < 0]):
        raise InputError(f"{what}s outside the given list: {some(strangers)}; the list has {some(names, 6)}")
    if what != "label":
        ranked = np.sort(names)
        return positions(ranked, distinct)[distinct_codes], ranked
    return place[distinct_codes], names


def _codes_type(n_codes: int) -> np.dtype[Any]:
    return np.dtype(np.int32 if n_codes < 2**31 else np.int64)


def _in_range(column: Ints, low: int, high: int, what: str) -> None:
    if column.size and (int(column.min()) < low or int(column.max()) >= high):
        raise InputError(f"{what} codes run from {column.min()} to {column.max()}; there are {high} {what}s")
