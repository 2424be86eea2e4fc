"""Files of other programs: a module each, with `read(path)`, and `recognises(path)` where it is a folder.

crowd-kit needs none: its frames have the columns `task`, `worker`, `label`, which is what `Votes.to_pandas()` gives and
what `pv.votes(frame)` takes.
"""

from pathlib import Path
from types import ModuleType

from plurivox.io.formats import image_folder, peerannot
from plurivox.io.formats._contents import Contents

FOLDERS: tuple[ModuleType, ...] = (peerannot, image_folder)

__all__ = ["Contents", "reader_of"]


def reader_of(path: Path) -> ModuleType | None:
    """The module that can read this folder; None where none knows it."""
    return next((module for module in FOLDERS if module.recognises(path)), None)
