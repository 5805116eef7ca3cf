"""Whether a quote stands in a text: the one thing a judge says that a text can tell."""

from __future__ import annotations

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=256)
def plain(text: str) -> str:
    """Return a text in NFKC, each run of white space one space; case is kept."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def occurs(quote: str, text: str) -> bool:
    """Tell whether a quote occurs in a text, after Unicode and white space were normalised; case counts.

    A quote without a letter or digit quotes nothing.

    >>> occurs("total  cents", "the total\\ncents"), occurs("Total", "the total"), occurs(" ", "a b")
    (True, False, False)
    """
    wanted = plain(quote)
    return any(map(str.isalnum, wanted)) and wanted in plain(text)
