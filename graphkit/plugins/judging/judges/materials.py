"""The materials that a judge sees of one answer: question, gold answer, answer, chunks and traversed edges.

Each has a short key: ``c3`` for a chunk, ``e2`` for an edge, ``s1`` for a sentence of the answer, ``f1`` for a fact,
``q1`` for a criterion,
``h2`` for a hop of the walk and ``h2n1`` for an edge that leads away there.
Short keys are cheaper than paths, and an unknown one is easy to detect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from graphkit.measures.case import Case
from graphkit.measures.matching import Edge, contained
from graphkit.measures.unscored import NO_RETRIEVAL
from graphkit.plugins.judging.judges.citations import FoundCitation, Place, find_citations, resolved
from graphkit.plugins.judging.judges.sentences import Sentence, sentences_of
from graphkit.plugins.judging.judges.walks import Leg, Surroundings, draw, legs_of
from graphkit.records.structs import CriterionStruct
from graphkit.records.words import counted

#: The default limit of context tokens, and of the tokens of hops.
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


@dataclass(frozen=True, slots=True)
class ShownHop:
    """A node that the walk left, in the prompt, with the edges that lead away from it.

    Attributes
    ----------
    choices
        The traversed edge among others, in a drawn order, each with a key such as ``h1n2``.
    walked
        The key of the traversed edge, which the prompt doesn't tell.
    others
        How many neighbours the walk didn't go to from this node, shown or not.
    """

    key: str
    leg: Leg
    choices: tuple[ShownEdge, ...]
    walked: str
    others: int

    @property
    def by_key(self) -> dict[str, ShownEdge]:
        """The choices by their keys."""
        return {one.key: one for one in self.choices}

    @property
    def text(self) -> str:
        """The traversed edge as an arrow."""
        return self.by_key[self.walked].text


@dataclass(frozen=True, slots=True)
class ShownPair:
    """Two answers side by side, and the criterion by which a judge compares them.

    Attributes
    ----------
    first, second
        Their texts, in the order in which the judge sees them; which run gave one isn't shown.
    criterion, text
        The name of the criterion, and its words.
    """

    first: str
    second: str
    criterion: str
    text: str


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
    criteria: tuple[CriterionStruct, ...] = ()  # a rubric alone is the only one
    rubric: str | None = None
    services: tuple[str | None, ...] = ()  # the service or repository of each fact, or None
    case: Case | None = field(default=None, repr=False, compare=False)
    surroundings: Surroundings | None = field(default=None, repr=False)  # None without a knowledge graph
    room: int = CONTEXT_TOKENS * CHARACTERS_PER_TOKEN  # the characters of the shown hops
    pair: ShownPair | None = None  # only to compare two answers; then there is no other answer
    trial: int = 1  # which of several times it is that the same is asked

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

    @cached_property
    def legs(self) -> list[list[Leg]]:
        """The retrieved paths, leg by leg."""
        return legs_of(self.case) if self.case is not None else []

    @cached_property
    def walk(self) -> list[list[tuple[str, ShownEdge]]]:
        """The retrieved paths, each edge with a key such as ``w1``; one that was traversed again is there again."""
        shown = {(edge.source, edge.relation, edge.target): edge for edge in self.edges}
        keys = (f"w{number}" for number in count(1))
        return [[(next(keys), shown[leg.edge]) for leg in path] for path in self.legs]

    @cached_property
    def hops(self) -> tuple[ShownHop, ...]:
        """Each traversed edge once whose node has a neighbour that the walk didn't go to; all, shown or not."""
        if self.case is None or self.surroundings is None:
            return ()
        legs = {leg.edge: leg for path in reversed(self.legs) for leg in reversed(path)}
        first = sorted(legs.values(), key=lambda leg: (leg.path, leg.position))
        there = [leg for leg in first if self.surroundings.others.get(leg.start)]
        return tuple(self._hop(f"h{number}", leg, self.surroundings) for number, leg in enumerate(there, 1))

    def _hop(self, key: str, leg: Leg, around: Surroundings) -> ShownHop:
        # Another seed than that of the sample, or the place of the traversed edge would give it away.
        drawn = draw(f"{self.question_id}/{key}", (leg.edge, *around.others[leg.start]))
        choices = tuple(ShownEdge(f"{key}n{number}", *edge, None) for number, edge in enumerate(drawn, 1))
        walked = choices[drawn.index(leg.edge)].key
        return ShownHop(key, leg, choices, walked, around.totals[leg.start])

    @cached_property
    def shown_hops(self) -> tuple[ShownHop, ...]:
        """The first hops of the walk, as many as fit."""
        room, shown = self.room, []
        for hop in self.hops:
            room -= len(hop.leg.start) + sum(len(one.text) for one in hop.choices)
            if room < 0:
                break
            shown.append(hop)
        return tuple(shown)

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


def criterion_keys(materials: Materials) -> dict[str, str]:
    """Return the criteria that are texts by their keys, such as ``q1``: those that a judge decides."""
    said = ((number, one.must or one.must_not) for number, one in enumerate(materials.criteria, 1))
    return {f"q{number}": text for number, text in said if isinstance(text, str) and text.strip()}


def materials_of(
    case: Case,
    run: str,
    *,
    context_tokens: int = CONTEXT_TOKENS,
    pattern: re.Pattern[str] | None = None,
    surroundings: Surroundings | None = None,
) -> Materials:
    """Return the materials of one answer.

    Chunks are shown whole or not at all: best first, each that still fits into ``context_tokens``, and once if
    retrieved twice. Edges are shown once each, in the order of the traversal.

    ``pattern`` is an additional pattern of citations (``citations.citation_pattern``), ``surroundings`` the knowledge
    graph around the walk.
    """
    question, record = case.question, case.answer
    answer = (record.answer if record is not None else None) or ""
    chunks, left_out, places = _chunks(case, context_tokens)
    known = {place.id for place in places} | {place.source for place in places}
    listed = tuple(record.citations) if record is not None else ()
    facts = [fact for fact in question.facts if fact.text.strip()]
    criteria, rubric = tuple(question.criteria), question.rubric
    if rubric is not None and not criteria:
        criteria, rubric = (CriterionStruct(must=rubric),), None
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
        criteria=criteria,
        rubric=rubric,
        services=tuple(fact.repo or None for fact in facts),
        case=case,
        surroundings=surroundings,
        room=context_tokens * CHARACTERS_PER_TOKEN,
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
