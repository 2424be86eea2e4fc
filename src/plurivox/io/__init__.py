"""Files and frames in, nouns out, and back. A part is imported when it is asked for: the shelf alone needs no polars."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plurivox.io import shelf
    from plurivox.io.columns import frame_of
    from plurivox.io.converting import convert
    from plurivox.io.dataset import Dataset
    from plurivox.io.entered import answers
    from plurivox.io.folder import write
    from plurivox.io.frames import counts, votes
    from plurivox.io.reading import read
    from plurivox.io.soft import read_soft, write_soft
    from plurivox.io.tables import read_table, write_table

__all__ = [
    "Dataset",
    "answers",
    "convert",
    "counts",
    "frame_of",
    "read",
    "read_soft",
    "read_table",
    "shelf",
    "votes",
    "write",
    "write_soft",
    "write_table",
]
_HOME = {
    "Dataset": "dataset",
    "answers": "entered",
    "convert": "converting",
    "counts": "frames",
    "frame_of": "columns",
    "read": "reading",
    "read_soft": "soft",
    "read_table": "tables",
    "votes": "frames",
    "write": "folder",
    "write_soft": "soft",
    "write_table": "tables",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    if name == "shelf":
        return importlib.import_module(f"{__name__}.shelf")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
