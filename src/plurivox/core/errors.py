"""Every error a user can cause, and the words they share."""

import difflib
import importlib
from collections.abc import Iterable
from types import ModuleType


class PlurivoxError(Exception):
    """A mistake that the person at the keyboard can mend; its text says what, where and what to do."""


class InputError(PlurivoxError):
    """Data that cannot be what it should be."""


class OptionError(PlurivoxError):
    """An option with a value it cannot take."""


class UnknownName(PlurivoxError):
    """A method, data set or column that is not there; the nearest names are in the text."""


class MissingExtra(PlurivoxError):
    """A package that one of the extras brings is not installed."""


class PlurivoxWarning(UserWarning):
    """Something was dropped, merged or guessed, and how often."""


def first_few(culprits: Iterable[object], most: int = 3) -> str:
    """Name at most `most` culprits and count the rest.

    >>> first_few(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    listed = [repr(_plain(one)) for one in culprits]
    rest = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {rest} more" if rest > 0 else "")


def unknown_name(kind: str, name: str, names: Iterable[str]) -> UnknownName:
    """The error for a name that is not among `names`, with the nearest of them.

    >>> unknown_name("method", "dawid-sken", ["dawid-skene", "glad"])
    UnknownName("there is no method 'dawid-sken'; did you mean 'dawid-skene'?")
    """
    known = sorted(names)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    elif known:
        hint = f"there are: {', '.join(known[:12])}{', ...' if len(known) > 12 else ''}"
    else:
        hint = "there are none"
    return UnknownName(f"there is no {kind} {name!r}; {hint}")


def require_package(package: str, purpose: str, install: str) -> ModuleType:
    """Import an optional package, or say how to get it.

    >>> require_package("no_such_package", "this example", "pip install 'plurivox[all]'")
    Traceback (most recent call last):
    plurivox.core.errors.MissingExtra: this example needs no_such_package; run: pip install 'plurivox[all]'
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as cause:
        raise MissingExtra(f"{purpose} needs {package}; run: {install}") from cause


def _plain(value: object) -> object:
    """A numpy scalar as the Python value it stands for, so that messages read well."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value
