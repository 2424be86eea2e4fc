"""Encode names (of tasks, workers, labels) as integer codes and decode them; positions of ordered labels on a scale."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names, as_readonly_array
from plurivox.core.errors import InputError, first_few

TOO_LARGE_HINT = "integers must be between -2**63 and 2**63 - 1; convert them to text"


def as_names(values: Iterable[object] | NDArray[Any], what: str = "names") -> Names:
    """Return values (texts, ints, floats or bools) as an array of names. Raise InputError for mixed kinds and missing values.

    >>> as_names(["cat", "dog"])
    array(['cat', 'dog'], dtype=StringDType())
    >>> as_names([True, "x"], "labels")
    Traceback (most recent call last):
    plurivox.core.errors.InputError: labels mix truth values and text (True, 'x'); make them all text
    """
    raw = values if isinstance(values, np.ndarray) else _list_of_names_to_array(list(values), what)
    if raw.ndim != 1:
        raise InputError(f"{what} must be one-dimensional; got an array of shape {raw.shape}")
    if raw.dtype.kind == "O":
        raw = _list_of_names_to_array(raw.tolist(), what)
    if raw.dtype.kind == "u":
        if raw.size and raw.max() > np.iinfo(np.int64).max:
            raise InputError(f"{what} contain {first_few([raw.max()])}: {TOO_LARGE_HINT}")
        return raw.astype(np.int64)
    if raw.dtype.kind == "i":
        return raw.astype(np.int64, copy=False)
    if raw.dtype.kind == "f":
        wide = raw.astype(np.float64, copy=False)
        if np.isnan(wide).any():
            raise InputError(
                f"{what} contain missing values in rows {first_few(np.flatnonzero(np.isnan(wide)))}; drop them first"
            )
        return wide
    if raw.dtype.kind == "U":
        return _to_string_array(raw, what)
    if raw.dtype.kind == "T":
        return raw if raw.dtype == TEXT else raw.astype(TEXT)  # astype copies even to the same type
    if raw.dtype.kind == "b":
        return raw
    raise InputError(f"{what} are of type {raw.dtype}; use text, whole numbers, numbers or truth values")


def encode(values: Iterable[object] | NDArray[Any], what: str = "names") -> tuple[Ints, Names]:
    """Encode values as integers: return (codes, sorted distinct names) such that `names[codes]` are the values.

    >>> encode(["b", "a", "b"])
    (array([1, 0, 1], dtype=int32), array(['a', 'b'], dtype=StringDType()))
    """
    given = as_names(values, what)
    if given.dtype.kind == "T":  # one dictionary pass, then sort the distinct names: much faster than sorting all rows
        code_of: dict[str, int] = {}
        codes = np.fromiter((code_of.setdefault(name, len(code_of)) for name in given.tolist()), np.int32, len(given))
        return sort_names_and_recode(codes, np.array(list(code_of), dtype=TEXT))
    names, inverse = np.unique(given, return_inverse=True)
    return inverse.astype(np.int32), names


def encode_with_names(
    values: Iterable[object] | NDArray[Any], allowed_names: Iterable[object] | None, what: str
) -> tuple[Ints, Names]:
    """Encode values as indices into `allowed_names` (None: the sorted distinct values); return (codes, names).

    Raise InputError for a value outside the given names.

    >>> encode_with_names(["b", "a"], ["b", "a", "c"], "labels")
    (array([0, 1]), array(['b', 'a', 'c'], dtype=StringDType()))
    >>> encode_with_names(["b", "x"], ["a", "b"], "labels")
    Traceback (most recent call last):
    plurivox.core.errors.InputError: labels outside the given list: 'x'; the list has 'a', 'b'
    """
    codes, found = encode(values, what)
    names = sort_distinct_names_by_value(found) if allowed_names is None else as_names(allowed_names, what)
    place = positions(names, found)
    if len(unknown := found[place < 0]):
        raise InputError(f"{what} outside the given list: {first_few(unknown)}; the list has {first_few(names, 6)}")
    return place[codes] if len(found) else codes, names


def decode(names: Names, codes: Ints) -> Names:
    """Return the name of each integer code; None for code -1.

    >>> decode(as_names(["ann", "bo"]), np.array([1, -1])).tolist()
    ['bo', None]
    """
    absent = codes < 0
    if not absent.any():
        return names[codes]
    out = np.full(len(codes), None, object)
    out[~absent] = names[codes[~absent]]
    return out


def check_codes(codes: Ints, low: int, n_names: int, what: str) -> None:
    """Raise InputError if codes are not integers from `low` to `n_names - 1`; `what` names them in the message."""
    if codes.dtype.kind not in "iu":
        raise InputError(f"{what} codes are {codes.dtype}; they must be whole numbers")
    if codes.size and (int(codes.min()) < low or int(codes.max()) >= n_names):
        raise InputError(f"{what} codes run from {codes.min()} to {codes.max()}; there are {n_names} {what}s")


def sorted_names(names: Names) -> Names:
    """Return names in ascending order.

    Never sort text by `np.sort(names)`, `np.argsort(names)` or `np.unique(names, return_inverse=True)`
    (or `return_counts`): numpy's default sort
    of StringDType crashes the process for some inputs, such as two sorted lists joined (seen in numpy 2.4). The stable sort
    does not; `encode` and `distinct_names` use it.
    """
    return np.sort(names, kind="stable")


def distinct_names(names: Names) -> Names:
    """Return the distinct names in ascending order.

    >>> distinct_names(as_names(["b", "a", "b"])).tolist()
    ['a', 'b']
    """
    return encode(names)[1]


def sort_names_and_recode(codes: Ints, names: Names) -> tuple[Ints, Names]:
    """Sort names and renumber the codes that index them: return (codes, sorted names) that decode to the same values."""
    order = np.argsort(names, kind="stable")
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return rank[codes] if len(names) else codes, names[order]


def positions(names: Names, maybe_absent: Names) -> Ints:
    """(n_maybe_absent,) the index of each of `maybe_absent` in `names`; -1 if absent. A number equals its text.

    >>> positions(as_names(["a", "b"]), as_names(["b", "x"]))
    array([ 1, -1])
    >>> positions(as_names([7, 8]), as_names(["8", "08"]))
    array([ 1, -1])
    >>> positions(as_names(["1", "2.0", "2.5"]), as_names([1.0, 2.0, 2.5]))
    array([0, 1, 2])
    """
    if (
        len(names) == len(maybe_absent)
        and names.dtype.kind == maybe_absent.dtype.kind
        and bool(np.all(names == maybe_absent))
    ):
        return np.arange(len(names))
    kinds = names.dtype.kind + maybe_absent.dtype.kind
    if not len(names):
        return np.full(len(maybe_absent), -1)
    if "T" in kinds:
        return _positions_by_text(names, maybe_absent)
    if kinds == "if":  # as whole numbers: 2**53 + 1 and 2.0**53 are equal only after rounding
        whole = _mask_whole_numbers_in_int64(maybe_absent)
        return np.where(whole, positions(names, np.where(whole, maybe_absent, 0).astype(np.int64)), -1)
    if kinds == "fi":
        at = np.flatnonzero(_mask_whole_numbers_in_int64(names))
        found = positions(names[at].astype(np.int64), maybe_absent)
        return np.where(found >= 0, at[found], -1) if len(at) else found
    order = np.argsort(names, kind="stable")
    found = order[np.minimum(np.searchsorted(names, maybe_absent, sorter=order), len(names) - 1)]
    return np.where(names[found] == maybe_absent, found, -1)


def duplicates(names: Names) -> Names:
    """Return the names that occur more than once in an array, each listed once."""
    if len(names) < 2 or bool(np.all(names[1:] > names[:-1])):  # sorted, as nearly all names are
        return names[:0]
    _, first, count = np.unique(names, return_index=True, return_counts=True)
    return names[first[count > 1]]


def as_text(names: Names) -> Names:
    """Return an array of names as a StringDType array; bools become "true" and "false"."""
    if names.dtype.kind == "T":
        return names
    if names.dtype.kind == "b":
        return np.where(names, "true", "false").astype(TEXT)
    return np.array([str(name) for name in names.tolist()], dtype=TEXT)


def sort_distinct_names_by_value(names: Names) -> Names:
    """Return the distinct names, sorted; names that are all numbers as text are sorted by value ('2' before '10').

    >>> [sort_distinct_names_by_value(as_names(names)).tolist() for names in (["10", "2"], ["10", "b"])]
    [['2', '10'], ['10', 'b']]
    """
    distinct = distinct_names(names)
    values = parse_floats_or_none(distinct)
    return distinct if values is None else distinct[np.argsort(values, kind="stable")]


def parse_floats_or_none(names: Names) -> Floats | None:
    """Return an array of names as floats; None if a name is neither a finite number nor the text of one."""
    if names.dtype.kind != "T":
        return names.astype(np.float64)
    try:
        values = np.array([float(name) for name in names.tolist()])
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def numbered_names_from_zero(prefix: str, n: int) -> Names:
    """Return n names such as task-007, padded with zeros so that they sort by number.

    >>> numbered_names_from_zero("task", 11)[[0, 10]]
    array(['task-00', 'task-10'], dtype=StringDType())
    """
    head, digits = f"{prefix}-".encode(), len(str(max(n - 1, 0)))
    letters = np.empty((n, len(head) + digits), np.uint8)  # filled column by column, without Python strings
    letters[:, : len(head)] = np.frombuffer(head, np.uint8)
    rest = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    for place in range(1, digits + 1):
        rest, digit = np.divmod(rest, 10)
        letters[:, -place] = digit + ord("0")
    return as_readonly_array(letters.view(f"S{letters.shape[1]}").ravel(), TEXT)


def readonly_names(values: Iterable[object] | NDArray[Any], what: str) -> Names:
    """Return values as a read-only array of names, a copy unless the array is read-only already."""
    return as_readonly_array(as_names(values, what))


def _positions_by_text(names: Names, wanted: Names) -> Ints:
    """(n_wanted,) the index of each wanted name in `names`, compared as text, -1 if absent; 1.0 matches "1.0" and "1"."""
    left, right = as_text(names), as_text(wanted)
    if "b" in (names.dtype.kind, wanted.dtype.kind):  # programs write 'True' or 'true'
        left, right = _lowercase(left), _lowercase(right)
    place = {name: i for i, name in enumerate(left.tolist())}
    if names.dtype.kind == "f":
        place = {short: i for i, short in enumerate(_floats_to_texts_without_point_zero(names))} | place
    found = np.fromiter((place.get(name, -1) for name in right.tolist()), np.int64, len(right))
    if wanted.dtype.kind == "f":
        short = np.fromiter(
            (place.get(name, -1) for name in _floats_to_texts_without_point_zero(wanted)), np.int64, len(right)
        )
        return np.where(found >= 0, found, short)
    return found


def _floats_to_texts_without_point_zero(values: Names) -> list[str]:
    """Return floats as a list of texts, whole numbers without ".0"."""
    return [str(int(value)) if value.is_integer() else str(value) for value in values.tolist()]


def _mask_whole_numbers_in_int64(values: Names) -> Bools:
    """Return a mask of the floats that are whole numbers and fit into an int64."""
    return np.asarray((np.abs(values) < 2.0**63) & (np.floor(values) == values))


def _lowercase(text: Names) -> Names:
    """Return an array of texts converted to lower case."""
    return np.array([name.lower() for name in text.tolist()], dtype=TEXT)


def _list_of_names_to_array(values: list[Any], name_in_errors: str) -> NDArray[Any]:
    """Return a Python list of names as a numpy array. Raise InputError if it mixes kinds (text,
    ints, ...) or has other values.
    """
    kinds: dict[str, object] = {}
    for value in values:
        kinds.setdefault(_kind_of_name(value, name_in_errors), value)
    if set(kinds) == {"whole numbers", "numbers"}:
        return _mixed_numbers_to_exact_floats(values, name_in_errors)
    if len(kinds) > 1:
        (one, a), (two, b) = list(kinds.items())[:2]
        raise InputError(f"{name_in_errors} mix {one} and {two} ({a!r}, {b!r}); make them all text")
    kind = next(iter(kinds), "text")
    if kind == "text":
        return _to_string_array(values, name_in_errors)
    if kind == "whole numbers" and (large := [int(value) for value in values if not -(2**63) <= int(value) < 2**63]):
        raise InputError(f"{name_in_errors} contain {first_few(large)}: {TOO_LARGE_HINT}")
    return np.array(values, dtype={"whole numbers": np.int64, "numbers": np.float64, "truth values": np.bool_}[kind])


def _mixed_numbers_to_exact_floats(values: list[Any], name_in_errors: str) -> NDArray[Any]:
    """Return a list of mixed ints and floats as a float array. Raise InputError if a float cannot represent one of the ints."""
    whole = [int(value) for value in values if isinstance(value, int | np.integer)]
    lost = [value for value in whole if abs(value) > 2**53 and (abs(value) >= 2**1023 or int(float(value)) != value)]
    if lost:
        raise InputError(
            f"{name_in_errors} mix numbers and whole numbers too large for a float: {first_few(lost)}; make them all text"
        )
    return np.array(values, dtype=np.float64)


def _to_string_array(values: list[str] | NDArray[Any], name_in_errors: str) -> Names:
    """Return a list of texts as a StringDType array. Raise InputError for text that is not valid Unicode."""
    try:
        return values.astype(TEXT) if isinstance(values, np.ndarray) else np.array(values, dtype=TEXT)
    except (UnicodeEncodeError, TypeError):
        broken = [text for text in values if any("\ud800" <= letter <= "\udfff" for letter in text)]
        raise InputError(
            f"{name_in_errors} contain text that is not valid Unicode: {first_few(broken)}; fix its encoding"
        ) from None


def _kind_of_name(value: object, name_in_errors: str) -> str:
    """Return the kind of a value used as a name: "text", "numbers", "whole numbers" or "truth
    values". Raise InputError for others.
    """
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "truth values"
    if isinstance(value, int | np.integer):
        return "whole numbers"
    if isinstance(value, float | np.floating):
        return "numbers"
    if value is None:
        raise InputError(f"{name_in_errors} contain missing values; drop them first")
    raise InputError(
        f"{name_in_errors} contain {value!r} of type {type(value).__name__}; use text, numbers or truth values"
    )


def label_positions_on_scale_or_none(labels: Names, ordered: bool | Iterable[float]) -> Floats | None:
    """(n_labels,) the position of each ordered label on a number scale; None if `ordered` is False.

    True: the labels' own values if all are numbers, else 0, 1, 2, ... Numbers: these positions.
    """
    if isinstance(ordered, bool):
        if not ordered:
            return None
        own = parse_floats_or_none(labels)
        return np.arange(len(labels), dtype=np.float64) if own is None else own
    values = np.asarray(list(ordered), np.float64)
    if values.shape != labels.shape:
        raise InputError(f"the scale has {len(values)} values for {len(labels)} labels")
    return values
