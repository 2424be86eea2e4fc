"""ForeignContents: what was read from a file or folder of another program; FieldNames: the fields that the caller named."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.count_text import count_text
from plurivox.core.name_encoding import as_names, distinct_names, positions, sorted_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import UNNAMED, Votes


@dataclass(frozen=True)
class FieldNames:
    """The fields of a file that the caller named (None: find them), and the list of all labels, in order."""

    task: str | None = None  # field or column that names the tasks
    worker: str | None = None  # field or column that names the workers
    label: str | None = None  # field, column or question whose answers are the votes
    labels: tuple[object, ...] | None = None


@dataclass(frozen=True)
class ForeignContents:
    """Votes, gold labels, images, splits, items and workers read from a file or folder of another program."""

    name: str
    votes: Votes | None = None
    gold: SoftLabels | None = None
    images: Mapping[str, Path] | None = None  # task -> image file
    splits: Mapping[str, str] | None = None  # task -> "train", "val" or "test"
    items: pl.DataFrame | None = None  # the labelled items: `task` and the columns of the program
    workers: pl.DataFrame | None = None  # traits of each worker: `worker` and the columns of the program
    tables: Mapping[str, pl.DataFrame] | None = None  # further tables, by name
    repeats: str = "keep"  # which of several answers of a worker to one task counts, if the caller does not say
    notes: tuple[str, ...] = ()  # what was dropped, merged or inferred, and how often


def counted_notes(*number_singular_plural: tuple[int, str, str]) -> tuple[str, ...]:
    """Return a note for each (number, text for one, text for several) whose number is not 0.

    >>> counted_notes((1, "draft was left out", "drafts were left out"), (0, "reply was late", "replies were late"))
    ('1 draft was left out',)
    """
    return tuple(count_text(number, one, several) for number, one, several in number_singular_plural if number)


def votes_with_unnamed(
    task: Sequence[object],
    worker: Sequence[object | None],
    label: Sequence[object],
    *,
    tasks: Iterable[object],
    workers: Iterable[object] | None = None,
    labels: Iterable[object] | None = None,
    ordered: bool | Iterable[float] = False,
    **further_columns: NDArray[Any] | None,
) -> Votes:
    """Return Votes from lists of task, worker and label names; a worker that is None makes a vote without worker name."""
    tasks = sorted_names(as_names(tasks, "tasks"))
    if None not in worker:
        return Votes.of(
            task, worker, label, tasks=tasks, workers=workers, labels=labels, ordered=ordered, **further_columns
        )
    bare = Votes.of(task, None, label, tasks=tasks, labels=labels, ordered=ordered)  # for the names
    is_named = np.array([name is not None for name in worker], bool)
    given = as_names([name for name in worker if name is not None], "workers")
    known = distinct_names(given if workers is None else as_names(workers, "workers"))
    codes = np.full(len(is_named), UNNAMED)
    codes[is_named] = positions(known, given)
    return Votes.coded(
        task=positions(bare.tasks, as_names(task, "tasks")),
        worker=codes,
        label=positions(bare.labels, as_names(label, "labels")),
        tasks=bare.tasks,
        workers=known,
        labels=bare.labels,
        scale=bare.scale,
        **further_columns,
    )
