"""Type aliases of arrays (Ints, Floats, Bools, Names), smallest integer dtypes, and read-only arrays."""

from typing import Any, TypeAlias

import numpy as np
from numpy.dtypes import StringDType
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.integer[Any]]
Floats: TypeAlias = NDArray[np.floating[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Names: TypeAlias = NDArray[Any]

TEXT = StringDType()


def smallest_unsigned_dtype(n_codes: int) -> np.dtype[Any]:
    """Return the smallest unsigned integer dtype that can hold the codes 0 to n_codes - 1."""
    return np.min_scalar_type(max(n_codes - 1, 0))


def smallest_signed_dtype(n_codes: int) -> np.dtype[Any]:
    """Return the smallest signed integer dtype that can hold the codes -1 (none) to n_codes - 1."""
    return np.min_scalar_type(-max(n_codes, 1))


def readonly_view(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of an array; the array itself stays writable."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def as_readonly_array(values: Any, dtype: Any = None) -> NDArray[Any]:
    """Return values as a read-only array of dtype `dtype`: a copy, or the array itself if it is read-only already."""
    given = np.asarray(values)
    made = given if dtype is None else given.astype(dtype, copy=False)
    if made is given and made.flags.writeable:
        made = made.copy()
    made.flags.writeable = False
    return made
