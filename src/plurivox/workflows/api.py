"""The short ways in Python: a method by its name, any noun from its file."""

from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from plurivox import aggregate, io, simulate
from plurivox.aggregate import Aggregator
from plurivox.core.base import Noun
from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError
from plurivox.core.progress import Watch, quiet
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.io.features import Features
from plurivox.io.folder_check import may_replace
from plurivox.simulate import Simulated, Simulator


def fit(
    votes: Votes | Dataset,
    method: str | Aggregator = "vote-shares",
    *,
    gold: SoftLabels | None = None,
    start: Fit | None = None,
    watch: Watch = quiet,
    **options: Any,
) -> Fit:
    """Aggregate votes, or those of a data set, by a method of that name, with its options.

    `help(pv.fit)` lists the methods; `print(pv.aggregate.methods)` says what each does, and the help of its class, such as
    `help(pv.aggregate.DawidSkene)`, has its options.

    >>> votes = Votes.of(task=["a", "a", "b"], worker=["ann", "bo", "ann"], label=["cat", "dog", "dog"])
    >>> fit(votes, "majority-vote", ties="share").soft.confidence
    array([0.5, 1. ])
    """
    return aggregate.methods.make(method, **options).fit(_votes_in(votes), gold=gold, start=start, watch=watch)


# the methods are read off the folder, so that the help always names all of them
_names = fill(
    ", ".join(aggregate.methods.built_in),
    116,
    initial_indent="    Methods: ",
    subsequent_indent="    ",
    break_on_hyphens=False,
)
fit.__doc__ = f"{fit.__doc__}\n{_names}\n" if fit.__doc__ else None


def _votes_in(given: object) -> Votes:
    """What was given, where it is votes or has some; else how to come to votes."""
    if isinstance(given, Dataset):
        return given.crowd()
    if isinstance(given, Votes):
        return given
    way = "pv.read(path)" if isinstance(given, str | Path) else "pv.votes(table, task=..., worker=..., label=...)"
    raise InputError(f"fit takes Votes or a Dataset, and got {type(given).__name__}; make votes first: {way}")


def simulate_crowd(
    strategy: str | Simulator = "independent-confusion",
    truth: SoftLabels | None = None,
    *,
    matrices: Confusion | None = None,
    **options: Any,
) -> Simulated:
    """A simulated crowd with known truth; true labels, and how workers answer, may be given.

    >>> simulate_crowd("hammer-spammer", n_tasks=30, n_workers=5, feedback=3, ratio=0.4).votes
    <Votes: 90 votes, 30 tasks, 5 workers, 5 labels>
    """
    return simulate.methods.make(strategy, **options).draw(truth, matrices)


def load(path: str | Path) -> Noun:
    """Any noun that was saved."""
    return Noun.load(path)


def write_crowd(
    crowd: Simulated, folder: str | Path, *, command: str = "", replace: bool = False, form: str = "parquet"
) -> Dataset:
    """Write a simulated crowd as a data-set folder: votes, answers, gold, features, what workers and tasks are like.

    The command that drew it goes in too. Parts that a crowd does not have are left out.
    """
    votes = crowd.votes
    tables: dict[str, Any] = {"matrices": crowd.confusion.columns()}
    if crowd.level is not None:
        words = as_names([simulate.LEVELS[one] for one in crowd.level.tolist()])
        tables["difficulties"] = {"task": votes.tasks, "level": words}
    if crowd.answers is not None and crowd.faults is not None:
        at = np.flatnonzero(crowd.faults != "")
        tables["faults"] = {"answer": at, "fault": crowd.faults[at]}
    if replace:
        may_replace(folder)
    parts: dict[str, Any] = {"votes": votes, "gold": crowd.truth, "answers": crowd.answers}
    if crowd.features is not None:
        parts["features"] = Features(votes.tasks, crowd.features)
    if crowd.traits:
        parts["workers"] = io.frame_of({"worker": votes.workers, **crowd.traits}, "workers")
    data = Dataset(
        Path(folder).resolve().name,
        about={"description": f"simulated: {crowd.made_by}", "command": command},
        tables={name: partial(io.frame_of, columns, name) for name, columns in tables.items()},
        **parts,
    )
    io.write(data, Path(folder), replace=replace, form=form)
    return data
