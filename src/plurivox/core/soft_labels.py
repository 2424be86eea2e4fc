"""SoftLabels: one distribution over labels per task, for aggregated, gold and predicted labels."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Bools, Floats, Ints, Names, as_readonly_array
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import (
    as_names,
    as_text,
    check_codes,
    duplicates,
    encode_with_names,
    positions,
    readonly_names,
)
from plurivox.core.soft_rows_dense_sparse import (
    DENSE_CELLS,
    SUM_TOLERANCE,
    Candidates,
    Dense,
    Rows,
    sum_rows_in_order_of_size,
)
from plurivox.core.votes import Votes

Estimand = Literal["truth", "people", "unknown"]  # what soft labels estimate
TIE_TOLERANCE = 1e-9  # probabilities this close to the highest are tied with it


@dataclass(frozen=True, eq=False, repr=False)
class SoftLabels(DataType):
    """Distribution over labels for each task: rows that sum to one, stored dense or sparse behind the same interface.

    `estimates` says what the probabilities are: `truth`, the probability that a label is right given the votes (evaluated
    with gold labels), or `people`, the probability that a person drawn from the crowd gives the label (evaluated with other
    people's votes); `unknown` for labels read from a table that does not say.

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
    support: Floats | None = None  # (n_tasks,) number of answers behind each row; 0: from the prior only
    scale: Floats | None = None  # (n_labels,) position of each label on a scale; None: labels have no order
    notes: tuple[str, ...] = ()
    estimates: Estimand = "unknown"

    version: ClassVar[int] = 2  # version 1 had no `estimates`; files of it load as "unknown"

    def __post_init__(self) -> None:
        if self.estimates not in get_args(Estimand):
            raise InputError(f"soft labels estimate one of {first_few(get_args(Estimand))}, not {self.estimates!r}")
        for name in ("tasks", "labels"):
            names = readonly_names(getattr(self, name), name)
            if len(twice := duplicates(names)):
                raise InputError(f"{name} of soft labels contain a name twice: {first_few(twice)}")
            object.__setattr__(self, name, names)
        if len(self.body) != len(self.tasks) or self.body.n_labels != len(self.labels):
            raise InputError(
                f"the soft labels have shape ({len(self.body)}, {self.body.n_labels}); "
                f"there are {len(self.tasks)} tasks and {len(self.labels)} labels"
            )
        self._check_probabilities()
        for name, whose in (("support", self.tasks), ("scale", self.labels)):
            if (column := getattr(self, name)) is not None:
                object.__setattr__(self, name, as_readonly_array(column, np.float64))
                if getattr(self, name).shape != whose.shape:
                    raise InputError(f"the {name} has {len(column)} values; soft labels need {len(whose)}")

    def _check_probabilities(self) -> None:
        """Raise InputError if the soft label of a task has a negative probability or does not sum to one."""
        sums, low = self.body.row_sums(), self.body.row_min()
        bad = ~(np.abs(sums - 1) <= SUM_TOLERANCE) | ~(low >= -SUM_TOLERANCE)
        if bad.any():
            at = np.flatnonzero(bad)
            raise InputError(
                f"soft labels must be 0 or more and sum to one; {len(at)} rows do not, such as task "
                f"{first_few(self.tasks[at[:1]])} with the sum {sums[at[0]]:.6g}"
            )

    # ---- constructors

    @classmethod
    def of(cls, prob: Any, tasks: Iterable[object], labels: Iterable[object], **rest: Any) -> Self:
        """Create soft labels from a (n_tasks, n_labels) array of probabilities."""
        return cls(Dense(_probabilities_to_array(prob)), as_names(tasks, "tasks"), as_names(labels, "labels"), **rest)

    @classmethod
    def one_hot(cls, codes: Ints, tasks: Iterable[object], labels: Iterable[object], **rest: Any) -> Self:
        """Create soft labels with probability 1 on one label code per task, stored sparse."""
        names, label = as_names(labels, "labels"), np.array(codes)
        check_codes(label, 0, len(names), "label")
        n = len(label)
        rows = Candidates(np.arange(n + 1), label, np.ones(n), np.zeros(n), len(names))
        return cls(rows, as_names(tasks, "tasks"), names, **rest)

    @classmethod
    def gold(cls, task: Iterable[object], label: Iterable[object], labels: Iterable[object] | None = None) -> Self:
        """Create soft labels with probability 1 on the known label of each task; tasks and labels are names, in any order.

        >>> SoftLabels.gold(["b", "a"], ["x", "y"]).hard().tolist()
        ['y', 'x']
        """
        tasks = as_names(task, "tasks")
        codes, names = encode_with_names(label, labels, "gold labels")
        if len(codes) != len(tasks):
            raise InputError(f"gold has {len(tasks)} tasks and {len(codes)} labels")
        order = np.argsort(tasks, kind="stable")
        return cls.one_hot(codes[order], tasks[order], names, estimates="truth")

    @classmethod
    def shares(cls, vote_counts: Floats | Candidates, tasks: Names, labels: Names, **rest: Any) -> Self:
        """Create soft labels from vote counts (n_tasks, n_labels), each row divided by its sum; a
        row of zeros becomes uniform.
        """
        rows: Rows
        total: Floats
        if isinstance(vote_counts, Candidates):
            total = vote_counts.sum_candidates_in_order_of_size(vote_counts.mass) + vote_counts.rest
            mass = vote_counts.mass / np.maximum(total, 1e-300)[vote_counts.row_of_each_candidate]
            rows = replace(vote_counts, mass=mass, rest=np.where(total > 0, 0.0, 1.0))
        else:
            total = sum_rows_in_order_of_size(vote_counts)[:, None]
            rows = Dense(
                np.where(total > 0, vote_counts / np.where(total > 0, total, 1), 1 / max(vote_counts.shape[1], 1))
            )
        return cls(rows, tasks, labels, **rest)

    @classmethod
    def from_vote_shares(cls, votes: Votes) -> Self:
        """Create soft labels from vote shares, with the number of answers as support; uniform for a task without votes.

        Stored sparse if the dense table would be large.

        >>> SoftLabels.from_vote_shares(Votes.of(task=["a", "a"], worker=[1, 2], label=["x", "y"], tasks=["a", "b"])).support
        array([2., 0.])
        """
        many = votes.n_tasks * votes.n_labels > DENSE_CELLS
        counts = votes.sparse_vote_counts() if many else votes.counts()
        return cls.shares(
            counts, votes.tasks, votes.labels, support=votes.support, scale=votes.scale, estimates="people"
        )

    # ---- contents

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
        """(n_tasks, n_labels) the probabilities as a dense array. Raise InputError if sparse labels would be too large."""
        if isinstance(self.body, Dense):
            return self.body.prob
        if len(self) * self.n_labels > DENSE_CELLS:
            raise InputError(
                f"{len(self)} tasks x {self.n_labels} labels are too many for one array; use top(k), at() or rows()"
            )
        return self.body.dense_block(slice(None))

    def rows(self, block_size: int = 4096) -> Iterator[tuple[slice, Floats]]:
        """Yield (slice of tasks, (n, n_labels) probabilities) of consecutive blocks of tasks, also if one array would
        be too large.
        """
        for begin in range(0, len(self), block_size):
            where = slice(begin, min(begin + block_size, len(self)))
            yield where, self.body.dense_block(where)

    def top(self, k: int = 1) -> tuple[Ints, Floats]:
        """Return (label codes, probabilities), each (n_tasks, k), of the k most probable labels of each task; ties:
        lower code first.
        """
        return self.body.top_label_codes_and_probs(k)

    def at(self, label_of_task: Ints) -> Floats:
        """(n_tasks,) the probability of one label per task; `label_of_task` (n_tasks,) are label codes."""
        return self.body.prob_of_labels(np.asarray(label_of_task))

    def most_probable_label_codes(self) -> Ints:
        """(n_tasks,) the code of the most probable label of each task."""
        return self.body.top_label_codes_and_probs(1)[0][:, 0]

    def hard(self) -> Names:
        """(n_tasks,) the name of the most probable label of each task."""
        return self.labels[self.most_probable_label_codes()]

    @property
    def confidence(self) -> Floats:
        """(n_tasks,) the probability of the most probable label of each task."""
        return self.body.top_label_codes_and_probs(1)[1][:, 0]

    def has_tie_at_top(self) -> Bools:
        """(n_tasks,) whether two or more labels of the task are equally, and most, probable."""
        tied = self.confidence <= 0.5 + TIE_TOLERANCE
        rows = np.flatnonzero(tied) if self.n_labels > 1 else np.arange(0)
        tied[:] = False
        if len(rows):
            first, second = self.body.take(rows).top_label_codes_and_probs(2)[1].T
            tied[rows] = first - second <= TIE_TOLERANCE
        return tied

    def entropy(self) -> Floats:
        """(n_tasks,) the entropy of each task's distribution, in nats."""
        return self.body.entropy_per_row()

    # ---- selection and alignment by name

    def on(self, tasks: Iterable[object]) -> Self:
        """Return the soft labels of the given tasks (names), in their order. Raise InputError if a task has no soft label."""
        wanted = as_names(tasks, "tasks")
        place = positions(self.tasks, wanted)
        if len(absent := wanted[place < 0]):
            raise InputError(
                f"{len(absent)} of {len(wanted)} tasks have no soft label: {first_few(absent)}; use shared()"
            )
        return self._select_tasks(place, wanted)

    def shared(self, tasks: Iterable[object]) -> Self:
        """Return the soft labels of the given tasks (names) that have one, in their order; a note counts the tasks without."""
        wanted = as_names(tasks, "tasks")
        place = positions(self.tasks, wanted)
        absent = int((place < 0).sum())
        note = (f"{absent} of {len(wanted)} tasks have no soft label",) if absent else ()
        return replace(self._select_tasks(place[place >= 0], wanted[place >= 0]), notes=self.notes + note)

    def on_labels(self, labels: Iterable[object]) -> Self:
        """Return the soft labels with columns for another list of labels. Raise InputError if that drops a label with
        probability.
        """
        wanted = as_names(labels, "labels")
        place = positions(wanted, self.labels)
        if len(self.labels) == len(wanted) and bool((place == np.arange(len(wanted))).all()):
            return replace(self, labels=wanted)
        moved = self.body.move_labels(place, len(wanted))
        lost = np.abs(moved.row_sums() - self.body.row_sums()) > SUM_TOLERANCE
        if lost.any():
            raise InputError(
                f"labels {first_few(self.labels[place < 0])} have mass on {int(lost.sum())} tasks but are not in the list"
            )
        return type(self)(moved, self.tasks, wanted, self.support, None, self.notes, self.estimates)

    def _select_tasks(self, row_index: Ints, task_names: Names) -> Self:
        """Return the soft labels in the rows `row_index`, renamed to `task_names`."""
        support = None if self.support is None else self.support[row_index]
        body = self.body.take(row_index)
        return type(self)(body, task_names, self.labels, support, self.scale, self.notes, self.estimates)

    # ---- table form and repr

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the soft labels as a table: task, label, confidence, `p:<label>`; with over 64 labels a long one:
        task, label, p.
        """
        if self.n_labels > 64:
            return self._columns_in_long_format()
        table: dict[str, NDArray[Any]] = {"task": self.tasks, "label": self.hard(), "confidence": self.confidence}
        prob = self.prob
        return table | {f"p:{label}": prob[:, k] for k, label in enumerate(as_text(self.labels).tolist())}

    def _table_of_first_rows(self, n: int) -> dict[str, NDArray[Any]]:
        few = self._select_tasks(np.arange(min(n, len(self))), self.tasks[:n]).columns()
        return {name: column[:n] for name, column in few.items()}

    def _columns_in_long_format(self) -> dict[str, NDArray[Any]]:
        """Return a long table (task, label, p) of the labels with probability above zero, most probable first per task."""
        if isinstance(self.body, Candidates):
            row, label, mass = self.body.row_of_each_candidate, self.body.label.astype(np.int64), self.body.mass
            # uniform rows: keep one label so that the task is listed
            bare = np.flatnonzero(np.diff(self.body.start) == 0)
            best, prob = self.body.take(bare).top_label_codes_and_probs(1)
            row, label = np.concatenate([row, bare]), np.concatenate([label, best[:, 0]])
            mass = np.concatenate([mass, prob[:, 0]])
        else:
            row, label = np.nonzero(self.body.prob)
            mass = self.body.prob[row, label]
        order = np.lexsort((label, -mass, row))
        return {"task": self.tasks[row[order]], "label": self.labels[label[order]], "p": mass[order]}

    def summary_values(self) -> dict[str, object]:
        without_votes = 0 if self.support is None else int((self.support == 0).sum())
        return {
            "tasks": len(self),
            "labels": self.n_labels,
            "estimates": None if self.estimates == "unknown" else self.estimates,
            "tasks without votes": without_votes or None,
            "sparse": True if self.is_sparse else None,
            "mean confidence": f"{self.confidence.mean():.3f}" if len(self) else None,
        }


def _probabilities_to_array(prob: Any) -> Floats:
    """Return a copy of a table of probabilities as an array. Raise InputError if rows differ in length or are not numbers."""
    try:
        table = np.array(prob)
    except ValueError:
        raise InputError("the rows of soft labels differ in length; every row needs one number per label") from None
    if table.dtype == object and not any(isinstance(cell, str) for cell in table.flat):
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("soft labels must be numbers; some values are not") from None
    if table.dtype.kind not in "fiub":
        raise InputError(f"soft labels must be numbers; got {table.dtype}")
    return table
