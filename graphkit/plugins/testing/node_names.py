"""Names of tests from texts of others: on one line, printable, of a bounded length, and each one once."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

#: The longest part of a name that comes from a text; pytest puts names into an environment variable.
LONGEST = 200


def safe(text: str) -> str:
    r"""Return a text as a part of a test's name.

    >>> safe("sf-01"), safe("a\n\x1b[31m"), safe("")
    ('sf-01', 'a\\n\\x1b[31m', '-')
    """
    if not text.isprintable() or "\\" in text:
        text = text.encode("unicode_escape").decode()
    text = text.replace("::()", "\\x3a:()")  # pytest 8 refuses these characters in a node id
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}...{blake2b(text.encode(), digest_size=4).hexdigest()}"
    return text or "-"


def unique_names(texts: Iterable[str]) -> list[str]:
    """Return a name for each text, in their order; a name that is taken gets a number.

    >>> unique_names(["a\\n", "a\\\\n", "b"])
    ['a\\\\n', 'a\\\\\\\\n', 'b']
    """
    taken: set[str] = set()
    names = []
    for text in texts:
        name, number = safe(text), 1
        while name in taken:
            name, number = f"{safe(text)}_{number}", number + 1
        taken.add(name)
        names.append(name)
    return names
