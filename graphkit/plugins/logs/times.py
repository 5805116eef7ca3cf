"""Times in logs, in whichever form they were written."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from graphkit.records.moments import moment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds_of(value: Any, second: float | None = None) -> int | None:
    """Return a time in microseconds since 1970, from a text or a number; None for anything else.

    A time without a zone is one of UTC. ``second`` is the number's unit as a part of a second, such as 1e9, where the
    format states it. Else its size gives the unit: below 1e11 it is seconds until the year 5138, then milliseconds, and
    so on.

    >>> microseconds_of("1970-01-01 00:00:01.5"), microseconds_of("1700000000000000000"), microseconds_of("soon")
    (1500000, 1700000000000000, None)
    """
    if isinstance(value, str):
        if re.fullmatch(r"\d{1,20}", value) is None:
            try:
                stated = moment(value)
            except (ValueError, OverflowError):
                return None
            return ((stated if stated.tzinfo is not None else stated.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e20:
        return None
    second = second or next(size for limit, size in ((1e11, 1), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9)) if value < limit)
    try:
        # As the SDK rounds nanoseconds for its own JSON, so that both forms of a span give one latency.
        return (datetime.fromtimestamp(value / second, tz=UTC) - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError, OSError):
        return None


def milliseconds_between(start: Any, end: Any) -> float | None:
    """Return the milliseconds between two times; None if one of them is unknown.

    >>> milliseconds_between("2026-01-01 10:00:00", "2026-01-01T10:00:00.250000"), milliseconds_between(None, 5)
    (250.0, None)
    """
    begun, done = microseconds_of(start), microseconds_of(end)
    return None if begun is None or done is None else (done - begun) / 1000
