"""Texts as measures compare them: normalised, and by their words."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphkit.records.structs import ChunkStruct


def folded(text: str) -> str:
    """Return text in NFKC with its case folded.

    Folding takes some letters apart (``ΐ``, ``ǰ``), which normalising once more puts together again.
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def normalised(text: str) -> str:
    """Return text for a tolerant comparison: folded, each run of white space one space."""
    return " ".join(folded(text).split())


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def without_articles(text: str) -> str:
    """Return text for a comparison of answers: normalised, without punctuation and the words a, an and the.

    >>> without_articles("The U.S.A.,  an  example")
    'usa example'
    """
    return " ".join(_ARTICLES.sub(" ", folded(text).translate(_PUNCTUATION)).split())


def textless(chunks: Collection[ChunkStruct]) -> bool:
    """Return whether something was retrieved, and no chunk of it carries a text."""
    return bool(chunks) and not any(chunk.text and chunk.text.strip() for chunk in chunks)


def last_component(symbol: str) -> str:
    """Return the last component of a symbol.

    >>> last_component("Basket.settle(int)"), last_component("shop::basket"), last_component("orders.total_cents")
    ('settle', 'basket', 'total_cents')
    """
    return re.split(r"[.:#/]+", symbol.partition("(")[0].strip())[-1]


_WORD = re.compile(r"\w+")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, each a run of letters, digits and underscores."""
    return frozenset(_WORD.findall(text))


def named(name: str, text: str, words: frozenset[str]) -> bool:
    """Return whether a text, whose words are given, contains a name as a whole word."""
    if _WORD.fullmatch(name):
        return name in words
    # Most texts lack most names, which needs no regular expression to find out.
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
