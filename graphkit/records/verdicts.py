"""What a judge said of an answer, and the claims and citations that it looked at."""

from __future__ import annotations

import hashlib
from typing import Any, Literal, Self

from pydantic import model_validator
from pydantic.types import StrictBool, StrictStr

from graphkit.records.fields import Amount, Count, Name, Record, RunName, Share
from graphkit.records.words import counted

#: How a claim is supported by what was retrieved.
Support = Literal["DIRECT", "INFERRED", "UNSUPPORTED"]

#: What the gold answer says of a claim.
GoldSupport = Literal["SUPPORTED", "CONTRADICTED", "NOT_MENTIONED"]


class Evidence(Record):
    """A chunk that a judge names as support of a claim, with the words that it quotes.

    ``occurs`` tells whether the quote stands in the chunk; only then it counts. ``alone`` tells whether the chunk
    supports the claim without any other.
    """

    chunk: Name
    quote: StrictStr
    occurs: StrictBool
    alone: StrictBool = True


class WalkedEdge(Record):
    """An edge of the traversal that a claim rests on; ``in_gold`` tells whether a gold path of the question has it."""

    source: Name
    relation: Name | None = None
    target: Name
    in_gold: StrictBool | None = None


class Citation(Record):
    """A citation of an answer.

    Attributes
    ----------
    text
        As it stands in the answer, such as ``[api/auth.py:12]``.
    target
        What it names: the id of a chunk, or ``repo/path``.
    chunks
        The retrieved chunks that it means; empty where it isn't in the retrieved context.
    correct
        Whether it is in the retrieved context and supports a claim that it stands at; None where that isn't known.
    needed
        Whether it supports a claim alone, or one would lose its support without it.
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
    """A statement of an answer, and what it rests on.

    Attributes
    ----------
    sentence
        The number of the answer's sentence that makes it, from 1.
    support
        By the retrieved context. What the judge called supported, with a quote that occurs nowhere, is unsupported.
    gold
        What the gold answer says of it; None where there is none.
    cited
        Places of its citations among those of the verdict, from 0.
    cited_support
        Whether its citations together support it; None where it has none.
    mismatch
        What the judge said that isn't so, such as a quote that doesn't occur in the chunk that it names.
    """

    text: StrictStr
    sentence: Count | None = None
    support: Support
    evidence: tuple[Evidence, ...] = ()
    edge: WalkedEdge | None = None
    gold: GoldSupport | None = None
    cited: tuple[Count, ...] = ()
    cited_support: StrictBool | None = None
    mismatch: StrictStr | None = None


class Verdict(Record):
    """What a judge said of the answer to one question by one grader: one line of a verdicts file.

    Attributes
    ----------
    grader, prompt_hash
        What was asked, such as ``rubric``, and the hash of the text that it was asked with.
    judge, model
        Who was asked, such as ``anthropic`` or ``lexical``, and the model that replied.
    failure
        None, or why there is no verdict: ``unreadable``, ``truncated``, ``refused``, ``out_of_range``, ``no_reply``,
        ``over_budget``. A failure gives no score.
    reason
        Of the failure, in a sentence.
    verdict
        What was said, checked by the grader's form.
    grade, label, explanation, confidence
        What it comes to, where the grader says one thing of the whole answer: a word, what went wrong in a word, why,
        and how sure the judge says that it is.
    claims, citations
        Of the grader ``claims``: what the judge said, checked against the texts.
    left_out
        Ids of the chunks that the judge wasn't shown, because they didn't fit.
    notes
        What is worth knowing: quotes that don't occur, ids that aren't there.
    attempts
        How many replies were asked for, repeats after a verdict that couldn't be used included.
    cost
        What it took in money; None where the price isn't known. ``cached`` tells that it was paid before.
    answered_by
        The model that gave the answer, as far as that is known.
    answer_hash
        The SHA-256 of the answer that was judged: a verdict on another answer than the run's is out of date.
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
    citations: tuple[Citation, ...] = ()
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
                    raise ValueError(f"claims.{number}.cited: there is no citation {place}, for there are {there}")
        return self


def answer_hash(answer: str) -> str:
    """Return the SHA-256 of an answer, by which a verdict on another one is told."""
    return hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
