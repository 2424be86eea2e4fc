"""Array types, and read-only or smallest forms of arrays."""

from typing import Any, TypeAlias

import numpy as np
from numpy.dtypes import StringDType
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.integer[Any]]
Floats: TypeAlias = NDArray[np.floating[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Names: TypeAlias = NDArray[Any]

TEXT = StringDType()


def smallest_ints(n_codes: int) -> np.dtype[Any]:
    """The smallest unsigned type that can hold codes 0 to n_codes - 1."""
    return np.min_scalar_type(max(n_codes - 1, 0))


def smallest_signed(n_codes: int) -> np.dtype[Any]:
    """The smallest type that can hold codes 0 to n_codes - 1, and -1 for none."""
    return np.min_scalar_type(-max(n_codes, 1))


def readonly_view(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written through; the owner of the memory keeps its rights."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def readonly_copy(values: Any, kind: Any = None) -> NDArray[Any]:
    """An array that nobody can write to: a copy of what is given, or that itself where it is read-only already."""
    given = np.asarray(values)
    made = given if kind is None else given.astype(kind, copy=False)
    if made is given and made.flags.writeable:
        made = made.copy()
    made.flags.writeable = False
    return made
