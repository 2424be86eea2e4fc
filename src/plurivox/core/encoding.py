"""Names to codes and back; positions of ordered labels."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.errors import InputError, first_few
from plurivox.core.types import TEXT, Bools, Floats, Ints, Names, readonly_copy

TOO_LARGE = "whole numbers must lie between -2**63 and 2**63 - 1; turn them into text"


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
            raise InputError(f"{what} hold {first_few([raw.max()])}: {TOO_LARGE}")
        return raw.astype(np.int64)
    if raw.dtype.kind == "i":
        return raw.astype(np.int64, copy=False)
    if raw.dtype.kind == "f":
        wide = raw.astype(np.float64, copy=False)
        if np.isnan(wide).any():
            raise InputError(
                f"{what} hold missing values at {first_few(np.flatnonzero(np.isnan(wide)))}; drop them first"
            )
        return wide
    if raw.dtype.kind == "U":
        return _text(raw, what)
    if raw.dtype.kind == "T":
        return raw if raw.dtype == TEXT else raw.astype(TEXT)  # astype copies even to the same type
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


def encode_into(
    values: Iterable[object] | NDArray[Any], given: Iterable[object] | None, what: str
) -> tuple[Ints, Names]:
    """Codes into the names that are given, in their order; without any, into the distinct values sorted `by_value`.

    >>> encode_into(["b", "a"], ["b", "a", "c"], "labels")
    (array([0, 1]), array(['b', 'a', 'c'], dtype=StringDType()))
    >>> encode_into(["b", "x"], ["a", "b"], "labels")
    Traceback (most recent call last):
    plurivox.core.errors.InputError: labels outside the given list: 'x'; the list has 'a', 'b'
    """
    codes, found = encode(values, what)
    names = by_value(found) if given is None else as_names(given, what)
    place = positions(names, found)
    if len(strangers := found[place < 0]):
        raise InputError(f"{what} outside the given list: {first_few(strangers)}; the list has {first_few(names, 6)}")
    return place[codes] if len(found) else codes, names


def decode(names: Names, codes: Ints) -> Names:
    """The name of each code; None where the code is -1.

    >>> decode(as_names(["ann", "bo"]), np.array([1, -1])).tolist()
    ['bo', None]
    """
    absent = codes < 0
    if not absent.any():
        return names[codes]
    out = np.full(len(codes), None, object)
    out[~absent] = names[codes[~absent]]
    return out


def in_range(codes: Ints, low: int, high: int, what: str) -> None:
    """Refuse codes that are not whole numbers from `low` to `high - 1`."""
    if codes.dtype.kind not in "iu":
        raise InputError(f"{what} codes are {codes.dtype}; they must be whole numbers")
    if codes.size and (int(codes.min()) < low or int(codes.max()) >= high):
        raise InputError(f"{what} codes run from {codes.min()} to {codes.max()}; there are {high} {what}s")


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
    >>> positions(as_names(["1", "2.0", "2.5"]), as_names([1.0, 2.0, 2.5]))
    array([0, 1, 2])
    """
    if len(names) == len(wanted) and names.dtype.kind == wanted.dtype.kind and bool(np.all(names == wanted)):
        return np.arange(len(names))
    kinds = names.dtype.kind + wanted.dtype.kind
    if not len(names):
        return np.full(len(wanted), -1)
    if "T" in kinds:
        return _text_positions(names, wanted)
    if kinds == "if":  # as whole numbers: 2**53 + 1 and 2.0**53 are equal only after rounding
        whole = _is_whole(wanted)
        return np.where(whole, positions(names, np.where(whole, wanted, 0).astype(np.int64)), -1)
    if kinds == "fi":
        at = np.flatnonzero(_is_whole(names))
        found = positions(names[at].astype(np.int64), wanted)
        return np.where(found >= 0, at[found], -1) if len(at) else found
    order = np.argsort(names, kind="stable")
    found = order[np.minimum(np.searchsorted(names, wanted, sorter=order), len(names) - 1)]
    return np.where(names[found] == wanted, found, -1)


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


