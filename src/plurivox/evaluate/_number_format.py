"""Figures of a description in words; None where there is nothing to tell."""

from typing import Any

import numpy as np

Three = tuple[float, float, float]


def mean(values: Any) -> float:
    """The mean; 0 of nothing."""
    return float(np.mean(values)) if len(values) else 0.0


def median_range(values: Any) -> Three | None:
    """(median, smallest, largest) of the values above 0; None where there are none."""
    some = values[values > 0]
    return (float(np.median(some)), float(some.min()), float(some.max())) if len(some) else None


def number(value: float | None, digits: int) -> str | None:
    """So many digits after the point."""
    return None if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str | None:
    """A share in percent."""
    return None if value is None else f"{100 * value:.1f}%"


def count(n: int) -> str | None:
    """A count worth a line: none where there is nothing to count."""
    return f"{n:,}" if n else None


def bracket(n: int, words: str) -> str:
    """A count behind another one; nothing where there is nothing to count."""
    return f" ({n:,} {words})" if n else ""


def spread(three: Three | None, after: str = "") -> str | None:
    """The middle, and from where to where.

    >>> spread((2, 1, 4)), spread((3.14159, 1, 40.25), " for nine in ten")
    ('median 2 (1 to 4)', 'median 3.1 (1 to 40.2 for nine in ten)')
    """
    if three is None:
        return None
    middle, low, high = (f"{round(value, 1):g}" if value < 1e5 else f"{value:.0f}" for value in three)
    return f"median {middle} ({low} to {high}{after})"
