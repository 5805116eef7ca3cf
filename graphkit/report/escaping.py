"""Make text from data safe to show."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import quote

import msgspec
from markupsafe import Markup

_Item = TypeVar("_Item")
_HIDDEN = [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
_IN_NAMES: dict[int, str | None] = {code: f"\\u{code:04x}" for code in _HIDDEN}
#: A text keeps its lines and tabs.
_IN_TEXTS = {**_IN_NAMES, 0x0D: None} | dict(zip(b"\t\n", "\t\n", strict=True)) | {0x2028: "\u2028", 0x2029: "\u2029"}

#: Words with a letter of a script that is written from right to left, one behind the other, without the marks at their
#: end.
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
_WORD = rf"(?<![^\s(\[])[^\s(\[]*{_RIGHT_TO_LEFT}\S*?(?=[.,:;!?)\]]{{0,3}}(?:\s|$))"
_LABELS = re.compile(rf"({_WORD}(?:\s+{_WORD})*)")


def isolated(text: str) -> Markup:
    """Return a sentence escaped, with its right-to-left labels isolated, so that they don't reorder what is around.

    >>> isolated("\u05d0-2, then <b>")
    Markup('<bdi>\u05d0-2</bdi>, then &lt;b&gt;')
    """
    parts = _LABELS.split(text)
    return Markup("").join(
        Markup("<bdi>{}</bdi>").format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def apart(name: str) -> str:
    """Return a name between characters that isolate it in a text that can hold no elements, such as a title.

    >>> apart("a")
    '\\u2068a\\u2069'
    """
    return f"\u2068{name}\u2069"


def middle(text: str, room: int) -> str:
    """Return text cut in its middle to a length: both ends of an id say more than its start alone.

    >>> middle("storefront-graph-of-a-very-long-night", room=13)
    'storef…-night'
    """
    return text if len(text) <= room else text[: -(-room // 2) - 1] + "…" + text[-(room // 2) :]


def visible(name: str, limit: int | None = None) -> str:
    r"""Return a name on one line, cut to a length, with control characters, line ends and direction marks escaped.

    >>> visible("red \x1b[31m, and so on", limit=12)
    'red \\u001b[…'
    >>> visible("one\ntwo")
    'one\\u000atwo'
    """
    # Most names are this one, and nothing that is printable is escaped.
    if name.isprintable() and (limit is None or len(name) <= limit):
        return name
    return _cut(name, limit, _IN_NAMES)


def fragment(run: str, question: str) -> str:
    """Return the fragment of the address that opens a question of a run in the page.

    >>> fragment("bm25/2", "q 1")
    '#bm25%2F2/q%201'
    """
    return f"#{quote(visible(run), safe='')}/{quote(visible(question), safe='')}"


def question_link(run: str, question: str) -> dict[str, str]:
    """Return the name of a question of a run, and the fragment of the address that opens it.

    >>> question_link("bm25", "q 1")
    {'name': 'q 1', 'fragment': '#bm25/q%201'}
    """
    return {"name": visible(question), "fragment": fragment(run, question)}


def visible_text(text: str, limit: int | None = None) -> str:
    r"""Return a text as :func:`visible` returns a name, but keep its lines and tabs.

    >>> visible_text("one\r\ntwo \x1b")
    'one\ntwo \\u001b'
    """
    if text.isprintable() and (limit is None or len(text) <= limit):
        return text
    return _cut(text, limit, _IN_TEXTS)


def optional_text(text: str | None, limit: int) -> str | None:
    """Return a text as :func:`visible_text` does; None stays None."""
    return None if text is None else visible_text(text, limit)


def listing(name: str, items: Sequence[_Item], most: int, show: Callable[[_Item], object]) -> dict[str, object]:
    """Return the first items of a list as the page shows them, under a name, and the number of the others.

    >>> listing("ids", ["a", "b", "c"], 2, str.upper)
    {'ids': ['A', 'B'], 'more_ids': 1}
    """
    return {name: [show(one) for one in items[:most]], f"more_{name}": max(len(items) - most, 0)}


def _cut(text: str, limit: int | None, written: Mapping[int, str | None]) -> str:
    cut = text if limit is None or len(text) <= limit else text[: limit - 1]
    plain = cut.translate(written)
    return plain if cut is text and (limit is None or len(plain) <= limit) else plain[: (limit or 0) - 1] + "…"


def page_json(value: object) -> str:
    """Return the compact JSON of a value; structs become objects.

    >>> page_json({"text": "one"})
    '{"text":"one"}'
    """
    return msgspec.json.encode(value).decode()


#: How hard data is compressed: 9 takes twice the time of 7 and saves a twentieth of a large page.
LEVEL = 7


def packed(text: str) -> Markup:
    """Return JSON compressed by gzip, as a JSON string in base64: no text can end its element.

    The same text gives the same string under every Python: its module ``gzip`` names a system in the header or doesn't.
    """
    packer = zlib.compressobj(LEVEL, wbits=zlib.MAX_WBITS | 16)
    data = packer.compress(text.encode()) + packer.flush()
    return Markup(f'"{base64.b64encode(data).decode()}"')  # noqa: S704 - base64
