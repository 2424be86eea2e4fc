"""Aggregate votes by a method's name."""

from pathlib import Path
from textwrap import fill
from typing import Any

from plurivox import aggregate
from plurivox.aggregate import Aggregator
from plurivox.core.errors import InputError
from plurivox.core.progress import Progress, no_progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.soft_label_files import as_soft_labels


def fit(
    votes: Any,
    method: str | Aggregator = "vote-shares",
    *,
    gold: SoftLabels | str | Path | bool | None = None,
    start: Fit | str | Path | None = None,
    part: str | None = None,
    progress: Progress = no_progress,
    **options: Any,
) -> Fit:
    """Aggregate votes by a method of that name, with its options.

    `votes` are Votes, a Dataset, the path or the name of one, or a DataFrame with the columns task, worker and label.
    `gold` are labels that the method may use: SoftLabels, a file, or True for those of the data set. `start` is an
    earlier fit, or the file of one, to go on from. `part` says which to take where a data set has votes and counts.

    `help(pv.fit)` lists the methods; `print(pv.aggregate.methods)` says what each does, and the help of its class, such as
    `help(pv.aggregate.DawidSkene)`, has its options.

    >>> table = {"task": ["a", "a", "b"], "worker": ["ann", "bo", "ann"], "label": ["cat", "dog", "dog"]}
    >>> fit(table, "majority-vote", ties="share").soft.confidence
    array([0.5, 1. ])
    """
    made = aggregate.methods.make(method, **options)
    if isinstance(gold, bool):
        votes = as_dataset(votes) if gold else votes
        gold = _gold_in(votes) if gold else None
    before = Fit.load(start) if isinstance(start, str | Path) else start
    if not isinstance(votes, Votes) or part is not None:
        votes = as_votes(votes, part, needs_names="" if "counts" in made.can_take() else made.name())
    return made.fit(votes, gold=as_soft_labels(gold), start=before, progress=progress)


def _gold_in(data: Dataset) -> SoftLabels:
    if data.gold is None:
        raise InputError(f"{data.name} has no gold labels; leave --gold out")
    return data.gold


# the methods are read off the folder, so that the help always names all of them
_names = fill(
    ", ".join(aggregate.methods.built_in),
    116,
    initial_indent="    Methods: ",
    subsequent_indent="    ",
    break_on_hyphens=False,
)
fit.__doc__ = f"{fit.__doc__}\n{_names}\n" if fit.__doc__ else None
