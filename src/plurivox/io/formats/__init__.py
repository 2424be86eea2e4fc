"""Files of other programs: a module each, with `recognises(path)` and `read(path)`.

crowd-kit needs none: its frames have the columns `task`, `worker`, `label`, which is what `Votes.to_pandas()` gives and
what `pv.votes(frame)` takes.
"""

from pathlib import Path
from types import ModuleType

from plurivox.io.formats import image_folder, label_studio, peerannot
from plurivox.io.formats._contents import Contents

READERS: tuple[ModuleType, ...] = (peerannot, label_studio, image_folder)

__all__ = ["READERS", "Contents", "reader_of"]


def reader_of(path: Path) -> ModuleType | None:
    """The module that can read this file or folder; None where none knows it."""
    return next((module for module in READERS if module.recognises(path)), None)
