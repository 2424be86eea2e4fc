"""Where labels stand when they have an order."""

from collections.abc import Iterable

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.names import Floats, Names, numbers


def scale_of(labels: Names, ordered: bool | Iterable[float]) -> Floats | None:
    """Where the labels stand: evenly spaced, at their own values where they are numbers, or at those given."""
    if isinstance(ordered, bool):
        if not ordered:
            return None
        own = numbers(labels)
        return np.arange(len(labels), dtype=np.float64) if own is None else own
    values = np.asarray(list(ordered), np.float64)
    if values.shape != labels.shape:
        raise InputError(f"the scale has {len(values)} values for {len(labels)} labels")
    return values
