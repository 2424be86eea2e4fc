"""Read a matrix of votes from an `.npy` file: one row per task, one column per worker, both without names."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.errors import InputError


def read_vote_matrix_or_none(path: Path) -> NDArray[Any] | None:
    """Return the matrix of votes in an `.npy` file: whole numbers, and NaN for no answer; None for another array.

    Rows of zeros and a single one are not votes but labels of tasks, one column per label.
    """
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as cause:
        raise InputError(f"{path} is not an .npy file of numbers or texts, or it is damaged ({cause})") from cause
    if array.ndim != 2 or not array.size or array.dtype.kind not in "iufU":
        return None
    if array.dtype.kind == "U":
        texts = array.astype(object)
        texts[array == ""] = None
        return texts
    known = array[np.isfinite(array)]
    whole = bool((known == np.floor(known)).all()) and not np.isinf(array).any()
    one_hot = known.size == array.size and bool((known >= 0).all() and (array.sum(1) == 1).all())
    return array if whole and not one_hot else None
