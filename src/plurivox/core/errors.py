"""Exceptions for user errors, the package's warning class, and helpers that format their messages."""

import difflib
import importlib
from collections.abc import Iterable
from types import ModuleType


class PlurivoxError(Exception):
    """Base class of errors that the user can fix; the message says what is wrong, where, and what to do."""


class InputError(PlurivoxError):
    """Error: input data are invalid or inconsistent, or a file cannot be read or written."""


class OptionError(PlurivoxError):
    """Error: an option of a method or command has an invalid value."""


class UnknownName(PlurivoxError):
    """Error: no method, data set, option or column has the given name; the message suggests similar names."""


class MissingExtra(PlurivoxError):
    """Error: an optional Python package is not installed; the message has the install command."""


class PlurivoxWarning(UserWarning):
    """Warning that rows were dropped, merged or inferred, with their number, or that a name is deprecated."""


def first_few(values_for_message: Iterable[object], max_listed: int = 3) -> str:
    """Return a text for error messages that lists the first `max_listed` values and counts the others: "'a', 'b' and 2 more".

    >>> first_few(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    listed = [repr(_to_python_scalar(one)) for one in values_for_message]
    rest = len(listed) - max_listed
    return ", ".join(listed[:max_listed]) + (f" and {rest} more" if rest > 0 else "")


def unknown_name_error(kind: str, name: str, valid_names: Iterable[str]) -> UnknownName:
    """Return (not raise) an UnknownName error for `name`, with the most similar of the `valid_names`.

    >>> unknown_name_error("method", "dawid-sken", ["dawid-skene", "glad"])
    UnknownName("there is no method 'dawid-sken'; did you mean 'dawid-skene'?")
    """
    known = sorted(valid_names)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    elif known:
        hint = f"available: {', '.join(known[:12])}{', ...' if len(known) > 12 else ''}"
    else:
        hint = "none are available"
    return UnknownName(f"there is no {kind} {name!r}; {hint}")


def require_package(package: str, purpose: str, install: str) -> ModuleType:
    """Import and return an optional package. Raise MissingExtra with the install command if it is missing.

    >>> require_package("no_such_package", "this example", "pip install 'plurivox[all]'")
    Traceback (most recent call last):
    plurivox.core.errors.MissingExtra: this example needs no_such_package; run: pip install 'plurivox[all]'
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as cause:
        raise MissingExtra(f"{purpose} needs {package}; run: {install}") from cause


def _to_python_scalar(value: object) -> object:
    """Return a numpy scalar as a Python value, other values unchanged."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value
