"""Measure of how many of the retrieved sources the answer uses."""

from __future__ import annotations

from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.identifiers import SHORTEST, defined_identifiers
from graphkit.measures.text import last_component, named, textless, words_of
from graphkit.measures.unscored import NO_RETRIEVAL, NO_TEXT, Unscored
from graphkit.records.ids import Places
from graphkit.records.structs import ChunkStruct

NO_ANSWER = "the run logs no answer text (not logged)"
NO_SOURCE = "the question expects no source"
NO_IDENTIFIER = "no retrieved chunk defines an identifier"

#: How many sources a question without ``min_sources`` and without facts expects.
DEFAULT_SOURCES = 3


class Integration(Measure):
    """min(distinct sources used / sources expected, 1).

    The answer uses a source, ``repo/path``, if it contains, as a whole word and in the same case, an identifier longer
    than 4 characters that a retrieved chunk of the source defines: in its text, as tree-sitter reads it, or as the last
    component of its symbol. The number of expected sources is the question's ``min_sources``, else the number of its
    facts, else 3. Nothing retrieved gives 0; an empty answer uses nothing. A record that logs no answer or no retrieved
    chunks is not scored, nor is one whose chunks all lack a text, or define no identifier, as prose does. Without the
    extra ``code``, regular expressions find the identifiers.
    """

    source = "multi-source integration; identifiers by tree-sitter"
    layer = "reasoning"
    target = 0.7
    severe = 0.5

    def value(self, case: Case) -> float | Unscored:
        if case.answer is None or case.answer.answer is None:
            return Unscored(NO_ANSWER)
        expected = sources_expected(case)
        if expected == 0:
            return Unscored(NO_SOURCE, of_question=True)
        if not case.chunks_logged:
            return Unscored(NO_RETRIEVAL)
        if textless(case.chunks):
            return Unscored(NO_TEXT)
        used = used_sources(case)
        if not used and case.chunks and not any(identifiers_of(chunk, case.places) for chunk in case.chunks):
            return Unscored(NO_IDENTIFIER)
        return min(len(used) / expected, 1.0)


def sources_expected(case: Case) -> int:
    """Return how many sources an answer should use."""
    wanted = case.question.min_sources
    return wanted if wanted is not None else len(list(case.question.facts)) or DEFAULT_SOURCES


def used_sources(case: Case) -> set[str]:
    """Return the sources whose identifiers the answer names."""
    text = (case.answer.answer if case.answer is not None else None) or ""
    words = words_of(text)
    used: set[str] = set()
    for chunk in case.chunks:
        source = case.source_of(chunk)
        if source not in used and any(named(name, text, words) for name in identifiers_of(chunk, case.places)):
            used.add(source)
    return used


def identifiers_of(chunk: ChunkStruct, places: Places) -> set[str]:
    """Return the identifiers longer than 4 characters that a chunk defines; ``places`` split its id."""
    path, own = places.split(chunk.id)
    names: set[str] = set()
    if chunk.text:
        names |= defined_identifiers(chunk.text, chunk.path or path)
    symbol = last_component(chunk.symbol or own or "")
    if len(symbol) >= SHORTEST:
        names.add(symbol)
    return names