def numbered(word: str, n: int) -> Names:
    """`task-007`: n names that sort as they count.

    >>> numbered("task", 11)[[0, 10]]
    array(['task-00', 'task-10'], dtype=StringDType())
    """
    head, digits = f"{word}-".encode(), len(str(max(n - 1, 0)))
    letters = np.empty((n, len(head) + digits), np.uint8)  # whole columns of letters: no Python text is made
    letters[:, : len(head)] = np.frombuffer(head, np.uint8)
    rest = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    for place in range(1, digits + 1):
        rest, digit = np.divmod(rest, 10)
        letters[:, -place] = digit + ord("0")
    return readonly_copy(letters.view(f"S{letters.shape[1]}").ravel(), TEXT)


def readonly_names(values: Iterable[object] | NDArray[Any], what: str) -> Names:
    """`as_names` of one's own: no list of names changes when the caller's does."""
    return readonly_copy(as_names(values, what))


def _text_positions(names: Names, wanted: Names) -> Ints:
    """`positions` where at least one side is text. A whole number that is held as 1.0 is typed "1.0" or "1"."""
    left, right = as_text(names), as_text(wanted)
    if "b" in (names.dtype.kind, wanted.dtype.kind):  # 'True' of one program is 'true' of another
        left, right = _lower(left), _lower(right)
    place = {name: i for i, name in enumerate(left.tolist())}
    if names.dtype.kind == "f":
        place = {short: i for i, short in enumerate(_short(names))} | place
    found = np.fromiter((place.get(name, -1) for name in right.tolist()), np.int64, len(right))
    if wanted.dtype.kind == "f":
        short = np.fromiter((place.get(name, -1) for name in _short(wanted)), np.int64, len(right))
        return np.where(found >= 0, found, short)
    return found


def _short(values: Names) -> list[str]:
    """Numbers as text without ".0"."""
    return [str(int(value)) if value.is_integer() else str(value) for value in values.tolist()]


def _is_whole(values: Names) -> Bools:
    """Which floating-point numbers are whole numbers that 64 bits hold."""
    return np.asarray((np.abs(values) < 2.0**63) & (np.floor(values) == values))


def _lower(text: Names) -> Names:
    return np.array([name.lower() for name in text.tolist()], dtype=TEXT)


def _array(values: list[Any], what: str) -> NDArray[Any]:
    """A numpy array of a Python list, after looking at the kinds in it."""
    kinds: dict[str, object] = {}
    for value in values:
        kinds.setdefault(_kind(value, what), value)
    if set(kinds) == {"whole numbers", "numbers"}:
        return _numbers(values, what)
    if len(kinds) > 1:
        (one, a), (two, b) = list(kinds.items())[:2]
        raise InputError(f"{what} mix {one} and {two} ({a!r}, {b!r}); make them all text")
    kind = next(iter(kinds), "text")
    if kind == "text":
        return _text(values, what)
    if kind == "whole numbers" and (large := [int(value) for value in values if not -(2**63) <= int(value) < 2**63]):
        raise InputError(f"{what} hold {first_few(large)}: {TOO_LARGE}")
    return np.array(values, dtype={"whole numbers": np.int64, "numbers": np.float64, "truth values": np.bool_}[kind])


def _numbers(values: list[Any], what: str) -> NDArray[Any]:
    """Whole numbers among others become floating point, as long as that keeps them apart."""
    whole = [int(value) for value in values if isinstance(value, int | np.integer)]
    lost = [value for value in whole if abs(value) > 2**53 and (abs(value) >= 2**1023 or int(float(value)) != value)]
    if lost:
        raise InputError(
            f"{what} mix numbers and whole numbers too large for that: {first_few(lost)}; make them all text"
        )
    return np.array(values, dtype=np.float64)


def _text(values: list[str] | NDArray[Any], what: str) -> Names:
    try:
        return values.astype(TEXT) if isinstance(values, np.ndarray) else np.array(values, dtype=TEXT)
    except (UnicodeEncodeError, TypeError):
        broken = [text for text in values if any("\ud800" <= letter <= "\udfff" for letter in text)]
        raise InputError(f"{what} hold text that is no valid Unicode: {first_few(broken)}; mend its encoding") from None


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


def label_positions(labels: Names, ordered: bool | Iterable[float]) -> Floats | None:
    """Where the labels stand: evenly spaced, at their own values where they are numbers, or at those given."""
    if isinstance(ordered, bool):
        if not ordered:
            return None
        own = numbers(labels)
        return np.arange(len(labels), dtype=np.float64) if own is None else own
    values = np.asarray(list(ordered), np.float64)
    if values.shape != labels.shape:
        raise InputError(f"the scale has {len(values)} values for {len(labels)} labels")
    return values
