"""Numbers and texts as messages and tables show them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

#: The name of the group of questions without a label.
NO_LABEL = "(none)"


def two(value: float | None, sign: bool = False) -> str:
    """Return a value with two decimals, or a dash for None; a half is rounded up, as a reader of 0.825 does.

    >>> two(0.4819), two(0.4819, sign=True), two(-0.001), two(-0.001, sign=True), two(0.825), two(-0.175)
    ('0.48', '+0.48', '0.00', '+0.00', '0.83', '-0.18')
    """
    if value is None:
        return "–"
    # The number that stands for 0.825 is smaller, and means have errors in their last digits.
    return f"{value + math.copysign(1e-9, value):{'+' if sign else '-'}z.2f}"


def shown(value: float | None) -> str:
    """Return a value with four decimals, or a dash for None."""
    return "–" if value is None else f"{value:.4f}"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "edge"), counted(3, "edge"), counted(0, "repository", "repositories")
    ('1 edge', '3 edges', '0 repositories')
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def short_shas(text: str) -> str:
    """Return text with each full sha shortened to twelve characters."""
    return re.sub(r"\b[0-9a-f]{40}\b", lambda match: match[0][:12], text)


def in_backticks(text: str, room: int) -> str:
    r"""Return text of somebody else between backticks: on one line, cut in its middle, without a backtick inside.

    >>> in_backticks("a`b\nc", 10), in_backticks("a_long_name", 7), in_backticks("", 7)
    ("`a'b c`", '`a_l…ame`', '`?`')
    """
    plain = text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)
    if len(plain) > room:
        plain = plain[: -(-room // 2) - 1] + "…" + plain[len(plain) - room // 2 :]
    return f"`{plain.replace('`', chr(39)).strip() or '?'}`"


def quoted(sentence: str, quote: Callable[[str], str]) -> str:
    """Return a sentence with what stands between backticks quoted otherwise.

    >>> quoted("did not retrieve `a`", repr)
    "did not retrieve 'a'"
    """
    return "".join(quote(part) if place % 2 else part for place, part in enumerate(sentence.split("`")))


def shortened(text: str, longest: int = 80) -> str:
    """Return the beginning of a foreign text for a message.

    >>> shortened("abcdef", 3)
    'abc...'
    """
    return text if len(text) <= longest else f"{text[:longest]}..."
