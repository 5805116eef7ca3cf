"""What a command prints by default: a small table, one finding a line, what to type next, and the summary.

A finding says what the reader should know first; ``--full`` prints everything. The modules beside this one decide the
findings of an evaluation, a comparison, the failures of a run and the check of a dataset.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from graphkit.records.words import two

#: How many lines a command prints by default, those on standard error included.
LINES = 24

#: How many ids a finding names.
NAMED = 3


@dataclass(frozen=True, slots=True)
class BriefLine:
    """A finding in one sentence; those of the lowest ``weight`` are left out first where there is no room.

    ``level`` is the word that its line begins with: what it is about, such as "severe", "worse" or "failed".
    """

    level: str
    text: str
    weight: int = 50


@dataclass(frozen=True, slots=True)
class BriefTable:
    """A small table: its first column names the rows.

    Attributes
    ----------
    least
        The columns that a narrow terminal drops first.
    across
        Whether the other columns are runs; a terminal too narrow for them, and more than four runs, turn it round.
    levels
        What a cell means by its text, such as "worse".
    runs
        The columns that are names of runs.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    least: tuple[str, ...] = ()
    across: bool = False
    levels: tuple[tuple[str, str], ...] = ()
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Brief:
    """The default output of a command; ``commands`` are what to type next."""

    summary: str
    table: BriefTable | None = None
    findings: tuple[BriefLine, ...] = ()
    commands: tuple[str, ...] = ()


def digits(value: float | None) -> str:
    """Return a figure of any size with about two digits behind its first, or a dash for None.

    >>> digits(0.00123), digits(0.7925), digits(4.36), digits(18.734), digits(5331.9), digits(0.0)
    ('0.0012', '0.79', '4.36', '18.7', '5,332', '0')
    """
    if value is None or value >= 1:
        return (
            "–" if value is None else two(value) if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
        )
    return f"{value:.{1 - math.floor(math.log10(value))}f}" if value > 0 else "0"


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """Return the first few names, and how many more there are.

    >>> listed(["a", "b", "c", "d"], 2), listed(["a"])
    ('a, b and 2 more', 'a')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
