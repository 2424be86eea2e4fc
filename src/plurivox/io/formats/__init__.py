"""Readers of other programs' formats: one module per format, with `read(path)`, and `recognises(path)` for folders.

crowd-kit needs no reader: its DataFrames have the columns `task`, `worker`, `label`, as returned by `Votes.to_pandas()`
and accepted by `pv.votes(frame)`.
"""

from pathlib import Path
from types import ModuleType

from plurivox.io.formats import image_folder, peerannot
from plurivox.io.formats._data_read_from_other_program import ForeignContents

FOLDER_FORMATS: tuple[ModuleType, ...] = (peerannot, image_folder)

__all__ = ["ForeignContents", "find_reader_module_of_folder"]


def find_reader_module_of_folder(folder: Path) -> ModuleType | None:
    """Return the module (peerannot, image_folder) that can read this folder of another program, or None."""
    return next((module for module in FOLDER_FORMATS if module.recognises(folder)), None)
