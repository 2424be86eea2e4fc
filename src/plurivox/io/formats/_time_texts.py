"""Parse times as other programs write them: "Wed Mar 09 22:16:08 PST 2021" and "3/9/2021 22:16:08"."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

from plurivox.io.formats._annotations import NAN

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
HOURS_FROM_UTC = {
    "UTC": 0,
    "GMT": 0,
    "PST": -8,
    "PDT": -7,
    "MST": -7,
    "MDT": -6,
    "CST": -6,
    "CDT": -5,
    "EST": -5,
    "EDT": -4,
}
ENGLISH = re.compile(r"(?:\w{3} )?(\w{3}) (\d{1,2}) (\d{1,2}):(\d{2}):(\d{2}) (\w{3}) (\d{4})$")
FORM_TIME = re.compile(
    r"(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
    r"(?:\.\d+)?\s*(?P<half>[AaPp]\.?[Mm])?.*?(?:(?:GMT|UTC)(?P<zone>[+-]\d{1,2}))?$"
)
SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}) (\d{1,2}):(\d{2}):(\d{2})$")


def english_time_to_unix_time(text: Any) -> float | None:
    """Return a time such as "Wed Mar 09 22:16:08 PST 2021", or an ISO time, as seconds since 1970.

    NaN if it is missing, None if it cannot be read.

    >>> english_time_to_unix_time("Wed Mar 09 22:16:08 PST 2021"), english_time_to_unix_time("soon")
    (1615356968.0, None)
    """
    if text is None or text == "":
        return NAN
    found = ENGLISH.match(str(text).strip())
    if found is None:
        return _other_time_to_unix_time(text)
    month, day, hour, minute, second, zone, year = found.groups()
    if month not in MONTHS or zone not in HOURS_FROM_UTC:
        return None
    offset = timezone(timedelta(hours=HOURS_FROM_UTC[zone]))
    numbers = int(year), MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second)
    return _timestamp_or_none(*numbers, zone=offset)


def american_time_to_unix_time(text: Any) -> float | None:
    """Return a time such as "3/9/2021 22:16:08" (month first, UTC), or an ISO time, as seconds since 1970.

    NaN if it is missing, None if it cannot be read.

    >>> american_time_to_unix_time("3/9/2021 22:16:08")
    1615328168.0
    """
    if text is None or text == "":
        return NAN
    found = SLASHES.match(str(text).strip())
    if found is None:
        return _other_time_to_unix_time(text)
    month, day, year, hour, minute, second = map(int, found.groups())
    return _timestamp_or_none(year, month, day, hour, minute, second, zone=UTC)


def _timestamp_or_none(*numbers: int, zone: timezone) -> float | None:
    """Return (year, month, day, hour, minute, second) in a time zone as seconds since 1970; None if it is not a time."""
    try:
        return datetime(*numbers, tzinfo=zone).timestamp()  # type: ignore[misc, arg-type]
    except ValueError:
        return None


def _other_time_to_unix_time(value: Any) -> float | None:
    """Return a datetime or an ISO time as seconds since 1970; None if it is neither."""
    moment = value
    if not isinstance(moment, datetime):
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def form_times_to_unix_times(values: Sequence[Any]) -> list[float]:
    """Return the times in a column of a survey, which all have one format, as seconds since 1970; NaN if not readable.

    Whether the day or the month comes first is seen in a number above 12, else in the order of the rows: forms are stored one
    after another. Times without a zone are UTC.

    >>> form_times_to_unix_times(["31/1/2024 9:00:00", "1/2/2024 1:30:00 PM"])
    [1706691600.0, 1706794200.0]
    """
    if all(value is None or isinstance(value, datetime) or _iso_or_none(value) is not None for value in values):
        return [NAN if value is None or (time := _other_time_to_unix_time(value)) is None else time for value in values]
    by_order = {
        order: [_form_time(str(value or ""), order) for value in values] for order in ("ymd", "mdy", "dmy")
    }  # None: not a time in this order, NaN: empty
    n_read = {order: sum(time is not None for time in times) for order, times in by_order.items()}
    best = [times for order, times in by_order.items() if n_read[order] == max(n_read.values())]
    found = next((times for times in best if _is_sorted(times)), best[0])
    return [NAN if time is None else time for time in found]


def _iso_or_none(value: Any) -> str | None:
    """Return an ISO time unchanged, None for another text."""
    try:
        datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return str(value)


def _form_time(text: str, order: str) -> float | None:
    """Return a time such as "9/4/2024 14:03:00" whose parts have an order as seconds since 1970; None if it has not."""
    if not text.strip():
        return NAN
    if (found := FORM_TIME.match(text.strip())) is None:
        return None
    part = dict(zip(order, map(int, found.group(1, 2, 3)), strict=True))
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"][0] in "pP")
    zone = UTC
    if found["zone"]:
        zone = timezone(timedelta(hours=int(found["zone"])))
    if len(found[order.index("y") + 1]) != 4:
        return None
    return _timestamp_or_none(part["y"], part["m"], part["d"], hour, minute, second, zone=zone)


def _is_sorted(times: Sequence[float | None]) -> bool:
    """Return whether the times that could be read never decrease."""
    known = [time for time in times if time is not None and time == time]
    return all(a <= b for a, b in pairwise(known))
