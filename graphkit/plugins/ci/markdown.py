"""Text from logs and datasets in Markdown as GitHub reads it: shown as it is, and never markup.

GitHub turns mentions, references to issues and addresses into links after it has read the Markdown, so that neither
backslashes nor entities stop it. It leaves code alone: whatever isn't a plain word is shown as code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphkit.errors import one_line
from graphkit.records.secrets import masked_message
from graphkit.report.escaping import middle

#: The most characters of a text.
ROOM = 80

#: A word or a number, with its punctuation: nothing that Markdown or GitHub reads as anything else.
_PLAIN = re.compile(r"""[("']?(?:[A-Za-z]+(?:['-][A-Za-z]+)*|[+-]?\d{1,6}(?:\.\d{1,6})?%?)["')]{0,2}[,.;:]?""")

#: What stands between two backticks, with its punctuation, and any word.
_QUOTED = re.compile(r"`([^`]+)`([,;:.)]*)")
_WORD = re.compile(r"(?<!\S)(?:`[^`]+`[,;:.)]*)(?!\S)|\S+")


def code_span(text: str, room: int = ROOM) -> str:
    """Return text as code, on one line, cut in its middle, with its secrets masked.

    >>> code_span("a -CALLS-> @b"), code_span("a`b"), code_span("")
    ('`a -CALLS-> @b`', '``a`b``', '(empty)')
    """
    plain = middle(one_line(masked_message(text)), room)
    if not plain:
        return "(empty)"
    ticks = "`" * (1 + _longest(plain))
    pad = " " if plain[0] in "` " or plain[-1] in "` " else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}"


def cell(text: str, room: int = ROOM) -> str:
    r"""Return text as code in a table, whose cells a pipe would end.

    >>> cell("a|b")
    '`a\\u007cb`'
    """
    return code_span(text.replace("|", r"\u007c"), room)


def prose(sentence: str, room: int = 4 * ROOM) -> str:
    """Return a sentence with its plain words as they are, and all else as code, without the marks that end it.

    What stands between two backticks, such as a command, is code as a whole.

    >>> prose("bm25 failed on 2 of 30 questions: see @you, <b>; see a.py.")
    '`bm25` failed on 2 of 30 questions: see `@you, <b>`; see `a.py`.'
    >>> prose("3 left out (3 have one (of the question)); see")
    '3 left out (3 have one (of the question)); see'
    >>> prose("save it by `graphkit baseline save`.")
    'save it by `graphkit baseline save`.'
    """
    parts: list[str] = []
    others: list[str] = []
    for word in [*_WORD.findall(middle(one_line(masked_message(sentence)), room)), ""]:
        quoted = _QUOTED.fullmatch(word)
        if word and not quoted and not _PLAIN.fullmatch(word):
            others.append(word)
            continue
        if others:
            text = " ".join(others)
            kept = text.rstrip(",;:.") or text
            parts.append(code_span(kept, room) + text[len(kept) :])
            others = []
        parts += [code_span(quoted[1], room) + quoted[2]] if quoted else [word] if word else []
    return " ".join(parts)


def fence(lines: Sequence[str]) -> str:
    """Return a fence of a block of code that no line in it can close.

    >>> fence(["ls"]), fence(["````"])
    ('```', '`````')
    """
    return "`" * max(3, 1 + max(map(_longest, lines), default=0))


def row(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def _longest(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
