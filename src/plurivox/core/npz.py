"""Plain arrays from an .npz that anybody may have written."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.errors import InputError
from plurivox.core.types import Names


def arrays_in(path: Path, what: str) -> dict[str, NDArray[Any]]:
    """Every array of an .npz by its name; `what` names what they are for in the error, such as "features"."""
    try:
        with path.open("rb") as file:  # opened here: numpy leaves a damaged one open
            box = np.load(file, allow_pickle=False)
            if isinstance(box, np.ndarray):
                raise InputError(f"{path} is an .npy file by another name; {what} need named arrays (numpy.savez)")
            return {name: np.asarray(box[name]) for name in box.files}
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error) as cause:
        words = " ".join(str(cause).split()) or type(cause).__name__
        raise InputError(f"{path} is no .npz file of plain arrays, or it is damaged or cut short ({words})") from cause


def plain_names(names: Names) -> NDArray[Any]:
    """Names in a type that numpy saves without pickling."""
    return np.array(names.tolist(), dtype=np.str_) if names.dtype.kind == "T" else names
