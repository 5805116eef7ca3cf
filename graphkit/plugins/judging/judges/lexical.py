"""The rule-based judge ``lexical``: it compares words without a model or a network, and always repeats its verdicts.

It is meant for trials, demonstrations and tests: it sees that words agree, not that a statement is true.

A claim is a sentence that isn't hedged. A chunk supports it if the chunk, with its id, has all identifiers of the
sentence as whole words, and at least ``THRESHOLD`` of its content words. A traversed edge supports it if the sentence
names the edge's source, a word for its relation, and its target, in this order. Facts are addressed by key terms, as in
:mod:`graphkit.measures.completeness`. The relevance of a chunk or an edge is the words of the question in it or in its
name: a node that the question doesn't name is never found relevant, be it the answer.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphkit.measures.completeness import THRESHOLD, addressed, content_words, identifiers_in, symbols_of
from graphkit.measures.declining import declines
from graphkit.measures.text import folded, last_component, named, words_of
from graphkit.plugins.judging.judges.contract import Opinion
from graphkit.plugins.judging.judges.forms import occurs
from graphkit.plugins.judging.judges.key_terms import by_terms
from graphkit.plugins.judging.judges.lexical_pairs import preferred
from graphkit.plugins.judging.judges.materials import Materials, ShownChunk, ShownEdge, criterion_keys
from graphkit.plugins.judging.judges.prompts import Prompt
from graphkit.plugins.judging.judges.sentences import Sentence, sentences_of
from graphkit.plugins.judging.llm.requests import ModelError
from graphkit.records.ids import Places
from graphkit.records.words import counted

#: The confidence in a grade: lower if an answer is neither right nor wrong as a whole.
SURE, UNSURE = 0.6, 0.4

#: The number of answers whose findings are kept: as many as are judged at once.
_KEPT = 16

#: The longest quote, in characters.
_LONGEST_QUOTE = 160


class LexicalJudge:
    """A judge by rules over words."""

    name = "lexical"
    version = "1"

    def __init__(self) -> None:
        # The findings of the last answers: their graders share them.
        self._found: deque[_Findings] = deque(maxlen=_KEPT)

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return an opinion by the rules of the grader.

        Raise a ModelError if there are no rules for this grader, such as a user's rubric.
        """
        rule = _RULES.get(prompt.grader)
        if rule is None:
            raise ModelError(f"the rule-based judge has no rules for {prompt.grader!r}: a model can be asked for it")
        found = next((one for one in self._found if one.materials is prompt.materials), None)
        if found is None:
            found = _Findings(prompt.materials)
            self._found.append(found)
        return Opinion(json.dumps(rule(found), ensure_ascii=False), cost=0.0)


@dataclass(frozen=True)
class _Chunk:
    """A chunk prepared for searching words."""

    key: str
    whole: str
    words: frozenset[str]
    content: frozenset[str]
    lines: tuple[tuple[str, frozenset[str]], ...]


@dataclass(frozen=True)
class _Stated:
    """The findings on a sentence that states something."""

    sentence: Sentence
    text: str
    hedged: bool
    quotes: Mapping[str, str]
    stated_by: frozenset[str]
    edge: ShownEdge | None

    @property
    def supported(self) -> bool:
        return bool(self.quotes) or self.edge is not None


