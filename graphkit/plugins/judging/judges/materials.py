"""The materials that a judge sees of one answer: question, gold answer, answer, chunks and traversed edges.

Each has a short key: ``c3`` for a chunk, ``e2`` for an edge, ``s1`` for a sentence of the answer, ``f1`` for a fact.
Short keys are cheaper than paths, and an unknown one is easy to detect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from graphkit.measures.case import Case
from graphkit.measures.matching import Edge, contained
from graphkit.measures.unscored import NO_RETRIEVAL
from graphkit.plugins.judging.judges.citations import FoundCitation, Place, find_citations, resolved
from graphkit.plugins.judging.judges.sentences import Sentence, sentences_of
from graphkit.records.words import counted

#: The default limit of context tokens.
CONTEXT_TOKENS = 24_000

#: Characters per token: about four in English text, about three in code. The lower number is the safe one.
CHARACTERS_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """A retrieved chunk in the prompt, with its ``key`` such as ``c1``; ``source`` is ``repo/path``."""

    key: str
    id: str
    source: str
    text: str
    symbol: str | None = None


@dataclass(frozen=True, slots=True)
class ShownEdge:
    """A traversed edge in the prompt, with its ``key`` such as ``e1``."""

    key: str
    source: str
    relation: str | None
    target: str
    in_gold: bool | None

    @property
    def text(self) -> str:
        """The edge as an arrow."""
        return f"{self.source} -{self.relation or ''}-> {self.target}"


@dataclass(frozen=True)
class Materials:
    """Everything that a judge may see of one answer."""

    run: str
    question_id: str
    question: str
    answer: str
    #: From the annotation; None or empty if absent. A conflict is the sources that disagree and its resolution, which
    #: may be empty.
    gold_answer: str | None = None
    facts: tuple[str, ...] = ()
    conflicts: tuple[tuple[tuple[str, ...], str], ...] = ()
    chunks: tuple[ShownChunk, ...] = ()  # those that fit into the budget, best first
    edges: tuple[ShownEdge, ...] = ()
    left_out: tuple[str, ...] = ()  # ids of the other chunks: they didn't fit, or have no text
    chunks_logged: bool = True  # whether the record logs its retrieved chunks
    citations: tuple[FoundCitation, ...] = ()
    services: tuple[str | None, ...] = ()  # the service or repository of each fact, or None
    case: Case | None = field(default=None, repr=False, compare=False)

    @cached_property
    def sentences(self) -> Sequence[Sentence]:
        """The sentences of the answer, numbered."""
        return sentences_of(self.answer)

    @cached_property
    def chunk_by_key(self) -> dict[str, ShownChunk]:
        """The shown chunks by their keys."""
        return {chunk.key: chunk for chunk in self.chunks}

    @cached_property
    def edge_by_key(self) -> dict[str, ShownEdge]:
        """The traversed edges by their keys."""
        return {edge.key: edge for edge in self.edges}

    @property
    def incomplete(self) -> bool:
        """Whether there are, or may be, retrieved chunks that the judge doesn't see."""
        return bool(self.left_out) or not self.chunks_logged

    @property
    def unseen(self) -> str:
        """The reason: how many retrieved chunks the judge didn't see, or that they weren't logged."""
        if not self.chunks_logged:
            return NO_RETRIEVAL
        total = len(self.chunks) + len(self.left_out)
        return f"the judge wasn't shown {len(self.left_out)} of {counted(total, 'chunk')}"


def materials_of(
    case: Case, run: str, *, context_tokens: int = CONTEXT_TOKENS, pattern: re.Pattern[str] | None = None
) -> Materials:
    """Return the materials of one answer.

    Chunks are shown whole or not at all: best first, each that still fits into ``context_tokens``, and once if
    retrieved twice. Edges are shown once each, in the order of the traversal.

    ``pattern`` is an additional pattern of citations (``citations.citation_pattern``).
    """
    question, record = case.question, case.answer
    answer = (record.answer if record is not None else None) or ""
    chunks, left_out, places = _chunks(case, context_tokens)
    known = {place.id for place in places} | {place.source for place in places}
    listed = tuple(record.citations) if record is not None else ()
    facts = [fact for fact in question.facts if fact.text.strip()]
    return Materials(
        run=run,
        question_id=question.id,
        question=question.question,
        answer=answer,
        gold_answer=question.gold_answer if question.gold_answer and question.gold_answer.strip() else None,
        facts=tuple(fact.text for fact in facts),
        conflicts=tuple((tuple(one.between), (one.resolution or "").strip()) for one in question.conflicts),
        chunks=chunks,
        edges=_edges(case),
        left_out=left_out,
        chunks_logged=case.chunks_logged,
        citations=resolved(find_citations(answer, listed, known, pattern), places, case.places),
        services=tuple(fact.repo or None for fact in facts),
        case=case,
    )


def _chunks(case: Case, budget: int) -> tuple[tuple[ShownChunk, ...], tuple[str, ...], list[Place]]:
    """Return the shown chunks, the ids of the others, and the places of all."""
    shown: list[ShownChunk] = []
    left_out: list[str] = []
    places: list[Place] = []
    seen: set[tuple[str, str | None]] = set()
    room = budget * CHARACTERS_PER_TOKEN
    for chunk in case.chunks:
        if (chunk.id, chunk.text) in seen:
            continue
        seen.add((chunk.id, chunk.text))
        path, own = case.places.split(chunk.id)
        source, symbol = case.source_of(chunk), chunk.symbol or own
        places.append(Place(chunk.id, source, chunk.path or path, symbol))
        if chunk.text is None or len(chunk.text) > room:
            left_out.append(chunk.id)
            continue
        room -= len(chunk.text)
        shown.append(ShownChunk(f"c{len(shown) + 1}", chunk.id, source, chunk.text, symbol))
    return tuple(shown), tuple(left_out), places


def _edges(case: Case) -> tuple[ShownEdge, ...]:
    traversed: dict[Edge, None] = dict.fromkeys(edge for path in case.walked_paths for edge in path)
    gold = contained(traversed, case.gold_edges, case.untyped) if case.gold_edges else None
    return tuple(
        ShownEdge(f"e{number}", source, relation, target, None if gold is None else (source, relation, target) in gold)
        for number, (source, relation, target) in enumerate(traversed, 1)
    )
