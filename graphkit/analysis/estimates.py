"""Estimates with 95% intervals, or the reason why there is none; a few items never give certainty."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphkit.scoring.score_intervals import Shape


def as_plain(value: Any) -> Any:
    """Return a record of figures, or a collection of such records, as JSON values; fields keep their names."""
    if hasattr(value, "as_json"):
        return value.as_json()
    if isinstance(value, Mapping):
        return {name: as_plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(one) for one in value]
    return value


def fields_of(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON values."""
    return {field.name: as_plain(getattr(record, field.name)) for field in dataclasses.fields(record)}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of a sample, with its 95% confidence interval.

    Attributes
    ----------
    value
        None if the sample doesn't determine it.
    low, high
        The interval; None if the sample doesn't show the spread.
    reason
        Why the value or its interval is missing, or a caveat.
    size
        The number of items.
    shape
        The basis of the interval, from which :func:`needed` computes that of a larger sample.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    size: int = 0
    shape: Shape | None = dataclasses.field(default=None, repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return the figures and the reason."""
        return {"value": self.value, "low": self.low, "high": self.high, "reason": self.reason, "n": self.size}

    def __str__(self) -> str:
        if self.value is None:
            return f"– ({self.reason})"
        if self.low is None or self.high is None:
            return f"{rounded(self.value)} (no interval: {self.reason})"
        return f"{rounded(self.value)} [{rounded(self.low)}, {rounded(self.high)}]"


def rounded(value: float) -> str:
    """Return a value with three decimals, and 0 without a sign.

    >>> rounded(-0.0001), rounded(2 / 3)
    ('0.000', '0.667')
    """
    return f"{round(value, 3) + 0.0:.3f}"
