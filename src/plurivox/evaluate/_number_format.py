"""Format the numbers of a description as text; None is returned for a value that is not shown."""

from typing import Any

import numpy as np

Triple = tuple[float, float, float]  # a mean or median, and the ends of a range


def mean(values: Any) -> float:
    """Return the mean of the values, 0 if there are none."""
    return float(np.mean(values)) if len(values) else 0.0


def median_range(values: Any) -> Triple | None:
    """Return (median, smallest, largest) of the values above 0; None if there are none."""
    positive = values[values > 0]
    return (float(np.median(positive)), float(positive.min()), float(positive.max())) if len(positive) else None


def format_number(value: float | None, digits: int) -> str | None:
    """Return a number as text with this many decimals; None stays None."""
    return None if value is None else f"{value:.{digits}f}"


def format_percent(value: float | None) -> str | None:
    """Return a share as text in percent with one decimal; None stays None."""
    return None if value is None else f"{100 * value:.1f}%"


def format_count(n: int) -> str | None:
    """Return a count as text with thousands separators; None if it is 0."""
    return f"{n:,}" if n else None


def count_in_brackets(n: int, words: str) -> str:
    """Return " (<count> <words>)" to append to another number; "" if the count is 0."""
    return f" ({n:,} {words})" if n else ""


def format_median(three: Triple | None, after: str = "") -> str | None:
    """Return (median, low, high) as text; None stays None.

    >>> format_median((2, 1, 4)), format_median((3.14159, 1, 40.25), " for nine in ten")
    ('median 2 (1 to 4)', 'median 3.1 (1 to 40.2 for nine in ten)')
    """
    if three is None:
        return None
    middle, low, high = (f"{round(value, 1):g}" if value < 1e5 else f"{value:.0f}" for value in three)
    return f"median {middle} ({low} to {high}{after})"
