"""Numbers and texts as messages and tables show them."""

from __future__ import annotations

import re

#: The name of the group of questions without a label.
NO_LABEL = "(none)"


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


def shortened(text: str, longest: int = 80) -> str:
    """Return the beginning of a foreign text for a message.

    >>> shortened("abcdef", 3)
    'abc...'
    """
    return text if len(text) <= longest else f"{text[:longest]}..."
