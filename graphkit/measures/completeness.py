"""Completeness and conflict resolution by key terms: repeatable, and without a judge.

The answer addresses a text if it contains its key terms. The key terms of a text are its identifiers, if it has any:
quotations in backticks or double quotes; words with an underscore between letters (``price_cents``), with a
capital behind a small letter or in front of one (``OutOfStock``, ``HTTPServer``), of more than four capitals
(``MESSAGES``), with a dot inside (``api/auth.py``, ``orders.total``), with a digit (``409``, ``1.x``), or with a slash
in front (``/login``); and words that are a symbol of the question (one of its expected symbols, or of its gold steps):
the table ``stock`` is a name, although it looks like a word. All of them must occur in the answer as whole words, in
the same case. A text without identifiers is addressed if at least ``threshold`` of its content words occur, in any
case: all its words except stop words, or all its words if there are no others.

A term that occurs doesn't make a true statement: only a judge can decide that.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.text import folded, last_component

NO_FACTS = "no required facts"
NO_CONFLICTS = "no annotated conflicts"
NO_RESOLUTION = "no annotated conflict says what resolves it"

#: The share of the content words of a text without identifiers that must occur.
THRESHOLD = 0.6


@dataclass(frozen=True)
class _KeyTerms(Measure):
    """Base of the measures that look for key terms in the answer."""

    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ValueError(f"threshold must be above 0 and at most 1, not {self.threshold!r}")

    def _share(self, texts: list[str], case: Case) -> float | Unscored:
        answer = case.answer.answer if case.answer is not None else None
        if answer is None:
            return Unscored(NO_ANSWER)
        names = symbols_of(case)
        return sum(addressed(text, answer, self.threshold, names) for text in texts) / len(texts)


@dataclass(frozen=True)
class Completeness(_KeyTerms):
    """Required facts whose key terms the answer contains / required facts (deterministic).

    A fact is addressed if all its identifiers (names in code, paths, numbers, quoted text, and words that are a symbol
    of the question's gold) occur in the answer as whole words; a fact without identifiers, if at least
    ``threshold`` of its content words do. A record without an answer is not scored; an empty answer addresses nothing.
    """

    source = "nugget recall (TREC QA) by key terms"
    layer = "reasoning"
    target = 0.75
    severe = 0.5

    def value(self, case: Case) -> float | Unscored:
        facts = [fact.text for fact in case.question.facts]
        return self._share(facts, case) if facts else Unscored(NO_FACTS, of_question=True)


@dataclass(frozen=True)
class ConflictResolution(_KeyTerms):
    """Annotated conflicts whose resolution's key terms the answer contains / conflicts (deterministic).

    The rule is that of Completeness, applied to the text of the resolution. Conflicts without a resolution are ignored;
    without any, the question is not scored.
    """

    source = "conflict resolution by key terms"
    layer = "reasoning"
    target = 0.6

    def value(self, case: Case) -> float | Unscored:
        conflicts = list(case.question.conflicts)
        if not conflicts:
            return Unscored(NO_CONFLICTS, of_question=True)
        resolutions = [
            conflict.resolution for conflict in conflicts if conflict.resolution and conflict.resolution.strip()
        ]
        return self._share(resolutions, case) if resolutions else Unscored(NO_RESOLUTION, of_question=True)


def symbols_of(case: Case) -> frozenset[str]:
    """Return the last components of the symbols that the question is about."""
    nodes = (node for source, _, target in case.gold_edges for node in (source, target))
    symbols = [*case.question.expected_symbols, *(case.places.symbol(node) or "" for node in nodes)]
    return frozenset(map(last_component, symbols)) - {""}


def addressed(text: str, answer: str, threshold: float = THRESHOLD, names: frozenset[str] = frozenset()) -> bool:
    """Return whether an answer contains the key terms of a text; ``names`` are words known to be identifiers.

    >>> addressed("charge raises PaymentDeclined", "It ends in PaymentDeclined."), addressed("19 percent", "at 1.19")
    (True, False)
    """
    plain = unicodedata.normalize("NFKC", answer)
    terms = identifiers_in(text)
    if names:
        terms |= names.intersection(_WORD.findall(_QUOTED.sub(" ", text)))
    if terms:
        return all(_term(term).search(plain) for term in terms)
    wanted = content_words(text)
    if not wanted:
        return text.strip() in plain
    return len(wanted & set(_WORD.findall(folded(answer)))) >= threshold * len(wanted)


@lru_cache(maxsize=4096)
def identifiers_in(text: str) -> frozenset[str]:
    """Return the identifiers of a text.

    >>> sorted(identifiers_in('submit sends POST to /orders, and api/auth.py says "sold out" (409).'))
    ['/orders', '409', 'api/auth.py', 'sold out']
    """
    text = unicodedata.normalize("NFKC", text)
    quoted = {found for pair in _QUOTED.findall(text) for found in pair if found.strip()}
    words = (_POSSESSIVE.sub("", word.strip(_AROUND)) for word in _QUOTED.sub(" ", text).split())
    return frozenset(quoted) | frozenset(word for word in words if _IDENTIFIER.search(word))


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Return the words of a text without stop words, or all of them if there are no others; case is folded.

    >>> sorted(content_words("The table is payments")), sorted(content_words("it is"))
    (['payments', 'table'], ['is', 'it'])
    """
    words = frozenset(_WORD.findall(folded(text)))
    return words - _STOP_WORDS or words


_WORD = re.compile(r"\w+")
#: No quotation contains another opener, so that unclosed ones are skipped in one step each.
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^“”\n]+)”")
_AROUND = ".,;:!?()[]{}<>\"'`*“”‘’…"
_POSSESSIVE = re.compile(r"['’]s?$")
_IDENTIFIER = re.compile(
    r"""
      [^\W_]_+[^\W_]                   # price_cents
    | [a-z0-9][A-Z] | [A-Z]{2}[a-z]    # OutOfStock, HTTPServer
    | ^[A-Z]{5,}$                      # MESSAGES
    | \w\.\w                           # orders.total, api/auth.py
    | \d                               # 409
    | ^/\w                             # /login
    """,
    re.VERBOSE,
)


@lru_cache(maxsize=4096)
def _term(term: str) -> re.Pattern[str]:
    """Return a pattern for a term as a whole word; a number doesn't match inside a longer number."""
    before, after = r"(?<!\w)", r"(?!\w)"
    if term[0].isdigit():
        before += r"(?<!\d[.,])"
    if term[-1].isdigit():
        after += r"(?![.,]\d)"
    return re.compile(before + r"\s+".join(map(re.escape, term.split())) + after)


_STOP_WORDS = frozenset(
    """
    a about after all also an and any are as at be because been before being between both but by can could did do does
    doing down during each either for from further had has have having he her here hers him his how i if in into is it
    its itself just me more most my neither no nor not now of off on once only onto or other our out over own same she
    should so some such than that the their them then there these they this those through to too under until up upon
    very was we were what when where which while who whom whose why will with within without would you your
    """.split()  # noqa: SIM905 - a list of a hundred strings reads worse
)
