"""Aggregate votes: `fit`, by the name of a method and its options."""

from pathlib import Path
from textwrap import fill
from typing import Any

from plurivox import aggregate
from plurivox.aggregate import Aggregator
from plurivox.core.errors import InputError
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset, as_votes
from plurivox.io.soft_label_files import as_soft_labels
from plurivox.workflows.unused_label_order import warn_if_no_aggregator_uses_order


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
    """Aggregate votes by the method of this name, with its options; return the Fit.

    `votes` are Votes, a Dataset, the path or the name of one, or a DataFrame with the columns task, worker and label.
    `gold` are labels that the method may use: SoftLabels, a file, or True for those of the data set. `start` is an
    earlier fit, or the file of one, to start from. `part` selects votes or counts if a data set has both.

    `help(pv.fit)` lists the methods; `print(pv.aggregate.methods)` describes them, and the help of a class, such as
    `help(pv.aggregate.DawidSkene)`, lists its options.

    >>> table = {"task": ["a", "a", "b"], "worker": ["ann", "bo", "ann"], "label": ["cat", "dog", "dog"]}
    >>> fit(table, "majority-vote", ties="share").soft.confidence
    array([0.5, 1. ])
    """
    made = aggregate.methods.make(method, **options)
    if isinstance(gold, bool):
        votes = as_dataset(votes) if gold else votes
        gold = _require_gold_of_dataset(votes) if gold else None
    warn_if_no_aggregator_uses_order(votes, [made])
    before = Fit.load(start) if isinstance(start, str | Path) else start
    if not isinstance(votes, Votes) or part is not None:
        votes = as_votes(votes, part, method_needing_names="" if "counts" in made.accepted_inputs() else made.name())
    return made.fit(votes, gold=as_soft_labels(gold), start=before, progress=progress)


def _require_gold_of_dataset(data: Dataset) -> SoftLabels:
    """Return the gold labels of a data set; raise InputError if it has none."""
    if data.gold is None:
        raise InputError(f"{data.name} has no gold labels; give a file of gold labels, or leave gold out (--gold)")
    return data.gold


# the list of methods in the help is generated, so that it is always complete
_names = fill(
    ", ".join(aggregate.methods.built_in_method_names),
    116,
    initial_indent="    Methods: ",
    subsequent_indent="    ",
    break_on_hyphens=False,
)
fit.__doc__ = f"{fit.__doc__}\n{_names}\n" if fit.__doc__ else None
