"""Names of tasks, workers and labels: numpy arrays of text, whole numbers, numbers or truth values.

Names keep their meaning: `1`, `1.0`, `True` and `"1"` stay what they were. Text lives in numpy's variable-width
string type, so a million names are no million Python objects.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.dtypes import StringDType
from numpy.typing import NDArray

from plurivox.core.errors import InputError, some

Ints: TypeAlias = NDArray[np.integer[Any]]
Floats: TypeAlias = NDArray[np.floating[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Names: TypeAlias = NDArray[Any]

TEXT = StringDType()
KINDS = {"T": "text", "i": "whole numbers", "f": "numbers", "b": "truth values"}


def as_names(values: Iterable[object] | NDArray[Any], what: str = "names") -> Names:
    """Any sequence of one kind of value as an array of names; mixed kinds and missing values are errors.

    >>> as_names(["cat", "dog"])
    array(['cat', 'dog'], dtype=StringDType())
    >>> as_names([True, "x"], "labels")
    Traceback (most recent call last):
    plurivox.core.errors.InputError: labels mix truth values and text (True, 'x'); make them all text
    """
    raw = values if isinstance(values, np.ndarray) else _array(list(values), what)
    if raw.ndim != 1:
        raise InputError(f"{what} must be a flat list; got an array of shape {raw.shape}")
    if raw.dtype.kind == "O":
        raw = _array(raw.tolist(), what)
    if raw.dtype.kind == "u":
        if raw.size and raw.max() > np.iinfo(np.int64).max:
            raise InputError(f"{what} hold whole numbers above 2**63; turn them into text")
        return raw.astype(np.int64)
    if raw.dtype.kind == "i":
        return raw.astype(np.int64, copy=False)
    if raw.dtype.kind == "f":
        wide = raw.astype(np.float64, copy=False)
        if np.isnan(wide).any():
            raise InputError(f"{what} hold missing values at {some(np.flatnonzero(np.isnan(wide)))}; drop them first")
        return wide
    if raw.dtype.kind in "UT":
        return raw.astype(TEXT, copy=False)
    if raw.dtype.kind == "b":
        return raw
    raise InputError(f"{what} are of type {raw.dtype}; use text, whole numbers, numbers or truth values")


def encode(values: Iterable[object] | NDArray[Any], what: str = "names") -> tuple[Ints, Names]:
    """Codes and sorted names: `names[codes]` are the values.

    >>> encode(["b", "a", "b"])
    (array([1, 0, 1], dtype=int32), array(['a', 'b'], dtype=StringDType()))
    """
    given = as_names(values, what)
    if given.dtype.kind == "T":  # one dictionary pass, then sort the few distinct names: far below sorting every row
        seen: dict[str, int] = {}
        codes = np.fromiter((seen.setdefault(name, len(seen)) for name in given.tolist()), np.int32, len(given))
        return resort(codes, np.array(list(seen), dtype=TEXT))
    names, inverse = np.unique(given, return_inverse=True)
    return inverse.astype(np.int32), names


def resort(codes: Ints, names: Names) -> tuple[Ints, Names]:
    """The same values with the names in sorted order."""
    order = np.argsort(names, kind="stable")
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return rank[codes] if len(names) else codes, names[order]


def positions(names: Names, wanted: Names) -> Ints:
    """Where each of `wanted` stands in `names`; -1 where it is absent. A number and its text are the same name.

    >>> positions(as_names(["a", "b"]), as_names(["b", "x"]))
    array([ 1, -1])
    >>> positions(as_names([7, 8]), as_names(["8", "08"]))
    array([ 1, -1])
    """
    if len(names) == len(wanted) and names.dtype.kind == wanted.dtype.kind and bool(np.all(names == wanted)):
        return np.arange(len(names))
    left, right = _alike(names, wanted)
    if left.dtype.kind == "T":
        place = {name: i for i, name in enumerate(left.tolist())}
        return np.fromiter((place.get(name, -1) for name in right.tolist()), np.int64, len(right))
    if not len(left):
        return np.full(len(right), -1)
    order = np.argsort(left, kind="stable")
    found = order[np.minimum(np.searchsorted(left, right, sorter=order), len(left) - 1)]
    return np.where(left[found] == right, found, -1)


def duplicates(names: Names) -> Names:
    """The names that occur more than once, each of them once."""
    if len(names) < 2 or bool(np.all(names[1:] > names[:-1])):  # sorted at birth, as nearly all names are
        return names[:0]
    _, first, count = np.unique(names, return_index=True, return_counts=True)
    return names[first[count > 1]]


def as_text(names: Names) -> Names:
    """The names as text: what a person would type for them."""
    if names.dtype.kind == "T":
        return names
    if names.dtype.kind == "b":
        return np.where(names, "true", "false").astype(TEXT)
    return np.array([str(name) for name in names.tolist()], dtype=TEXT)


def by_value(names: Names) -> Names:
    """Distinct names in sorted order; text that is all plain numbers is sorted by value ('2' before '10').

    >>> by_value(as_names(["10", "2"])).tolist(), by_value(as_names(["10", "b"])).tolist()
    (['2', '10'], ['10', 'b'])
    """
    distinct = np.unique(names)
    values = numbers(distinct)
    return distinct if values is None else distinct[np.argsort(values, kind="stable")]


def numbers(names: Names) -> Floats | None:
    """The value of each name, where every one of them is a finite number or the text of one; else None."""
    if names.dtype.kind != "T":
        return names.astype(np.float64)
    try:
        values = np.array([float(name) for name in names.tolist()])
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def smallest_ints(n_codes: int) -> np.dtype[Any]:
    """The smallest unsigned type that can hold codes 0 to n_codes - 1."""
    return np.min_scalar_type(max(n_codes - 1, 0))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written through; the owner of the memory keeps its rights."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _alike(left: Names, right: Names) -> tuple[Names, Names]:
    """Both arrays in one kind: numbers meet by value; where only one side is text, both become text."""
    if (left.dtype.kind == "T") == (right.dtype.kind == "T"):
        return left, right
    if "b" in (left.dtype.kind, right.dtype.kind):  # 'True' of one program is 'true' of another
        return _lower(as_text(left)), _lower(as_text(right))
    return as_text(left), as_text(right)


def _lower(text: Names) -> Names:
    return np.array([name.lower() for name in text.tolist()], dtype=TEXT)


def _array(values: list[Any], what: str) -> NDArray[Any]:
    """A numpy array of a Python list, after looking at the kinds in it."""
    kinds: dict[str, object] = {}
    for value in values:
        kinds.setdefault(_kind(value, what), value)
    if set(kinds) == {"whole numbers", "numbers"}:
        return np.array(values, dtype=np.float64)
    if len(kinds) > 1:
        (one, a), (two, b) = list(kinds.items())[:2]
        raise InputError(f"{what} mix {one} and {two} ({a!r}, {b!r}); make them all text")
    kind = next(iter(kinds), "text")
    if kind == "text":
        return np.array(values, dtype=TEXT)
    if kind == "whole numbers" and any(abs(int(value)) >= 2**63 for value in values):
        raise InputError(f"{what} hold whole numbers above 2**63; turn them into text")
    return np.array(values, dtype={"whole numbers": np.int64, "numbers": np.float64, "truth values": np.bool_}[kind])


def _kind(value: object, what: str) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "truth values"
    if isinstance(value, int | np.integer):
        return "whole numbers"
    if isinstance(value, float | np.floating):
        return "numbers"
    if value is None:
        raise InputError(f"{what} hold missing values; drop them first")
    raise InputError(f"{what} hold {value!r} of type {type(value).__name__}; use text, numbers or truth values")
