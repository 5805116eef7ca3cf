"""Finds the symbol that a line of code defines, as precisely as the heading of a diff needs it."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Longer lines are data.
_LONGEST = 500

_MODIFIERS = (
    "export|default|declare|public|private|protected|internal|static|final|abstract|async|unsafe|extern|virtual|inline|"
    r"override|const|open|sealed|data|suspend|partial|pub(?:\([^()]*\))?"
)
_CONTAINERS = "class|interface|struct|enum|trait|module|namespace|record|object"
_KEYWORDS = f"def|function|func|fn|fun|type|{_CONTAINERS}"

#: ``def f``, ``export async function f``, ``pub(crate) fn f``, ``func (r *Receiver) f``.
_NAMED = re.compile(
    rf"(?:(?:{_MODIFIERS})\s+)*(?P<kind>{_KEYWORDS})\b\s*\*?\s*(?:\([^()]*\)\s*)?(?P<name>[A-Za-z_$][\w$]*)"
)

#: ``const f = (``, ``const f = async function``.
_ASSIGNED = re.compile(
    r"(?:export\s+)?(?:const|let|var)\s+(?P<name>[A-Za-z_$][\w$]*)\s*=\s*(?:async\s+)?(?:function\b|\([^()]*\)\s*=>|\w+\s*=>)"
)

#: ``static int f(``, ``public void Type::f(``: a name before a bracket, with a type before it.
_TYPED = re.compile(r"(?:[\w<>\[\],.*&:?]+\s+)+[*&]*(?:\w+::)?(?P<name>~?[A-Za-z_]\w*)\s*\([^;=]*\{?\s*\Z")

_NO_TYPES = {"return", "else", "new", "throw", "await", "yield", "case", "if", "for", "while", "switch", "elif", "in"}
_NO_TYPES |= {"not", "and", "or", "is", "assert", "raise", "import", "from", "with", "print", "delete", "goto"}
_NO_NAMES = {"if", "for", "while", "switch", "catch", "return", "sizeof", "elif", "with", "and", "or", "not", "in"}


class Definition(NamedTuple):
    """A symbol, the indentation of its line, and whether it contains others, as a class does."""

    symbol: str
    indent: int
    container: bool


def indent_of(line: str) -> int:
    """Return the indentation of a line in columns; a tab has eight."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs())


def definition(line: str) -> Definition | None:
    """Return the definition that a line of code begins, or None.

    >>> definition("    async def fetch(self):")
    Definition(symbol='fetch', indent=4, container=False)
    >>> definition("func (s *Store) Get(id string) error {").symbol
    'Get'
    >>> definition("static int parse(const char *text)").symbol
    'parse'
    >>> definition("    return parse(text)") is None
    True
    """
    text = line.strip()
    if not text or len(text) > _LONGEST or text.startswith(("#", "//", "*", "/*", "@")):
        return None
    found = _NAMED.match(text) or _ASSIGNED.match(text)
    if found is None:
        found = _TYPED.match(text)
        if found is None or text.split()[0] in _NO_TYPES or found["name"] in _NO_NAMES:
            return None
    container = found.groupdict().get("kind", "") in _CONTAINERS.split("|")
    return Definition(found["name"], indent_of(line), container)
