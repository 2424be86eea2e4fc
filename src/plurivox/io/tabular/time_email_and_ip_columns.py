"""Recognise columns with times, e-mail addresses or IP addresses: they describe an answer or a person, and never name tasks."""

import re

import polars as pl

MIN_SHARE = 0.5  # of the values; a survey may have further rows of headings
MAX_VALUES = 1000  # that are checked
TIME = re.compile(
    r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}[ T,]+\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[ap]\.?m\.?)?( ?(z|utc|[a-z]{2,5}|[+-]\d.*)(\S+)?)?",
    re.IGNORECASE,
)
DATE = re.compile(r"\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4}")
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
IP = re.compile(r"\d{1,3}(\.\d{1,3}){3}|[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,7}", re.IGNORECASE)


def holds_times(column: pl.Series) -> bool:
    """Return whether a column has times (a date with the time of day), as such or as text.

    >>> holds_times(pl.Series(["4/9/2024 14:03:00"])), holds_times(pl.Series(["2024-04-09"]))
    (True, False)
    """
    return isinstance(column.dtype, pl.Datetime) or _match(column, TIME)


def holds_dates(column: pl.Series) -> bool:
    """Return whether a column has dates, as such or as text.

    >>> holds_dates(pl.Series(["2024-04-09", "4/9/2024"])), holds_dates(pl.Series(["4.9"]))
    (True, False)
    """
    return isinstance(column.dtype, pl.Date) or _match(column, DATE)


def holds_emails(column: pl.Series) -> bool:
    """Return whether a column has e-mail addresses.

    >>> holds_emails(pl.Series(["ann@x.org", "bo@x.org"])), holds_emails(pl.Series(["@ann hi", "x"]))
    (True, False)
    """
    return _match(column, EMAIL)


def holds_ip_addresses(column: pl.Series) -> bool:
    """Return whether a column has IP addresses.

    >>> holds_ip_addresses(pl.Series(["10.1.0.1", "2001:db8::7"])), holds_ip_addresses(pl.Series(["10:30"]))
    (True, False)
    """
    return _match(column, IP)


def _match(column: pl.Series, pattern: re.Pattern[str]) -> bool:
    """Return whether at least MIN_SHARE of the first texts in a column that are not empty match a pattern."""
    if column.dtype != pl.String:
        return False
    known = [text.strip() for text in column.drop_nulls().head(MAX_VALUES).to_list() if text.strip()]
    return bool(known) and sum(pattern.fullmatch(text) is not None for text in known) >= MIN_SHARE * len(known)
