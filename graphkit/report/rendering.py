"""The templates of the report: text from data is escaped, and a missing value is an error."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from graphkit.analysis.findings import digits, two
from graphkit.records.words import counted
from graphkit.report.escaping import isolated, middle, visible
from graphkit.report.spine_view import breakable

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Return the environment of all templates, with the filters that they use."""
    made = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FileSystemLoader(TEMPLATES),
    )
    made.filters["isolated"] = isolated
    made.filters["visible"] = visible
    made.filters["middle"] = middle
    made.filters["counted"] = counted
    made.filters["two"] = two
    made.filters["breakable"] = breakable
    made.filters["brief"] = digits
    made.filters["tick"] = "{:,.12g}".format
    return made
