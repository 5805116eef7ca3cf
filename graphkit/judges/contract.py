"""What a judge is, and what a grader asks of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel

from graphkit.judges.materials import Materials
from graphkit.judges.prompts import Prompt
from graphkit.llm.requests import Usage
from graphkit.records.verdicts import AnswerClaim, Citation


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge said, as it said it.

    Attributes
    ----------
    text
        JSON, if all went well; it is checked before it counts.
    usage, cost
        What it took; None where nothing is known. A judge that asks no model takes nothing.
    request
        The digest of the request to a model, by which the reply is kept.
    """

    text: str
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    cost: float | None = None
    attempts: int = 1
    cached: bool = False
    request: str | None = None


class Judge(Protocol):
    """Who is asked. ``name`` and ``version`` tell it apart from every other: they stand beside each score it gives."""

    @property
    def name(self) -> str:
        """Return who is asked, such as ``lexical``."""
        ...

    @property
    def version(self) -> str | None:
        """Return in which version, such as the name of a model; None where there is none."""
        ...

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return an opinion on what the prompt shows, as JSON of the schema.

        Raises
        ------
        ModelError
            There is none to be had, with why.
        """
        ...


def model_of(judge: Judge) -> str | None:
    """Return the model that a judge asks for; None of a judge that asks none."""
    return getattr(judge, "model_name", None)


def effort_of(judge: Judge) -> str | None:
    """Return how much a judge lets its model think; None for the model's default, or of a judge that asks none."""
    return getattr(judge, "effort", None)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a verdict is worth by one measure: a value, or None with the reason why there is none."""

    measure: str
    value: float | None
    reason: str | None = None
    grade: str | None = None
    label: str | None = None
    explanation: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A verdict after it was checked against the texts that it speaks of."""

    findings: Sequence[Finding]
    claims: tuple[AnswerClaim, ...] = ()
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()


class UnusableVerdictError(ValueError):
    """A verdict that fits its form and still can't be used, such as one about a component that isn't there."""


@dataclass(frozen=True)
class Grader:
    """One question to a judge about an answer: a prompt, the form of the verdict, and what the verdict is worth.

    Attributes
    ----------
    name
        Such as ``rubric``; the prompt is the file of this name.
    verdict
        The form of the verdict; its JSON Schema is sent with the prompt.
    shows
        Which parts of the materials the prompt shows, in the order of ``judges.prompts.PARTS``.
    measures
        The measures that it scores.
    read
        Returns what a verdict is worth.
    lacks
        Returns why this answer can't be judged (there is no gold answer), or None; no judge is asked then.
    settled
        Returns what is known without a judge (key terms found everything), or None; no judge is asked then either.
    instruction
        Of a user's own rubric; else the file of the grader's name holds what is asked.
    """

    name: str
    verdict: type[BaseModel]
    shows: tuple[str, ...]
    measures: tuple[str, ...]
    read: Callable[[Any, Materials], Reading]
    lacks: Callable[[Materials], str | None] = field(default=lambda _: None)
    settled: Callable[[Materials], Reading | None] = field(default=lambda _: None)
    instruction: str | None = None
