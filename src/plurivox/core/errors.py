"""Exceptions for user errors, the package's warning class, and helpers that format their messages."""

import difflib
import importlib
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import FrameType, ModuleType

PACKAGE_FOLDER = str(Path(__file__).parents[1]) + os.sep
MODULES_BETWEEN_CALLS = ("functools", "contextlib")  # their frames may stand between two frames of the package


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


def warn_user(text: str) -> None:
    """Issue a PlurivoxWarning that shows the line of the caller's code which called plurivox, not a line of plurivox.

    >>> with warnings.catch_warnings(record=True, action="always") as found:
    ...     warn_user("3 rows without a label dropped")
    >>> found[0].message
    PlurivoxWarning('3 rows without a label dropped')
    """
    frame = sys._getframe()
    while frame.f_back is not None and _is_between_caller_and_warning(frame):
        frame = frame.f_back
    shown_once = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__", "<unknown>")
    warnings.warn_explicit(text, PlurivoxWarning, frame.f_code.co_filename, frame.f_lineno, module, shown_once)


def _is_between_caller_and_warning(frame: FrameType) -> bool:
    """Return whether a frame runs code of the package, or a function of the standard library that calls the package back."""
    return (
        frame.f_code.co_filename.startswith(PACKAGE_FOLDER) or frame.f_globals.get("__name__") in MODULES_BETWEEN_CALLS
    )


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
