"""Votes: the labels that workers gave to tasks, as weighted rows (task, worker, label)."""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Bools, Floats, Ints, Names, as_readonly_array, smallest_unsigned_dtype
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import (
    as_names,
    check_codes,
    decode,
    duplicates,
    encode,
    encode_with_names,
    label_positions_on_scale_or_none,
    positions,
    readonly_names,
    sorted_names,
)
from plurivox.core.soft_rows_dense_sparse import Candidates
from plurivox.core.sort_votes_and_check_soft_answers import check_soft_answers, sort_vote_columns_by_task_and_answer

UNNAMED = -1  # worker code of a vote without a worker


@dataclass(frozen=True, eq=False, repr=False)
class Votes(DataType):
    """Votes of workers: one row per task, worker and label with a weight, sorted by task, answer, worker, label.

    A plain vote has weight 1 and needs no weight column. A soft answer is several rows that share an `answer` number and
    whose weights sum to one. A count without names is a row of worker -1 whose weight is the count.

    >>> votes = Votes.of(task=["b", "a", "b"], worker=[1, 1, 2], label=["x", "y", "y"])
    >>> votes
    <Votes: 3 votes, 2 tasks, 2 workers, 2 labels>
    >>> votes.counts()
    array([[0., 1.],
           [1., 1.]])
    """

    version: ClassVar[int] = 2  # 2: with `missing`

    task: Ints  # (n_rows,) code into `tasks`, non-decreasing
    worker: Ints  # (n_rows,) code into `workers`; -1: a count without names
    label: Ints  # (n_rows,) code into `labels`, in the smallest dtype
    tasks: Names  # (n_tasks,) including tasks without votes
    workers: Names  # (n_workers,)
    labels: Names  # (n_labels,) including labels without votes
    weight: Floats | None = None  # (n_rows,) None: every row is one plain vote
    answer: Ints | None = None  # (n_rows,) rows of one soft answer share a number
    when: Floats | None = None  # (n_rows,) seconds since 1970; nan if unknown
    seconds: Floats | None = None  # (n_rows,) response time; nan if unknown
    scale: Floats | None = None  # (n_labels,) position of each label on a scale; None: labels have no order
    notes: tuple[str, ...] = ()  # what was dropped, merged or inferred when the votes were read
    missing: int = 0  # number of input rows without a label: missing or abstained

    def __post_init__(self) -> None:
        for name in ("tasks", "workers", "labels"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        self._check_and_narrow_codes()
        for name in ("weight", "answer", "when", "seconds", "scale"):
            if (column := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_readonly_array(column))
        object.__setattr__(self, "missing", int(self.missing))
        self._check_lengths_and_unique_names()
        self._check_sorted_and_missing_not_negative()
        self._check_weights_and_soft_answer_sums()

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
        """Create Votes from columns of task, worker and label names, one value per vote, in any order.

        `tasks`, `workers` and `labels` may list more names than occur in the columns; `tasks` and `labels` also set their
        order. Names that are not listed are sorted.
        `ordered`: the labels are on a scale, at their own values or evenly spaced (True), or at the given positions.
        """
        task_codes, task_names = _encode_column(task, tasks, "tasks", sort_names=isinstance(tasks, Set))
        label_codes, label_names = encode_with_names(label, labels, "labels")
        if worker is None:
            worker_codes, worker_names = np.full(len(task_codes), UNNAMED), as_names(list(workers or ()), "workers")
        else:
            worker_codes, worker_names = _encode_column(worker, workers, "workers", sort_names=True)
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
            scale=label_positions_on_scale_or_none(label_names, ordered),
        )

    @classmethod
    def coded(
        cls, *, task: Ints, worker: Ints, label: Ints, tasks: Names, workers: Names, labels: Names, **rest: Any
    ) -> Self:
        """Create Votes from columns of integer codes (task, worker, label), rows in any order.
        Raise InputError for a wrong code.
        """
        extra = {name: rest[name] for name in ("answer", "weight", "when", "seconds") if rest.get(name) is not None}
        sizes = {len(column) for column in (task, worker, label, *extra.values())}
        if len(sizes) > 1:
            raise InputError(f"columns of votes must have one length; got {sorted(sizes)}")
        for name, codes, low, n in (("task", task, 0, len(tasks)), ("worker", worker, UNNAMED, len(workers))):
            check_codes(np.asarray(codes), low, n, name)  # before sorting: it packs the codes of a row into one number
        check_codes(np.asarray(label), 0, len(labels), "label")
        columns = sort_vote_columns_by_task_and_answer(
            task, worker, label, extra, (len(tasks), len(workers), len(labels))
        )
        for column in columns.values():  # new arrays without other references: no copy needed
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
        """Create Votes without worker names from a (n_tasks, n_labels) table of votes per label.

        >>> Votes.from_counts(np.array([[3, 0], [1, 2]]), ["a", "b"], ["no", "yes"])
        <Votes: 6 votes, 2 tasks, 0 workers, 2 labels, unnamed counts>
        """
        task_names, label_names = as_names(tasks, "tasks"), as_names(labels, "labels")
        table = np.asarray(counts, np.float64)
        if table.shape != (len(task_names), len(label_names)):
            raise InputError(
                f"counts have shape {table.shape}; {len(task_names)} tasks and {len(label_names)} labels need "
                f"({len(task_names)}, {len(label_names)})"
            )
        if not np.isfinite(table).all() or (table < 0).any():
            bad = np.flatnonzero((~np.isfinite(table) | (table < 0)).any(1))
            raise InputError(f"counts must be 0 or more; check the tasks {first_few(task_names[bad].tolist())}")
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
            scale=label_positions_on_scale_or_none(label_names, ordered),
        )

    # ---- sizes and derived columns

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
        """Number of answers in the votes: a soft answer counts once, a row that is a count of votes counts by its weight."""
        if self.answer is None:
            return float(len(self)) if self.weight is None else float(self.weight.sum())
        return float(self.weights.sum())

    @cached_property
    def weights(self) -> Floats:
        """(n_rows,) the weight of each row of the votes; ones if there is no weight column."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def row_offsets_by_task(self) -> Ints:
        """(n_tasks + 1,) CSR offsets: the rows of votes on task t are `start[t]:start[t + 1]`."""
        return np.searchsorted(self.task, np.arange(self.n_tasks + 1))

    @cached_property
    def row_order_and_offsets_by_worker(self) -> tuple[Ints, Ints]:
        """Group the rows of votes by worker: (order, start), the rows of worker w are `order[start[w]:start[w + 1]]`."""
        order = np.argsort(self.worker, kind="stable")
        return order, np.searchsorted(self.worker[order], np.arange(self.n_workers + 1))

    @cached_property
    def support(self) -> Floats:
        """(n_tasks,) the number of answers to each task; a soft answer counts once."""
        return np.bincount(self.task, self.weight, minlength=self.n_tasks).astype(np.float64)

    @cached_property
    def tasks_with_votes(self) -> Names:
        """Names of the tasks with at least one answer."""
        return self.tasks[self.support > 0]

    @cached_property
    def n_answers_per_worker(self) -> Floats:
        """(n_workers,) the number of answers of each worker."""
        named = self.worker >= 0
        weight = None if self.weight is None else self.weight[named]
        return np.bincount(self.worker[named], weight, minlength=self.n_workers).astype(np.float64)

    @cached_property
    def n_repeats(self) -> int:
        """Number of repeated answers: a named worker's second or later answer to the same task."""
        if self.answer is None:  # rows of one task and worker are adjacent
            again = (self.task[1:] == self.task[:-1]) & (self.worker[1:] == self.worker[:-1]) & (self.worker[1:] >= 0)
            return int(again.sum())
        named = self.worker >= 0
        pair = self.task[named].astype(np.int64) * max(self.n_workers, 1) + self.worker[named]
        _, first = np.unique(self.answer[named], return_index=True)
        alone = np.sort(pair[first])
        return int((alone[1:] == alone[:-1]).sum())

    def require_worker_names(self, method_name: str, hint: str = "", *, every: bool = True) -> Self:
        """Return the votes unchanged; raise InputError if a vote has no worker or, with `every=False`, if no vote has one.

        `method_name` is the method that needs worker names; `hint` is added to the message.
        """
        unnamed = self.worker < 0
        if unnamed.any() if every else unnamed.all():
            raise InputError(f"{method_name} needs worker names; these votes contain counts without names{hint}")
        return self

    def require_no_soft_answers(self, method_name: str) -> Self:
        """Return the votes unchanged; raise InputError if they are soft answers, which the named method does not support."""
        if self.answer is not None:
            raise InputError(f"{method_name} takes plain votes only; these are soft answers: use the top label of each")
        return self

    def counts(self) -> Floats:
        """(n_tasks, n_labels) the total weight of the votes for each label; zeros for a task without votes."""
        key, weight = self._cell_and_weight_of_each_row()
        flat = np.bincount(key, weight, minlength=self.n_tasks * self.n_labels)
        return flat.reshape(self.n_tasks, self.n_labels).astype(np.float64, copy=False)

    def sparse_vote_counts(self) -> Candidates:
        """Return the vote counts per task and label as sparse rows (one per task), for very many labels."""
        key, weight = self._cell_and_weight_of_each_row()
        cell, inverse = np.unique(key, return_inverse=True)
        mass = np.bincount(inverse, weight, minlength=len(cell)).astype(np.float64)
        task, label = np.divmod(cell, max(self.n_labels, 1))
        start = np.searchsorted(task, np.arange(self.n_tasks + 1))
        return Candidates(
            start, label.astype(smallest_unsigned_dtype(self.n_labels)), mass, np.zeros(self.n_tasks), self.n_labels
        )

    def _cell_and_weight_of_each_row(self) -> tuple[Ints, Floats | None]:
        """Return task * n_labels + label and the weight of each row; rows of soft answers are ordered by weight.

        In that order, sums have the same bits whoever gave which of the answers to a task.
        """
        key = self.task.astype(np.int64) * self.n_labels + self.label
        if self.answer is None or self.weight is None:
            return key, self.weight
        order = np.argsort(self.weight, kind="stable")
        return key[order], self.weight[order]

    # ---- selection

    def on(self, tasks: Iterable[object]) -> Self:
        """Return the votes on the given tasks (names), tasks in that order; tasks without votes
        stay and are counted in a note.
        """
        wanted = as_names(tasks, "tasks")
        if len(twice := duplicates(wanted)):
            raise InputError(f"the list of tasks contains a name twice: {first_few(twice)}")
        place = positions(self.tasks, wanted)
        back = np.full(self.n_tasks, -1)
        back[place[place >= 0]] = np.flatnonzero(place >= 0)
        absent = int((place < 0).sum())
        note = (f"{absent} of {len(wanted)} tasks have no votes",) if absent else ()
        return self._select_rows(back[self.task] >= 0, task=back[self.task], tasks=wanted, notes=self.notes + note)

    def with_labels(self, labels: Iterable[object]) -> Self:
        """Return the votes with another list of labels, without a scale. Raise InputError if a
        label with votes is not in it.
        """
        names = as_names(labels, "labels")
        place = positions(names, self.labels)
        used = np.unique(self.label)
        if len(lost := self.labels[used][place[used] < 0]):
            raise InputError(f"labels {first_few(lost)} have votes but are not in the list {first_few(names, 6)}")
        return self._select_rows(np.ones(len(self), bool), label=place[self.label], labels=names, scale=None)

    def where(self, keep: Bools) -> Self:
        """Return the votes where `keep` (n_rows,) is true; all task, worker and label names stay, also those without votes."""
        mask = np.asarray(keep)
        if mask.shape != self.task.shape or (mask.size and mask.dtype != bool):
            raise InputError(
                f"where() needs one bool for each of {len(self)} rows; got shape {mask.shape} of {mask.dtype}"
            )
        cut = self._present_columns_where(mask.astype(bool))
        for column in cut.values():  # new arrays without other references
            column.flags.writeable = False
        rest = {name: getattr(self, name) for name in ("tasks", "workers", "labels", "scale", "notes", "missing")}
        return type(self)(**rest, **cut)  # still sorted

    def _present_columns_where(self, keep: Bools) -> dict[str, Any]:
        """Return the columns of the votes that are not None, by name, with the rows where `keep` is true."""
        names = ("task", "worker", "label", "weight", "answer", "when", "seconds")
        return {name: column[keep] for name in names if (column := getattr(self, name)) is not None}

    def _select_rows(self, keep: Bools, **new_fields: Any) -> Self:
        """Return the votes where `keep` (n_rows,) is true, with some fields replaced by `new_fields`, sorted again."""
        cut = self._present_columns_where(keep)
        cut |= {name: new_fields.pop(name)[keep] for name in ("task", "label") if name in new_fields}
        rest = {name: getattr(self, name) for name in ("tasks", "workers", "labels", "scale", "notes", "missing")}
        return type(self).coded(**{**rest, **new_fields, **cut})

    # ---- table form and repr

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the votes as a table: task, worker and label by name, and the other columns that are not None."""
        return self._table_of_rows(slice(None))

    def _table_of_first_rows(self, n: int) -> dict[str, NDArray[Any]]:
        return self._table_of_rows(slice(n))

    def _table_of_rows(self, rows: slice) -> dict[str, NDArray[Any]]:
        """Return the votes in a slice of rows as a table: task, worker and label by name, and the other columns."""
        table: dict[str, NDArray[Any]] = {"task": self.tasks[self.task[rows]]}
        if self.n_workers:
            table["worker"] = decode(self.workers, self.worker[rows])
        table["label"] = self.labels[self.label[rows]]
        for name in ("weight", "answer", "when", "seconds"):
            if (column := getattr(self, name)) is not None:
                table[name] = column[rows]
        return table

    def summary_values(self) -> dict[str, object]:
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

    def _check_and_narrow_codes(self) -> None:
        """Cast task, worker and label codes to small dtypes, in place. Raise InputError if a code is out of range."""
        kinds = {"task": _int32_or_int64(self.n_tasks), "worker": _int32_or_int64(self.n_workers)}
        kinds["label"] = smallest_unsigned_dtype(self.n_labels)
        for name, kind in kinds.items():
            column = np.asarray(getattr(self, name))
            check_codes(column, UNNAMED if name == "worker" else 0, len(getattr(self, f"{name}s")), name)
            # after the range check: codes out of range would wrap around
            object.__setattr__(self, name, as_readonly_array(column, kind))

    def _check_lengths_and_unique_names(self) -> None:
        """Raise InputError if the columns of the votes differ in length, or a task, worker or label name occurs twice."""
        for name in ("worker", "label", "weight", "answer", "when", "seconds"):
            column = getattr(self, name)
            if column is not None and column.shape != self.task.shape:
                raise InputError(f"{name} has shape {column.shape}; the votes have {self.task.shape}")
        if self.scale is not None and self.scale.shape != self.labels.shape:
            raise InputError(f"the scale has {self.scale.shape[0]} values for {self.n_labels} labels")
        for name in ("tasks", "workers", "labels"):
            if len(twice := duplicates(getattr(self, name))):
                raise InputError(f"{name} contains a name twice: {first_few(twice)}")

    def _check_sorted_and_missing_not_negative(self) -> None:
        """Raise InputError if the rows of the votes are not sorted by task, or the number of missing labels is negative."""
        if self.missing < 0:
            raise InputError(f"`missing` must be 0 or more; got {self.missing}")
        if len(self) and bool((self.task[1:] < self.task[:-1]).any()):
            raise InputError("the rows of votes are not sorted by task; use Votes.coded or Votes.of")

    def _check_weights_and_soft_answer_sums(self) -> None:
        """Raise InputError if a vote weight is negative or not finite, or the weights of a soft answer do not sum to one."""
        if self.weight is not None and (bad := ~np.isfinite(self.weight) | (self.weight < 0)).any():
            raise InputError(f"weights must be 0 or more; check the tasks {first_few(self.tasks[self.task[bad]])}")
        if self.answer is not None:
            check_soft_answers(self.answer, self.task, self.worker, self.weights)


def _encode_column(
    column: Iterable[object], allowed_names: Iterable[object] | None, name_in_errors: str, *, sort_names: bool
) -> tuple[Ints, Names]:
    """Encode a column of task or worker names: (codes, names), the sorted names of the column, or `allowed_names`."""
    if allowed_names is None:
        return encode(column, name_in_errors)
    names = as_names(allowed_names, name_in_errors)
    return encode_with_names(column, sorted_names(names) if sort_names else names, name_in_errors)


def _int32_or_int64(n_codes: int) -> np.dtype[Any]:
    """Return the dtype for codes 0 to n_codes - 1: int32, or int64 if there are too many."""
    return np.dtype(np.int32 if n_codes < 2**31 else np.int64)
