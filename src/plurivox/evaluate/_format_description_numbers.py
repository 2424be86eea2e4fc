"""Means, medians and texts of the numbers in descriptions of votes and answers; None for a number that is not shown."""

from typing import Any

import numpy as np

Triple = tuple[float, float, float]  # a mean or median, and the ends of a range


def mean_or_zero(values: Any) -> float:
    """Return the mean of the values as a float; 0.0 if `values` is empty."""
    return float(np.mean(values)) if len(values) else 0.0


def median_and_range_of_positives_or_none(values: Any) -> Triple | None:
    """Return (median, smallest, largest) of those values that are above 0; None if no value is."""
    positive = values[values > 0]
    return (float(np.median(positive)), float(positive.min()), float(positive.max())) if len(positive) else None


def format_number_or_keep_none(value: float | None, digits: int) -> str | None:
    """Return `value` as text with `digits` decimals; None if `value` is None."""
    return None if value is None else f"{value:.{digits}f}"


def format_percent_or_keep_none(share: float | None) -> str | None:
    """Return a share of 0 to 1 as text in percent with one decimal, 0.25 as "25.0%"; None if `share` is None."""
    return None if share is None else f"{100 * share:.1f}%"


def format_count_or_none_if_zero(n: int) -> str | None:
    """Return a count as text with thousands separators, 1200 as "1,200"; None if it is 0."""
    return f"{n:,}" if n else None


def count_in_parentheses_or_empty(n: int, word: str) -> str:
    """Return the text " (<n> <word>)", to be appended to another number; "" if n is 0."""
    return f" ({n:,} {word})" if n else ""


def format_median_and_range_or_keep_none(median_low_high: Triple | None, suffix: str = "") -> str | None:
    """Return (median, low, high) as the text "median M (LOW to HIGH)"; None if it is None.

    >>> format_median_and_range_or_keep_none((2, 1, 4))
    'median 2 (1 to 4)'
    >>> format_median_and_range_or_keep_none((3.14159, 1, 40.25), " for nine in ten")
    'median 3.1 (1 to 40.2 for nine in ten)'
    """
    if median_low_high is None:
        return None
    middle, low, high = (f"{round(value, 1):g}" if value < 1e5 else f"{value:.0f}" for value in median_low_high)
    return f"median {middle} ({low} to {high}{suffix})"
