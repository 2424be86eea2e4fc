"""Aggregate votes: `fit`, by the name of a method and its options."""

from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import Any

from plurivox import aggregate
from plurivox.aggregate import Aggregator
from plurivox.core.errors import InputError, OptionError
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset, as_votes, dataset_of_given, read
from plurivox.io.soft_label_inputs import as_soft_labels
from plurivox.workflows.gold_of_voted_tasks import check_gold_labels_to_fit
from plurivox.workflows.unused_label_order import warn_if_no_aggregator_uses_order

READING_OPTIONS = ("task", "worker", "label", "wide", "missing", "repeats", "labels", "ordered")
WHAT_IT_IS: dict[Estimand, str] = {
    "truth": "the probability that a label is right",
    "people": "the share of people who would give a label",
    "unknown": "something it does not declare",
}


def fit(
    votes: Any,
    method: str | Aggregator | None = None,
    *,
    for_: Estimand | None = None,
    gold: Any = None,
    start: Fit | str | Path | None = None,
    part: str | None = None,
    progress: Progress = no_progress,
    **options: Any,
) -> Fit:
    """Aggregate votes by the method of this name, with its options; return the Fit.

    `for_` says what the soft labels are to estimate: `truth`, the probability that a label is right, or `people`, the share of
    people who would give it. Without a method, the default for it is used, log-pool or calibrated-shares (default: truth), and
    the notes of the soft labels say so. A method that estimates the other quantity is refused if `for_` is given.

    `votes` are Votes, a Dataset, the path or the name of one, a DataFrame or a list of records (one row per vote, or wide),
    or a numpy matrix with a row per task and a column per worker. Options of `pv.votes` say how to read them: `task="image"`,
    `missing=-1`, ... `gold` are labels that the method may use: SoftLabels, {task: label}, a DataFrame, a pandas Series with
    the tasks as index, a file, or True for those of the data set. `start` is an earlier fit, or the file of one, to start
    from. `part` selects votes or counts if a data set has both.

    `help(pv.fit)` lists the methods; `print(pv.aggregate.methods)` describes them, and the help of a class, such as
    `help(pv.aggregate.DawidSkene)`, lists its options.

    >>> table = {"task": ["a", "a", "b"], "worker": ["ann", "bo", "ann"], "label": ["cat", "dog", "dog"]}
    >>> fit(table, "majority-vote", ties="share").soft.confidence
    array([0.5, 1. ])
    """
    options, how = split_off_reading_options(method, options)
    made = make_method_for(method, for_, **options)
    if how:
        votes = read(votes, **how) if isinstance(votes, str | Path) else dataset_of_given(votes, **how)
    if isinstance(gold, bool):
        votes = as_dataset(votes) if gold else votes
        gold = _require_gold_of_dataset(votes) if gold else None
    warn_if_no_aggregator_uses_order(votes, [made])
    before = Fit.load(start) if isinstance(start, str | Path) else start
    if not isinstance(votes, Votes) or part is not None:
        votes = as_votes(votes, part, method_needing_names="" if "counts" in made.accepted_inputs() else made.name())
    known = as_soft_labels(gold, votes)
    if known is not None and "gold" in made.accepted_inputs():
        check_gold_labels_to_fit(votes, known)
    fitted = made.fit(votes, gold=known, start=before, progress=progress)
    if method is not None:
        return fitted
    return fitted.with_soft(replace(fitted.soft, notes=(*fitted.soft.notes, note_on_default(for_ or "truth"))))


def split_off_reading_options(
    method: str | Aggregator | None, options: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (options of the method, options of `votes`) from the options that a caller gave.

    >>> split_off_reading_options("dawid-skene", {"missing": -1, "tol": 0.01})
    ({'tol': 0.01}, {'missing': -1})
    """
    given = [name for name in options if name in READING_OPTIONS]
    if not given:
        return options, {}
    known = aggregate.methods.make("log-pool" if method is None else method)
    how = {name: options[name] for name in given if name not in {one.name for one in known.options()}}
    return {name: value for name, value in options.items() if name not in how}, how


def make_method_for(method: str | Aggregator | None, for_: Estimand | None = None, **options: Any) -> Aggregator:
    """Return the aggregator of this name or spec with these options; without one, the default for `for_` (default: truth).

    Raise OptionError if it does not estimate what `for_` says.
    """
    check_estimand(for_)
    made = aggregate.methods.make(aggregate.DEFAULT_METHODS[for_ or "truth"] if method is None else method, **options)
    if for_ is not None and made.estimated_quantity() != for_:
        raise OptionError(
            f"{made.name()} estimates {WHAT_IT_IS[made.estimated_quantity()]}, not {WHAT_IT_IS[for_]}; the default for "
            f"{for_} is {aggregate.DEFAULT_METHODS[for_]}"
        )
    return made


def check_estimand(for_: str | None) -> None:
    """Raise OptionError if `for_` is given and not truth or people."""
    if for_ is not None and for_ not in aggregate.DEFAULT_METHODS:
        raise OptionError(f"for_ (--for) must be truth or people; got {for_!r}")


def note_on_default(for_: Estimand) -> str:
    """Return the sentence that says which default method was used."""
    return f"no method was given: used {aggregate.DEFAULT_METHODS[for_]}, the default for {for_} ({WHAT_IT_IS[for_]})"


def _require_gold_of_dataset(data: Dataset) -> SoftLabels:
    """Return the gold labels of a data set; raise InputError if it has none."""
    if data.gold is None:
        raise InputError(
            f"{data.name} has no gold labels; give them: gold='gold.csv' (--gold gold.csv), or leave gold out"
        )
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
