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


#: Scripts written without spaces or with endings joined to names, whose letters each count as a word.
_UNSPACED = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x9FFF)),
    *((0xAC00, 0xD7A3), (0x20000, 0x3FFFF)),
)
#: A letter or digit of a script that separates words.
LETTER = rf"[^\W{''.join(f'{chr(first)}-{chr(last)}' for first, last in _UNSPACED)}]"
#: A decimal point, which is part of its number.
_POINT = "\ue000"
_ARTICLES = frozenset(("a", "an", "the"))
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<![\d.])(\d+)\.(\d+)(?!\.?\d)")
_BETWEEN_DIGITS = re.compile(rf"(?<=\d)[^\w\s{_POINT}](?=\d)")


class _Signs(dict[int, str]):
    """Replacements of signs by ``gap``, found when a text first has them; ``+`` and ``#`` stay, as in C++ and C#."""

    def __init__(self, gap: str) -> None:
        self._gap = gap

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        sign = letter not in "+#" and unicodedata.category(letter)[0] in "PS"
        unspaced = any(first <= code <= last for first, last in _UNSPACED)
        self[code] = found = self._gap if sign else f" {letter} " if unspaced else letter
        return found


_JOINED, _APART = _Signs(""), _Signs(" ")


def in_words(text: str) -> tuple[str, str]:
    """Return the words of an answer, with a space before, between and behind them, by two readings of its signs.

    The first reading leaves them out (``U-2`` is ``u2``), the second separates words by them (``Ann/Bob`` is two). Case
    and the words a, an and the don't count, unless there is nothing else.

    >>> in_words("The U-2, an example"), in_words("1,925.5")[0] == in_words("1925.5")[0] != in_words("19255")[0]
    ((' u2 example ', ' u 2 example '), True)
    """
    plain = _DECIMAL.sub(rf"\1{_POINT}\2", _THOUSANDS.sub("", folded(text)))
    plain = _BETWEEN_DIGITS.sub(" ", plain)
    joined, apart = (_spaced(plain.translate(signs).split()) for signs in (_JOINED, _APART))
    return joined, apart


def _spaced(words: list[str]) -> str:
    kept = [word for word in words if word not in _ARTICLES] or words
    return f" {' '.join(kept)} " if kept else ""


#: The answer's own yes or no: *no* also determines a noun (no evidence), *yes* doesn't.
_DECISION = re.compile(
    r"(?<![\w'’-])(?:(yes)(?![\w'’-])|(no)(?![\w'’-])(?!\s*\.\s*\d)"
    r"(?=\s*(?:$|[^\w\s]|\n)|\s+(?:he|she|it|they|we|you|i|this|that|these|those|there|the|both|neither|not|because)\b))"
)
_EITHER = re.compile(r"\b(?:yes\s*(?:/|or)\s*no|no\s*(?:/|or)\s*yes)\b")


def decision(text: str) -> str | None:
    """Return the answer's own yes or no, the first that stands for itself; None without one.

    >>> decision("No, both are."), decision("There is no evidence; so yes."), decision("Yesterday"), decision("no one")
    ('no', 'yes', None, None)
    """
    found = _DECISION.search(_EITHER.sub(" ", folded(text)))
    return None if found is None else found[1] or found[2]


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def without_articles(text: str) -> str:
    """Return text for a comparison of answers: normalised, without punctuation and the words a, an and the.

    >>> without_articles("The U.S.A.,  an  example")
    'usa example'
    """
    return _bare(folded(text))


def squad_normalised(text: str) -> str:
    """Return text as the scripts of SQuAD and HotpotQA compare it: :func:`without_articles`, but not folded.

    >>> squad_normalised("The  U.S.A., ①"), without_articles("The  U.S.A., ①")
    ('usa ①', 'usa 1')
    """
    return _bare(text.lower())


def _bare(text: str) -> str:
    return " ".join(_ARTICLE.sub(" ", text.translate(_PUNCTUATION)).split())


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


def contained(span: str, text: str) -> bool:
    """Return whether a text holds a span as whole words, without regard to case and white space.

    A yes or no must be the text's own.

    >>> contained("Total: 5", "the total:  5"), contained("no", "I don't know"), contained("5", "25")
    (True, False, False)
    """
    wanted = normalised(span)
    if wanted in ("yes", "no"):
        return decision(text) == wanted
    before = f"(?<!{LETTER})" if re.match(LETTER, wanted) else ""
    behind = f"(?!{LETTER})" if re.search(f"{LETTER}$", wanted) else ""
    whole = normalised(text)
    return wanted in whole and re.search(f"{before}{re.escape(wanted)}{behind}", whole) is not None
