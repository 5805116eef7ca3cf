"""Lines of results: printed as a table, and written into RESULTS.md."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

FILE = Path(__file__).parent / "RESULTS.md"


@dataclass(frozen=True)
class Line:
    """One comparison: what was measured, beside what, and how they relate.

    ``wanted`` is the bar as text, where there is one, and ``met`` whether the ratio reaches it.
    """

    what: str
    value: str
    beside: str
    other: str
    ratio: str
    wanted: str = ""
    met: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the line in a table."""
        bar = "" if self.met is None else f"{self.wanted}: {'met' if self.met else 'NOT met'}"
        return (self.what, self.value, self.beside, self.other, self.ratio, bar)


HEAD = ("what", "measured", "beside", "measured", "ratio", "bar")


def table(lines: Sequence[Line]) -> str:
    """Return the lines as a Markdown table."""
    rows = [HEAD, *(line.cells for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    shown = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    return "\n".join([shown[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *shown[1:]])


def spaced(number: float) -> str:
    """Return a whole number with its thousands apart."""
    return f"{number:,.0f}".replace(",", " ")


def machine() -> str:
    """Return the size of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GB"


def write(section: str, note: str, lines: Sequence[Line]) -> None:
    """Put a section into RESULTS.md, in place of the one of the same name."""
    text = FILE.read_text(encoding="utf-8") if FILE.exists() else INTRODUCTION
    body = f"## {section}\n\n{date.today().isoformat()}, {machine()}. {note}\n\n{table(lines)}\n"
    old = re.compile(rf"^## {re.escape(section)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    text = old.sub(lambda _: body + "\n", text) if old.search(text) else f"{text.rstrip()}\n\n{body}"
    FILE.write_text(text.rstrip() + "\n", encoding="utf-8")


INTRODUCTION = """# Results

Written by `make bench ARGS="--write"`. Compare within a table: both sides of a line were measured in one run, in
turns, and the median is shown. `M` is a million questions.
"""
