"""Parse times as other programs write them: "Wed Mar 09 22:16:08 PST 2021" and "3/9/2021 22:16:08"."""

import re
from datetime import UTC, datetime, timedelta, timezone
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
