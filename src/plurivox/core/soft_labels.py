"""SoftLabels: what we believe; aggregated, gold and predicted alike."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.base import DataType
from plurivox.core.encoding import as_names, as_text, duplicates, encode_into, in_range, positions, readonly_names
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_storage import DENSE_CELLS, SUM_TOLERANCE, Candidates, Dense, Rows
from plurivox.core.types import Floats, Ints, Names, readonly_copy
from plurivox.core.votes import Votes


@dataclass(frozen=True, eq=False, repr=False)
class SoftLabels(DataType):
    """Rows over labels that sum to one, a row a task. Dense or sparse inside, one face outside.

    >>> soft = SoftLabels.of([[.9, .1], [.2, .8]], tasks=["a", "b"], labels=["no", "yes"])
    >>> soft.hard().tolist(), soft.confidence.tolist()
    (['no', 'yes'], [0.9, 0.8])
    >>> soft.on(["b", "a"]).prob
    array([[0.2, 0.8],
           [0.9, 0.1]])
    """

    body: Rows
    tasks: Names  # (n_tasks,)
    labels: Names  # (n_labels,)
    support: Floats | None = None  # (n_tasks,) how many answers stand behind a row; 0: only the prior does
    scale: Floats | None = None  # (n_labels,) where each label stands; None: labels have no order
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("tasks", "labels"):
            names = readonly_names(getattr(self, name), name)
            if len(twice := duplicates(names)):
                raise InputError(f"{name} of soft labels hold a name twice: {first_few(twice)}")
            object.__setattr__(self, name, names)
        if len(self.body) != len(self.tasks) or self.body.n_labels != len(self.labels):
            raise InputError(
                f"the rows have the shape ({len(self.body)}, {self.body.n_labels}); "
                f"there are {len(self.tasks)} tasks and {len(self.labels)} labels"
            )
        self._check_rows()
        for name, whose in (("support", self.tasks), ("scale", self.labels)):
            if (column := getattr(self, name)) is not None:
                object.__setattr__(self, name, readonly_copy(column, np.float64))
                if getattr(self, name).shape != whose.shape:
                    raise InputError(f"the {name} has {len(column)} values; soft labels need {len(whose)}")

    def _check_rows(self) -> None:
        sums, low = self.body.sums(), self.body.low()
        bad = ~(np.abs(sums - 1) <= SUM_TOLERANCE) | ~(low >= -SUM_TOLERANCE)
        if bad.any():
            at = np.flatnonzero(bad)
            raise InputError(
                f"soft labels must be 0 or more and sum to one; {len(at)} rows do not, such as task "
                f"{first_few(self.tasks[at[:1]])} with the sum {sums[at[0]]:.6g}"
            )

    # ---- ways in

    @classmethod
    def of(cls, prob: Any, tasks: Iterable[object], labels: Iterable[object], **rest: Any) -> Self:
        """Soft labels of a (n_tasks, n_labels) array."""
        return cls(Dense(_table(prob)), as_names(tasks, "tasks"), as_names(labels, "labels"), **rest)

    @classmethod
    def one_hot(cls, codes: Ints, tasks: Iterable[object], labels: Iterable[object], **rest: Any) -> Self:
        """All mass on one label a task, held as one candidate each."""
        names, label = as_names(labels, "labels"), np.array(codes)
        in_range(label, 0, len(names), "label")
        n = len(label)
        rows = Candidates(np.arange(n + 1), label, np.ones(n), np.zeros(n), len(names))
        return cls(rows, as_names(tasks, "tasks"), names, **rest)

    @classmethod
    def gold(cls, task: Iterable[object], label: Iterable[object], labels: Iterable[object] | None = None) -> Self:
        """Known labels of tasks by name, in any order.

        >>> SoftLabels.gold(["b", "a"], ["x", "y"]).hard().tolist()
        ['y', 'x']
        """
        tasks = as_names(task, "tasks")
        codes, names = encode_into(label, labels, "gold labels")
        if len(codes) != len(tasks):
            raise InputError(f"gold has {len(tasks)} tasks and {len(codes)} labels")
        order = np.argsort(tasks, kind="stable")
        return cls.one_hot(codes[order], tasks[order], names)

    @classmethod
    def shares(cls, counts: Floats | Candidates, tasks: Names, labels: Names, **rest: Any) -> Self:
        """Counts divided by their row sums; a row of zeros becomes even."""
        rows: Rows
        if isinstance(counts, Candidates):
            total = counts.sums()
            mass = counts.mass / np.maximum(total, 1e-300)[counts.row]
            rows = replace(counts, mass=mass, rest=np.where(total > 0, 0.0, 1.0))
        else:
            total = counts.sum(1, keepdims=True)
            rows = Dense(np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / max(counts.shape[1], 1)))
        return cls(rows, tasks, labels, **rest)

    @classmethod
    def of_votes(cls, votes: Votes) -> Self:
        """The share of a task's answers that each label got, and their number as support; a task without any is even.

        Sparse where the table of all tasks and labels would be large.

        >>> SoftLabels.of_votes(Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"], tasks=["a", "b"])).support
        array([2., 0.])
        """
        many = votes.n_tasks * votes.n_labels > DENSE_CELLS
        counts = votes.tally() if many else votes.counts()
        return cls.shares(counts, votes.tasks, votes.labels, support=votes.support, scale=votes.scale)

    # ---- what is inside

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.body, Candidates)

    @property
    def prob(self) -> Floats:
        """(n_tasks, n_labels) every number; for sparse labels it is made on demand, and refused where it is huge."""
        if isinstance(self.body, Dense):
            return self.body.prob
        if len(self) * self.n_labels > DENSE_CELLS:
            raise InputError(
                f"{len(self)} tasks x {self.n_labels} labels are too many for one table; use top(k), at() or rows()"
            )
        return self.body.block(slice(None))

    def rows(self, size: int = 4096) -> Iterator[tuple[slice, Floats]]:
        """The rows in blocks of `size`, dense: (where, numbers). Works at any number of labels."""
        for begin in range(0, len(self), size):
            where = slice(begin, min(begin + size, len(self)))
            yield where, self.body.block(where)

    def top(self, k: int = 1) -> tuple[Ints, Floats]:
        """(labels, probabilities), each (n_tasks, k), most probable first; ties go to the earlier label."""
        return self.body.top(k)

    def at(self, label: Ints) -> Floats:
        """(n_tasks,) the probability of one label code a task."""
        return self.body.at(np.asarray(label))

    def codes(self) -> Ints:
        """(n_tasks,) the code of the most probable label."""
        return self.body.top(1)[0][:, 0]

    def hard(self) -> Names:
        """(n_tasks,) the most probable label by name."""
        return self.labels[self.codes()]

    @property
    def confidence(self) -> Floats:
        """(n_tasks,) the probability of the most probable label."""
        return self.body.top(1)[1][:, 0]

    def entropy(self) -> Floats:
        """(n_tasks,) in nats."""
        return self.body.entropy()

    # ---- where two tables meet

    def on(self, tasks: Iterable[object]) -> Self:
        """The rows of these tasks, in this order: the one place where tables meet, by task name."""
        wanted = as_names(tasks, "tasks")
        place = positions(self.tasks, wanted)
        if len(absent := wanted[place < 0]):
            raise InputError(
                f"{len(absent)} of {len(wanted)} tasks have no soft label here: {first_few(absent)}; use shared()"
            )
        return self._take(place, wanted)

    def shared(self, tasks: Iterable[object]) -> Self:
        """The rows of those of these tasks that are here, in the order asked; a note counts the absent."""
        wanted = as_names(tasks, "tasks")
        place = positions(self.tasks, wanted)
        absent = int((place < 0).sum())
        note = (f"{absent} of {len(wanted)} tasks have no soft label here",) if absent else ()
        return replace(self._take(place[place >= 0], wanted[place >= 0]), notes=self.notes + note)

    def on_labels(self, labels: Iterable[object]) -> Self:
        """The same beliefs over another list of labels that holds every label with mass."""
        wanted = as_names(labels, "labels")
        place = positions(wanted, self.labels)
        if len(self.labels) == len(wanted) and bool((place == np.arange(len(wanted))).all()):
            return replace(self, labels=wanted)
        moved = self.body.on_labels(place, len(wanted))
        lost = np.abs(moved.sums() - self.body.sums()) > SUM_TOLERANCE
        if lost.any():
            raise InputError(
                f"labels {first_few(self.labels[place < 0])} have mass on {int(lost.sum())} tasks but are not in the list"
            )
        return type(self)(moved, self.tasks, wanted, self.support, None, self.notes)

    def _take(self, place: Ints, names: Names) -> Self:
        support = None if self.support is None else self.support[place]
        return type(self)(self.body.take(place), names, self.labels, support, self.scale, self.notes)

    # ---- faces

    def columns(self) -> dict[str, NDArray[Any]]:
        """`task, label, confidence` and one `p:<label>` column per label, up to 64; beyond: `task, label, p`, long."""
        if self.n_labels > 64:
            return self._long()
        table: dict[str, NDArray[Any]] = {"task": self.tasks, "label": self.hard(), "confidence": self.confidence}
        prob = self.prob
        return table | {f"p:{label}": prob[:, k] for k, label in enumerate(as_text(self.labels).tolist())}

    def _head(self, n: int) -> dict[str, NDArray[Any]]:
        few = self._take(np.arange(min(n, len(self))), self.tasks[:n]).columns()
        return {name: column[:n] for name, column in few.items()}

    def _long(self) -> dict[str, NDArray[Any]]:
        """Listed candidates (or numbers above zero), one a row, best first within a task."""
        if isinstance(self.body, Candidates):
            row, label, mass = self.body.row, self.body.label.astype(np.int64), self.body.mass
            bare = np.flatnonzero(np.diff(self.body.start) == 0)  # all rest: named by its first label, so that it stays
            best, prob = self.body.take(bare).top(1)
            row, label = np.concatenate([row, bare]), np.concatenate([label, best[:, 0]])
            mass = np.concatenate([mass, prob[:, 0]])
        else:
            row, label = np.nonzero(self.body.prob)
            mass = self.body.prob[row, label]
        order = np.lexsort((label, -mass, row))
        return {"task": self.tasks[row[order]], "label": self.labels[label[order]], "p": mass[order]}

    def info(self) -> dict[str, object]:
        unseen = 0 if self.support is None else int((self.support == 0).sum())
        return {
            "tasks": len(self),
            "labels": self.n_labels,
            "tasks without votes": unseen or None,
            "sparse": True if self.is_sparse else None,
            "mean confidence": f"{self.confidence.mean():.3f}" if len(self) else None,
        }


def _table(prob: Any) -> Floats:
    """A copy of what a caller gives as a table of numbers."""
    try:
        table = np.array(prob)
    except ValueError:
        raise InputError("the rows of soft labels differ in length; every row needs one number a label") from None
    if table.dtype == object and not any(isinstance(cell, str) for cell in table.flat):
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("soft labels are numbers; some of these are not") from None
    if table.dtype.kind not in "fiub":
        raise InputError(f"soft labels are numbers; got {table.dtype}")
    return table
