"""The templates of the report and its script.

In templates, text from data is escaped, and a missing value is an error. The script is ES modules, joined into one text
when a page is written: each is a file of its own, which Node can import and TypeScript can check; a page holds them as
one script, so that it needs neither a network nor a server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from graphkit.analysis.findings import digits
from graphkit.records.words import counted, two
from graphkit.report.escaping import isolated, middle, visible
from graphkit.report.spine_view import breakable

TEMPLATES = Path(__file__).parent / "templates"

#: The module that starts the page of a report; it imports the others.
ENTRY = "page.js"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const )", re.MULTILINE)


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


@cache
def script(entry: str = ENTRY) -> str:
    """Return the modules that one needs as one strict script, each behind those that it imports.

    Modules share one scope, so a name at the top level of one must not occur at that of another.
    """
    return '"use strict";\n(() => {\n' + "".join(_joined(entry, set())) + "})();\n"


def _joined(name: str, known: set[str]) -> Iterator[str]:
    """Yield a module without its imports and exports, behind the modules that it needs and that aren't known yet."""
    if name in known:
        return
    known.add(name)
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    for needed in _IMPORT.findall(text):
        yield from _joined(needed, known)
    yield _EXPORT.sub("", _IMPORT.sub("", text))
