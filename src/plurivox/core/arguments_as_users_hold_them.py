"""Let functions of SoftLabels, Votes and Answers take what users hold: a DataFrame, a mapping {task: label}, a path, ....

A step such as `evaluate` does not import `io`, which reads these. The readers are therefore named here, as entry points are,
and imported when an argument is not of our types.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

P = ParamSpec("P")
R = TypeVar("R")
Crowd = TypeVar("Crowd", Answers, Votes)
READERS = {  # type -> module and function that read it
    SoftLabels: ("plurivox.io.soft_label_inputs", "as_soft_labels"),
    Votes: ("plurivox.io.dataset_reader", "as_votes"),
    Answers: ("plurivox.io.dataset_reader", "as_answers"),
}


def to_labels(given: Any, name: str = "labels") -> SoftLabels:
    """Return SoftLabels unchanged; read them from anything else that holds labels of tasks; `name` is used in errors."""
    found = _read(SoftLabels, given)
    if not isinstance(found, SoftLabels):
        raise InputError(f"{name} is None; give SoftLabels, a table with task and label, {{task: label}} or a file")
    return found


def to_votes_or_answers(given: Crowd) -> Crowd:
    """Return Votes or Answers unchanged; read votes from anything else that holds them."""
    if isinstance(given, Votes | Answers):
        return given
    votes: Any = _read(Votes, given)
    return votes


def to_votes_or_labels(given: Any) -> Votes | SoftLabels:
    """Return Votes or SoftLabels unchanged; read anything else as votes, or as labels of tasks if it has one per task.

    A numpy matrix and a table whose columns are not recognised have one row per task and one column per worker.
    """
    if isinstance(given, Votes | SoftLabels):
        return given
    reader = importlib.import_module("plurivox.io.dataset_reader")
    found: Votes | SoftLabels = reader.as_votes_or_soft_labels(given)
    return found


def takes_what_users_hold(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with arguments read that are not of the type of their parameter: SoftLabels, Votes or Answers.

    A parameter of type Mapping[str, SoftLabels] has its values read.

    >>> @takes_what_users_hold
    ... def n_labels(soft: SoftLabels) -> int:
    ...     return soft.n_labels
    >>> n_labels({"a.png": "cat", "b.png": "dog"})
    2
    """
    parameters = inspect.signature(function).parameters
    kinds = {
        name: kind for name, one in parameters.items() if (kind := _reader_of_parameter(one.annotation)) is not None
    }
    places = {place: kinds[name] for place, name in enumerate(parameters) if name in kinds}

    @wraps(function)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        given: list[Any] = list(args)
        for place, kind in places.items():
            if place < len(given):
                given[place] = kind(given[place])
        named: Any = {name: kinds[name](value) if name in kinds else value for name, value in kwargs.items()}
        return function(*given, **named)

    return reading


def _reader_of_parameter(annotation: Any) -> Callable[[Any], Any] | None:
    """Return the function that reads an argument, by the type of its parameter or of the values of a mapping; else None."""
    for kind in READERS:
        if annotation in (kind, kind | None):
            return partial(_read, kind)
        if annotation == Mapping[str, kind]:  # type: ignore[valid-type]
            return partial(_read_values, kind)
    return None


def _read_values(kind: type, given: Any) -> Any:
    """Return a mapping with its values read; anything else unchanged."""
    return {name: _read(kind, value) for name, value in given.items()} if isinstance(given, Mapping) else given


def _read(kind: type, given: Any) -> Any:
    """Return a value of this type, or None, unchanged; read it from anything else."""
    if given is None or isinstance(given, kind):
        return given
    module, function = READERS[kind]
    return getattr(importlib.import_module(module), function)(given)
