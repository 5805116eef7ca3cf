"""Moments in texts, in the forms of ISO 8601."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

#: The end of a day as 24:00, which Python reads from 3.14 on.
_END_OF_DAY = re.compile(r"(.{8,10}[T ])24((?::?00){0,2}(?:[.,]0+)?(?:Z|[+-].*)?)", re.DOTALL)


def moment(text: str) -> datetime:
    """Return the moment that a text states; raise ValueError if it states none.

    >>> moment("2026-01-31T24:00:00Z") == moment("2026-02-01T00:00:00+00:00")
    True
    >>> moment("2026-01-31T24:01")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: ...
    """
    end = _END_OF_DAY.fullmatch(text)
    if end is None:
        return datetime.fromisoformat(text)
    return datetime.fromisoformat(f"{end[1]}00{end[2]}") + timedelta(days=1)
