"""Import peerannot's Dawid-Skene without torch: its packages are imported without running their `__init__`."""

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any


def import_dawid_skene() -> Any:
    """Return peerannot's DawidSkene class, imported without torch and torchvision."""
    spec = importlib.util.find_spec("peerannot")
    assert spec is not None and spec.submodule_search_locations is not None
    root = Path(next(iter(spec.submodule_search_locations)))
    for name in ("peerannot", "peerannot.models", "peerannot.models.aggregation"):
        bare = types.ModuleType(name)
        bare.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = bare
    from peerannot.models.aggregation.dawid_skene import DawidSkene

    return DawidSkene