@dataclass(eq=False)
class _Findings:
    """The findings on one answer; each part is computed once."""

    materials: Materials

    @cached_property
    def chunks(self) -> list[_Chunk]:
        return [_prepared(chunk) for chunk in self.materials.chunks]

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that are symbols of the question."""
        return symbols_of(self.materials.case) if self.materials.case is not None else frozenset()

    @cached_property
    def statements(self) -> list[_Stated]:
        """The sentences that state something, hedged ones included."""
        found = []
        for sentence in self.materials.sentences:
            text = self._without_citations(sentence)
            if not _WORD.search(text) or text.endswith("?") or text.startswith(("#", "```", "~~~")):
                continue
            quotes, stated_by = self._support(text)
            edge = next((one.edge for one in self._edges if one.stated_by(text)), None)
            found.append(_Stated(sentence, text, _HEDGE.search(text) is not None, quotes, stated_by, edge))
        return found

    @property
    def claims(self) -> list[_Stated]:
        return [one for one in self.statements if not one.hedged]

    @cached_property
    def support(self) -> float:
        """The share of supported claims; 0 without claims."""
        return sum(one.supported for one in self.claims) / len(self.claims) if self.claims else 0.0

    @property
    def supported(self) -> str:
        """The number of supported claims, in words."""
        return f"{sum(one.supported for one in self.claims)} of {len(self.claims)} claims supported"

    @property
    def points(self) -> str:
        """The number of claims of the gold answer that the answer has, in words."""
        return f"{sum(self.stated)} of {len(self.stated)} points"

    @cached_property
    def gold(self) -> list[str]:
        """The claims of the gold answer: the facts, else its sentences."""
        gold = self.materials.gold_answer
        return [*self.materials.facts] or ([one.text for one in sentences_of(gold)] if gold is not None else [])

    @cached_property
    def stated(self) -> list[bool]:
        """Whether the answer has the key terms of each claim of the gold answer."""
        return by_terms(self.gold, self.materials)

    @cached_property
    def agreement(self) -> float:
        """The share of the claims of the gold answer that the answer has."""
        return sum(self.stated) / len(self.stated) if self.stated else 0.0

    @cached_property
    def gold_chunks(self) -> list[list[str]]:
        """The keys of the chunks that have the key terms of each claim of the gold answer."""
        return [[one.key for one in self.chunks if addressed(text, one.whole, names=self.names)] for text in self.gold]

    @cached_property
    def asked_parts(self) -> frozenset[str]:
        """The words of the question, those in its names included."""
        return content_words(" ".join(_name_parts(self.materials.question)))

    @cached_property
    def on_topic(self) -> float:
        """The share of the statements that have a word of the question."""
        asked = content_words(self.materials.question)
        about = [content_words(one.text) for one in self.statements]
        return sum(not words.isdisjoint(asked) for words in about) / len(about) if about else 0.0

    def _without_citations(self, sentence: Sentence) -> str:
        """Return a sentence without its citations, whose numbers would look like content."""
        text, place, pieces = self.materials.answer, sentence.start, []
        for start, end in self._cited[bisect_left(self._cited, (sentence.start, 0)) :]:
            if end > sentence.end:
                break
            pieces.append(text[place:start])
            place = max(place, end)
        pieces.append(text[place : sentence.end])
        return _GAP.sub(r"\1", "".join(pieces)).strip()

    @cached_property
    def _cited(self) -> list[tuple[int, int]]:
        return sorted({(one.start, one.end) for one in self.materials.citations if not one.whole})

    def _support(self, text: str) -> tuple[dict[str, str], frozenset[str]]:
        """Return a quote from each chunk that supports a text, and the chunks that state it in one line."""
        identifiers, wanted = identifiers_in(text), content_words(text)
        quotes, stated_by = {}, set()
        for chunk in self.chunks:
            if not all(named(one, chunk.whole, chunk.words) for one in identifiers):
                continue
            if len(wanted & chunk.content) < THRESHOLD * len(wanted):
                continue
            line, shared = _most_shared(chunk.lines, wanted)
            if shared:
                quotes[chunk.key] = line
                if shared >= THRESHOLD * len(wanted):
                    stated_by.add(chunk.key)
        return quotes, frozenset(stated_by)

    @cached_property
    def _edges(self) -> list[_Edge]:
        case = self.materials.case
        places = case.places if case is not None else Places()
        return [
            _Edge(edge, _names_of(edge.source, places), _verb(edge.relation), _names_of(edge.target, places))
            for edge in self.materials.edges
        ]

    def quote_of(self, wanted: frozenset[str]) -> str:
        """Return the sentence of the answer with most of these words."""
        sentences = ((one.text, content_words(one.text)) for one in self.materials.sentences)
        return _most_shared(sentences, wanted)[0][:_LONGEST_QUOTE]


def _prepared(chunk: ShownChunk) -> _Chunk:
    whole = unicodedata.normalize("NFKC", f"{chunk.id}\n{chunk.source} {chunk.symbol or ''}\n{chunk.text}")
    lines = tuple(
        (short, content_words(short))
        for line in chunk.text.splitlines()
        if (short := line.strip()[:_LONGEST_QUOTE]) and occurs(short, short)
    )
    return _Chunk(chunk.key, whole, words_of(whole), frozenset(_WORD.findall(folded(whole))), lines)


def _most_shared(texts: Iterable[tuple[str, frozenset[str]]], wanted: frozenset[str]) -> tuple[str, int]:
    """Return the first text with most of the wanted words, and how many it has."""
    shared = ((text, len(wanted & words)) for text, words in texts)
    best = max(shared, key=lambda pair: pair[1], default=("", 0))
    return best if best[1] else ("", 0)


@dataclass(frozen=True)
class _Edge:
    """A traversed edge with patterns for its ends and its relation."""

    edge: ShownEdge
    source: re.Pattern[str]
    verb: re.Pattern[str]
    target: re.Pattern[str]

    def stated_by(self, text: str) -> bool:
        """Return whether a text names the source, then a word for the relation, then the target."""
        source = self.source.search(text)
        verb = self.verb.search(text, source.end()) if source else None
        return verb is not None and self.target.search(text, verb.end()) is not None


def _names_of(node: str, places: Places) -> re.Pattern[str]:
    """Return a pattern for the names of a node, the longest first."""
    path, symbol = places.split(node)
    path = path or node
    names = {node, symbol, last_component(symbol)} if symbol else {node, path, path.rpartition("/")[2]}
    known = sorted((name for name in names if name), key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, known))})(?!\w)")


def _verb(relation: str | None) -> re.Pattern[str]:
    """Return a pattern for words for a relation: its stem and usual synonyms; any word without a relation."""
    if relation is None:
        return _WORD
    stems = [re.escape(relation.casefold()[:5].removesuffix("s")), *_VERBS.get(relation, ())]
    return re.compile(rf"\b(?:{'|'.join(stems)})", re.IGNORECASE)


# Rules of the graders: each returns a verdict of its form ------------------------------------------------------------


def _claims(found: _Findings) -> dict[str, Any]:
    gold = found.materials.gold_answer
    return {
        "claims": [
            {
                "text": one.text,
                "sentence": one.sentence.key,
                "hedged": one.hedged,
                "support": "UNSUPPORTED"
                if not one.supported
                else "DIRECT"
                if one.stated_by or one.edge
                else "INFERRED",
                "evidence": [{"chunk": key, "quote": quote, "alone": True} for key, quote in one.quotes.items()],
                "together": False,
                "edge": one.edge.key if one.edge is not None else None,
                "gold": None if gold is None else "SUPPORTED" if addressed(one.text, gold) else "NOT_MENTIONED",
            }
            for one in found.statements
        ],
        "gold_claims": [
            {"text": text, "chunks": chunks, "stated": stated}
            for text, chunks, stated in zip(found.gold, found.gold_chunks, found.stated, strict=True)
            if gold is not None
        ],
    }


def _rubric(found: _Findings) -> dict[str, Any]:
    reasoning = f"By key terms {found.points} of the gold answer; {found.supported}."
    all_supported = found.support == 1
    if found.agreement == 1 and all_supported:
        grade, failure = "fully_correct", None
    elif found.agreement > 0:
        grade = "partially_correct"
        failure = "hallucination" if found.agreement == 1 else _missing(found)
    elif found.claims and found.support < 0.5:
        grade, failure = "unsupported", "hallucination"
    else:
        grade, failure = "wrong", _missing(found)
    confidence = SURE if grade != "partially_correct" else UNSURE
    return {"reasoning": reasoning, "grade": grade, "failure": failure, "confidence": confidence}


def _missing(found: _Findings) -> str:
    """Return the failure label of missing points: no chunk has them, or chunks do and the answer doesn't."""
    missing = [chunks for chunks, stated in zip(found.gold_chunks, found.stated, strict=True) if not stated]
    if not any(missing):
        return "retrieval_miss"
    return "missing_evidence" if found.agreement else "wrong_chunk"


