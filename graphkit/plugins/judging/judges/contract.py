"""The protocol of a judge, and the parts of a grader: one question that a judge is asked about an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel

from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import Prompt
from graphkit.plugins.judging.llm.requests import Usage
from graphkit.plugins.judging.verdicts import AnswerClaim, Citation, GoldClaim, RelevanceFall


@dataclass(frozen=True, slots=True)
class Opinion:
    """The reply of a judge, unchecked."""

    text: str  # JSON, if all went well
    model: str | None = None
    stop_reason: str | None = None
    #: None if unknown, and for a judge that asks no model.
    usage: Usage | None = None
    cost: float | None = None
    attempts: int = 1
    cached: bool = False
    request: str | None = None  # the digest of the request to a model, under which the reply is kept


class Judge(Protocol):
    """A judge. ``name`` and ``version`` identify it: they stand beside each score that it gives.

    A judge may also have ``model_name``, the model that it asks for, and ``effort``, how much that model may think.
    """

    @property
    def name(self) -> str:
        """Return the name of the judge, such as ``lexical``."""
        ...

    @property
    def version(self) -> str | None:
        """Return the version, such as the name of a model; None if there is none."""
        ...

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return an opinion on the materials of the prompt, as JSON of the schema.

        Raise a ModelError if there is none; the message says why.
        """
        ...


def model_of(judge: Judge) -> str | None:
    """Return the model that a judge asks for; None if it asks none."""
    return getattr(judge, "model_name", None)


def effort_of(judge: Judge) -> str | None:
    """Return how much a judge lets its model think; None for the model's default, or without a model."""
    return getattr(judge, "effort", None)


@dataclass(frozen=True, slots=True)
class Finding:
    """The value of one measure by a verdict, or None with the reason."""

    measure: str
    value: float | None
    reason: str | None = None
    grade: str | None = None
    label: str | None = None
    explanation: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A verdict that was checked against the texts that it judges."""

    findings: Sequence[Finding]
    claims: tuple[AnswerClaim, ...] = ()
    gold_claims: tuple[GoldClaim, ...] = ()
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()
    content: Mapping[str, Any] | None = None  # the verdict with ids in place of keys; None keeps the judge's form
    fall: RelevanceFall | None = None


class UnusableVerdictError(ValueError):
    """A verdict that fits its form but can't be used, such as one about an unknown component."""


@dataclass(frozen=True)
class Grader:
    """One question to a judge about an answer: a prompt, the form of the verdict, and how the verdict is scored."""

    name: str  # such as ``rubric``; the prompt is the file of this name
    verdict: type[BaseModel]  # the form of the verdict; its JSON Schema is sent with the prompt
    shows: tuple[str, ...]  # the parts of the materials that the prompt shows, in the order of ``judges.prompts.PARTS``
    measures: tuple[str, ...]  # the measures that it scores, the computed ones last
    read: Callable[[Any, Materials], Reading]  # checks and scores a verdict
    #: Returns why this answer can't be judged (it has no gold answer), or None. If it returns a reason, no judge is
    #: asked.
    lacks: Callable[[Materials], str | None] = field(default=lambda _: None)
    #: Returns the reading if it is known without a judge (key terms found everything), or None.
    unasked: Callable[[Materials], Reading | None] = field(default=lambda _: None)
    #: Returns what needs no judge. Its findings are there whatever becomes of the verdict, and a failed verdict holds
    #: its content.
    computed: Callable[[Materials], Reading] = field(default=lambda _: Reading(()))
    graph: bool = False  # whether it needs the knowledge graph around the walk
    instruction: str | None = None  # the prompt of a user's rubric, in place of the file
    rubric: tuple[str, str, str, str] | None = None  # what `rubric_of` made it of
    system: str = "system"  # the prompt with the rules that stand first
    examples: tuple[str, ...] = ()  # answers with a person's grades, which the prompt shows
