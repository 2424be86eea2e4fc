"""What a workflow is given: a data set, votes, a path or a DataFrame; and which of a data set's parts it works on."""

import warnings
from functools import partial
from pathlib import Path
from typing import Any

from plurivox import io
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, PlurivoxWarning, some
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset

SPOKEN = ("answers", "votes", "counts")  # the parts that hold what people said
AS_READ = ("answers", "votes", "counts", "votes_as_read")  # tables with what was said before it was cleaned


def dataset_of(given: Any) -> Dataset:
    """The data set given, or named by a path; Votes, Answers and a DataFrame of votes become one that holds them alone.

    >>> dataset_of({"task": ["a"], "worker": ["ann"], "label": ["cat"]})
    <Dataset the table: votes>
    """
    if isinstance(given, Dataset):
        return given
    if isinstance(given, str | Path):
        return io.read(given)
    if isinstance(given, Votes):
        return Dataset("the votes", votes=given)
    if isinstance(given, Answers):
        return Dataset("the answers", answers=given)
    return Dataset("the table", votes=io.votes(given))


def crowd_of(given: Any, part: str | None = None, *, needs_names: str = "") -> Votes:
    """The votes, or the counts, to work on: those of the `part` named, else of the one that covers more tasks.

    `needs_names` is the name of a method that must know who voted, "" where none must: counts are then refused where
    votes are there too. Warns where counts are taken although nobody asked for them.
    """
    if isinstance(given, Votes) and part is None:
        return given
    data = dataset_of(given)
    crowd = data.crowd(part)
    if part == "votes" or not (data.has("votes") and data.has("counts")) or crowd is not data.counts:
        return crowd
    votes = data.votes
    assert votes is not None
    if needs_names:
        raise InputError(
            f"{needs_names} must know who voted; the counts of {data.name} ({crowd.n_tasks:,} tasks) hold no names. "
            f"Its votes ({votes.n_tasks:,} tasks) do: --part votes"
        )
    if part is None:
        warnings.warn(
            f"{data.name}: counts cover {crowd.n_tasks:,} tasks, votes {votes.n_tasks:,}; "
            "counts are taken (--part votes for the others)",
            PlurivoxWarning,
            stacklevel=3,
        )
    return crowd


def soft_given(given: SoftLabels | str | Path | None) -> SoftLabels | None:
    """Soft labels, or those of the file at a path."""
    return io.read_soft(given) if isinstance(given, str | Path) else given


def gold_of(data: Dataset, given: SoftLabels | str | Path | None) -> SoftLabels | None:
    """The known labels: those given, or else those of the data set."""
    return data.gold if given is None else soft_given(given)


def known_of(votes: Votes, gold: SoftLabels, where: str = "") -> SoftLabels:
    """The known labels of tasks with a vote; raises where there are none, with `where` before the message."""
    known = gold.shared(votes.voted)
    if not len(known):
        raise InputError(
            f"{where}no task has both a vote and a known label; there are votes on {some(votes.tasks)}, "
            f"known labels of {some(gold.tasks)}"
        )
    return known


def with_parts(data: Dataset, said: dict[str, Answers | Votes]) -> Dataset:
    """The data set with these answers, votes or counts in the place of all it had; the rest is read when it is needed."""
    rest = {one: partial(getattr, data, one) for one in data.parts() if one not in SPOKEN}
    tables = {name: table for name, table in data.tables.items() if name not in AS_READ}
    if "audit" in tables:  # of an earlier cleaning: kept beside the new one
        number = next(n for n in range(1, 10**6) if f"audit_{n}" not in tables)
        tables[f"audit_{number}"] = tables.pop("audit")
    return Dataset(data.name, about=data.about, tables=tables, path=data.path, **said, **rest)
