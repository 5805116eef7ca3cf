"""What a judge is shown of one answer: question, gold answer, answer, chunks and walked edges, each with a short id.

A judge names a chunk by ``c3``, an edge by ``e2``, a sentence of the answer by ``s1`` and a required fact by ``f1``:
short ids are cheaper than paths, and one that isn't there is seen at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from graphkit.judges.citations import FoundCitation, find_citations
from graphkit.judges.sentences import Sentence, sentences_of
from graphkit.measures.case import Case

#: How many tokens of context a judge is shown where nobody says otherwise.
CONTEXT_TOKENS = 24_000

#: Characters of a token: English text has about four, code about three. Rather too many tokens than too few.
CHARACTERS_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """A retrieved chunk as a judge is shown it: under ``key``, such as ``c1``."""

    key: str
    id: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownEdge:
    """A walked edge as a judge is shown it: under ``key``, such as ``e1``."""

    key: str
    source: str
    relation: str | None
    target: str
    in_gold: bool | None

    @property
    def text(self) -> str:
        """The edge as it is drawn."""
        return f"{self.source} -{self.relation or ''}-> {self.target}"


@dataclass(frozen=True)
class Materials:
    """What there is to judge of one answer.

    Attributes
    ----------
    gold_answer, facts, resolutions
        What the annotation holds; None or empty where it holds none.
    chunks, left_out
        The chunks that fit into the budget, best first, and the ids of those that didn't.
    """

    run: str
    question_id: str
    question: str
    answer: str
    gold_answer: str | None = None
    facts: tuple[str, ...] = ()
    conflicts: tuple[tuple[tuple[str, ...], str], ...] = ()
    chunks: tuple[ShownChunk, ...] = ()
    edges: tuple[ShownEdge, ...] = ()
    left_out: tuple[str, ...] = ()
    citations: tuple[FoundCitation, ...] = ()
    case: Case | None = field(default=None, repr=False, compare=False)

    @cached_property
    def sentences(self) -> Sequence[Sentence]:
        """The sentences of the answer, numbered."""
        return sentences_of(self.answer)
