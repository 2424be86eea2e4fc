"""plurivox: from what a crowd says to a trained, honestly judged model.

>>> import plurivox as pv
>>> votes = pv.votes(task=["a", "a", "b"], worker=["ann", "bo", "ann"], label=["cat", "dog", "dog"])
>>> pv.fit(votes, "majority-vote", ties="share").soft.prob
array([[0.5, 0.5],
       [0. , 1. ]])
"""

import importlib
import logging
from typing import Any

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())

# what `pv.<name>` means; nothing is imported before it is used, so `import plurivox` costs next to nothing
# (`make stubs` tells editors and type checkers the same)
_FACE = {
    "Answers": "core.answers",
    "Confusion": "core.results",
    "Dataset": "io.dataset",
    "Dynamics": "core.results",
    "Fit": "core.results",
    "PlurivoxError": "core.errors",
    "PlurivoxWarning": "core.errors",
    "Scores": "core.results",
    "SoftLabels": "core.labels",
    "Votes": "core.votes",
    "answers": "io.entered",
    "counts": "io.frames",
    "describe": "evaluate.describe",
    "fit": "recipes._doing",
    "load": "recipes._doing",
    "read": "io.reading",
    "read_soft": "io.soft",
    "simulate_crowd": "recipes._doing",
    "write_crowd": "recipes._doing",
    "votes": "io.frames",
    "write": "io.folder",
    "write_soft": "io.soft",
}
_ROOMS = ("aggregate", "core", "engine", "evaluate", "io", "recipes", "simulate")

__all__ = ["__version__", *sorted(_FACE), *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _FACE:
        return getattr(importlib.import_module(f"{__name__}.{_FACE[name]}"), name)
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
