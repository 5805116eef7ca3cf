"""Verdicts of judges about answers, with claims and citations."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import model_validator
from pydantic.types import StrictBool, StrictStr

from graphkit.records.fields import Amount, Count, Name, Record, RunName, Share
from graphkit.records.words import counted

#: How the retrieved context supports a claim.
Support = Literal["DIRECT", "INFERRED", "UNSUPPORTED"]

#: How the gold answer supports a claim.
GoldSupport = Literal["SUPPORTED", "CONTRADICTED", "NOT_MENTIONED"]

#: What names the gold edges that a claim of the gold answer goes with.
NamedIn = Literal["claim", "chunk"]


class Evidence(Record):
    """A chunk that a judge quotes in support of a claim.

    The quote counts only if it ``occurs`` in the chunk. ``alone`` means that the chunk supports the claim without
    others.
    """

    chunk: Name
    quote: StrictStr
    occurs: StrictBool
    alone: StrictBool = True


class TraversedEdge(Record):
    """A traversed edge that a claim rests on; ``in_gold`` means that a gold path of the question has it."""

    source: Name
    relation: Name | None = None
    target: Name
    in_gold: StrictBool | None = None


class Citation(Record):
    """A citation of an answer.

    Attributes
    ----------
    text
        The citation in the answer, such as ``[api/auth.py:12]``.
    target
        The id of a chunk, or ``repo/path``.
    chunks
        The retrieved chunks that it refers to; empty if it isn't in the retrieved context.
    correct
        Whether it is in the retrieved context and supports a claim next to it; None if unknown.
    needed
        Whether it supports a claim alone, or a claim would lose its support without it.
    reason
        Why it isn't correct.
    """

    text: StrictStr
    target: Name
    chunks: tuple[Name, ...] = ()
    correct: StrictBool | None = None
    needed: StrictBool | None = None
    reason: StrictStr | None = None


class AnswerClaim(Record):
    """A claim of an answer, and its support.

    Attributes
    ----------
    sentence
        The number of the sentence with the claim, from 1.
    support
        The support by the retrieved context. A claim with a quote that occurs nowhere is unsupported, whatever the
        judge says.
    gold
        The relation of the gold answer to it; None without a gold answer.
    cited
        The positions of its citations in the verdict, from 0.
    cited_support
        Whether its citations together support it; None without citations.
    mismatch
        A false statement of the judge, such as a quote that doesn't occur in its chunk.
    """

    text: StrictStr
    sentence: Count | None = None
    support: Support
    evidence: tuple[Evidence, ...] = ()
    edge: TraversedEdge | None = None
    gold: GoldSupport | None = None
    cited: tuple[Count, ...] = ()
    cited_support: StrictBool | None = None
    mismatch: StrictStr | None = None


class GoldEdge(Record):
    """An edge of a gold path of the question."""

    source: Name
    relation: Name | None = None
    target: Name


class GoldClaim(Record):
    """A claim of the gold answer.

    Attributes
    ----------
    chunks
        The retrieved chunks that support it.
    stated
        Whether the answer states it.
    edges
        The gold edges that it goes with: its text names both ends of each, or a chunk that supports it does.
    named_in
        Which of the two; None without edges.
    """

    text: StrictStr
    chunks: tuple[Name, ...] = ()
    stated: StrictBool
    edges: tuple[GoldEdge, ...] = ()
    named_in: NamedIn | None = None


class RelevanceFall(Record):
    """The first hop of a walk at which relevance falls.

    Attributes
    ----------
    path, hop
        The place of the traversed edge: its path, and its place in that, from 1.
    source, relation, target
        The traversed edge; None if no edge leads to what is less relevant.
    better
        The edge that leads nearer to an answer; None if it is the chunks at this hop that are less relevant.
    """

    path: Count = 1
    hop: Count
    source: Name | None = None
    relation: Name | None = None
    target: Name | None = None
    better: StrictStr | None = None


class Verdict(Record):
    """The verdict of a judge on one answer by one grader: one line of a verdicts file.

    Attributes
    ----------
    grader, prompt_hash
        The grader, such as ``rubric``, and the hash of its prompt.
    judge, model
        The judge, such as ``anthropic`` or ``lexical``, and the model that replied.
    failure
        None, or why there is no verdict: ``unreadable``, ``truncated``, ``refused``, ``out_of_range``, ``no_reply``,
        ``over_budget``. A failure gives no score.
    reason
        The failure in a sentence.
    verdict
        The reply in the grader's form, or what was read from it, with ids in place of keys; of a failed one what needs
        no judge, such as the criteria that the record breaks.
    grade, label, explanation, confidence
        The grade in a word, the failure in a word, the explanation, and the judge's confidence, if the grader gives one
        for the whole answer.
    claims, gold_claims, citations
        The checked reply of the grader ``claims``. Earlier versions kept no gold claims.
    fall
        The first hop at which relevance falls, if a grader of relevance finds one.
    left_out
        The ids of chunks that didn't fit into the prompt.
    notes
        Such as quotes that don't occur, and unknown ids.
    attempts
        The number of requested replies, including repeats after an unusable one.
    cost
        The cost; None if the price is unknown. ``cached`` means that it was paid before.
    answered_by
        The model that gave the answer, if known.
    answer_hash
        The SHA-256 of the judged answer: a verdict is out of date if the answer has changed.
    """

    run: RunName
    question: Name
    grader: Name
    judge: Name
    model: StrictStr | None = None
    prompt_hash: StrictStr
    failure: StrictStr | None = None
    reason: StrictStr | None = None
    verdict: dict[str, Any] | None = None
    grade: StrictStr | None = None
    label: StrictStr | None = None
    explanation: StrictStr | None = None
    confidence: Share | None = None
    claims: tuple[AnswerClaim, ...] = ()
    gold_claims: tuple[GoldClaim, ...] = ()
    citations: tuple[Citation, ...] = ()
    fall: RelevanceFall | None = None
    left_out: tuple[Name, ...] = ()
    notes: tuple[StrictStr, ...] = ()
    stop_reason: StrictStr | None = None
    attempts: Count = 1
    prompt_tokens: Count | None = None
    output_tokens: Count | None = None
    cost: Amount | None = None
    cached: StrictBool = False
    answered_by: StrictStr | None = None
    answer_hash: StrictStr | None = None

    @model_validator(mode="after")
    def _cited_are_there(self) -> Self:
        for number, claim in enumerate(self.claims):
            for place in claim.cited:
                if place >= len(self.citations):
                    there = counted(len(self.citations), "citation")
                    raise ValueError(f"claims.{number}.cited: citation {place} doesn't exist: there are {there}")
        return self