def _binary(found: _Findings) -> dict[str, Any]:
    points = f"{found.points} by key terms"
    comparable = found.materials.gold_answer is not None
    return {
        "correctness": _mark(found.agreement == 1, points) if comparable else None,
        "faithfulness": _mark(all(one.supported for one in found.claims), found.supported),
        "relevance": _mark(found.on_topic > 0, "words of the question occur" if found.on_topic else "none occur"),
        "completeness": _mark(found.agreement == 1, points) if comparable or found.materials.facts else None,
    }


def _mark(yes: bool, reason: str) -> dict[str, Any]:
    return {"reason": reason, "value": int(yes)}


def _relevance(found: _Findings) -> dict[str, Any]:
    return {"answer_relevance": _score(found.on_topic, "statements with a word of the question")}


def _score(score: float, reason: str) -> dict[str, Any]:
    return {"reason": reason, "score": score}


def _graded(found: _Findings) -> dict[str, Any]:
    has_gold = found.materials.gold_answer is not None
    relevant = {key for chunks in found.gold_chunks for key in chunks}
    ranks = [rank for rank, one in enumerate(found.chunks, 1) if one.key in relevant]
    precision = math.fsum(number / rank for number, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0
    recall = sum(map(bool, found.gold_chunks)) / len(found.gold_chunks) if found.gold_chunks else 0.0
    return {
        "faithfulness": _score(found.support, "claims supported by their words"),
        **_relevance(found),
        "context_precision": _score(precision, "chunks with key terms of the gold answer") if has_gold else None,
        "context_recall": _score(recall, "points of the gold answer in a chunk") if has_gold else None,
    }


def _scale(found: _Findings) -> dict[str, Any]:
    score = round(8 * found.agreement + 2 * found.support * (found.agreement > 0))
    return {"reasoning": f"{found.points} by key terms; {found.support:.0%} of the claims supported.", "score": score}


def _aggregation(found: _Findings) -> dict[str, Any]:
    materials = found.materials
    addressed_facts = by_terms(materials.facts, materials)
    words = words_of(materials.answer)
    services = materials.services or (None,) * len(materials.facts)
    # An answer that names no service places nothing wrongly.
    names_any = any(service and named(service, materials.answer, words) for service in services)
    components = []
    for number, (there, service) in enumerate(zip(addressed_facts, services, strict=True), 1):
        placed = there and (not service or not names_any or named(service, materials.answer, words))
        components.append(
            {
                "component": f"f{number}",
                "reason": "its key terms occur" if there else "its key terms don't occur",
                "addressed": there,
                "attributed": placed,
                "role": there,
            }
        )
    errors = [
        {"kind": "INVENTED_STEP", "component": None, "what": one.text} for one in found.claims if not one.supported
    ]
    return {"components": components, "errors": errors}


def _integration(found: _Findings) -> dict[str, Any]:
    uses = {key: one.sentence.text for one in reversed(found.claims) for key in one.quotes}
    return {
        "chunks": [
            {"chunk": one.key, "used": one.key in uses, "quote": uses.get(one.key)} for one in found.materials.chunks
        ]
    }


def _completeness(found: _Findings) -> dict[str, Any]:
    there = by_terms(found.materials.facts, found.materials)
    return {
        "facts": [
            {"fact": f"f{number}", "addressed": yes, "quote": found.quote_of(content_words(fact)) if yes else None}
            for number, (fact, yes) in enumerate(zip(found.materials.facts, there, strict=True), 1)
        ]
    }


def _conflicts(found: _Findings) -> dict[str, Any]:
    resolutions = [resolution for _, resolution in found.materials.conflicts]
    there = by_terms(resolutions, found.materials)
    return {
        "conflicts": [
            {"conflict": f"k{number}", "resolved": yes, "quote": found.quote_of(content_words(text)) if yes else None}
            for number, (text, yes) in enumerate(zip(resolutions, there, strict=True), 1)
        ]
    }


def _criteria(found: _Findings) -> dict[str, Any]:
    texts = criterion_keys(found.materials)
    there = by_terms([*texts.values()], found.materials)
    return {
        "criteria": [
            {"criterion": key, "reason": "its key terms occur" if yes else "its key terms don't occur", "present": yes}
            for key, yes in zip(texts, there, strict=True)
        ]
    }


def _context_relevance(found: _Findings) -> dict[str, Any]:
    asked = content_words(found.materials.question)
    return {
        "chunks": [
            {
                "chunk": one.key,
                "reason": f"it has {len(shared)} of the {len(asked)} words of the question",
                "relevance": 0 if not shared else 1 + (2 * len(shared) >= len(asked)) + (shared == asked),
            }
            for one in found.chunks
            for shared in (asked & one.content,)
        ]
    }


def _facts_in_context(found: _Findings) -> dict[str, Any]:
    facts = []
    for number, fact in enumerate(found.materials.facts, 1):
        wanted = content_words(fact)
        supporting = [one for one in found.chunks if addressed(fact, one.whole, names=found.names)]
        quotes = [(one.key, _most_shared(one.lines, wanted)[0]) for one in supporting]
        evidence = [{"chunk": key, "quote": quote, "alone": True} for key, quote in quotes if quote]
        facts.append({"fact": f"f{number}", "evidence": evidence, "together": False})
    return {"facts": facts}


def _edge_relevance(found: _Findings) -> dict[str, Any]:
    asked, hops = found.asked_parts, []
    for hop in found.materials.shown_hops:
        shared = {one.key: len(asked & _name_parts(_far_end(one, hop.leg.start))) for one in hop.choices}
        most = max(shared.values())
        nearest = [key for key, number in shared.items() if number == most]
        reason = f"the nearest names have {counted(most, 'word')} of the question"
        hops.append({"hop": hop.key, "reason": reason, "nearest": nearest})
    return {"hops": hops}


def _far_end(edge: ShownEdge, node: str) -> str:
    return edge.target if edge.source == node else edge.source


def _trajectory(found: _Findings) -> dict[str, Any]:
    nodes = {node for edge in found.materials.edges for node in (edge.source, edge.target)}
    named_ = sum(not found.asked_parts.isdisjoint(_name_parts(node)) for node in nodes)
    return {
        "reasoning": f"the names of {named_} of {counted(len(nodes), 'node')} have a word of the question",
        "sensible": named_ > 0,
        "fault": None if named_ else "no_progress",
        "at": None,
    }


def _name_parts(name: str) -> frozenset[str]:
    """Return the words in a name, as its case, underscores and punctuation part them."""
    return frozenset(folded(part) for part in _NAME_PART.findall(name))


def _abstained(found: _Findings) -> dict[str, Any]:
    yes = declines(found.materials.answer)
    return {"reason": "it has a phrase that declines" if yes else "it has no phrase that declines", "declines": yes}


_RULES: Mapping[str, Callable[[_Findings], dict[str, Any]]] = {
    "claims": _claims,
    "rubric": _rubric,
    "binary": _binary,
    "graded": _graded,
    "relevance": _relevance,
    "scale": _scale,
    "aggregation": _aggregation,
    "integration": _integration,
    "completeness": _completeness,
    "conflicts": _conflicts,
    "criteria": _criteria,
    "context_relevance": _context_relevance,
    "facts_in_context": _facts_in_context,
    "edge_relevance": _edge_relevance,
    "trajectory": _trajectory,
    "abstained": _abstained,
    **dict.fromkeys(("pairwise", "pairwise_differential"), lambda found: preferred(found.materials)),
}

_WORD = re.compile(r"\w+")
_NAME_PART = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_GAP = re.compile(r"[ \t]{1,8}([.,;])")
_HEDGE = re.compile(
    r"\b(?:may|might|maybe|perhaps|probably|possibly|presumably|apparently|likely|unlikely|seems?|appears? to|could be"
    r"|not sure|unsure|unclear|uncertain|i think|i believe|i guess|i assume"
    r"|(?:do not|don't|cannot|can't) (?:know|tell|say))\b",
    re.IGNORECASE,
)
#: Synonyms of relations.
_VERBS = {
    "QUERIES": ("read", "select", "look", "fetch"),
    "WRITES": ("writ", "insert", "store", "update", "delete", "save"),
    "READS": ("use",),
    "CALLS": ("invoke", "use"),
    "IMPORTS": ("use",),
    "INHERITS": ("extend", "subclass", "is a"),
    "CATCHES": ("catch", "handle", "turn"),
    "RAISES": ("rais", "throw", "answers with"),
    "HANDLES": ("handl", "answer", "rout", "serve"),
    "SPECIFIES": ("specif", "answer", "describe", "implement"),
    "DEFINES": ("defin", "contain", "hold"),
    "CONFIGURES": ("config", "set"),
    "DEPENDS_ON": ("depend", "need"),
    "OVERRIDES": ("overr", "replace"),
    "REFERENCES": ("refer", "point"),
}
