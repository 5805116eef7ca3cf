"""Measures whether irrelevant changes move a judge: the order of the parts, and the length of the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.plugins.judging.judges.contract import Judge, Opinion, effort_of
from graphkit.plugins.judging.judges.prompts import Prompt
from graphkit.plugins.judging.trust.effects import Effect, effects
from graphkit.plugins.judging.trust.rejudge_contract import Rejudge, Variant
from graphkit.records.scores import Score

VARIANTS: tuple[Variant, ...] = ("swapped", "padded")


async def bias(
    rejudge: Rejudge, variants: Sequence[Variant] = VARIANTS, plain: Sequence[Score] | None = None
) -> list[Effect]:
    """Grade the same answers with each variation, and return how far that moves each measure.

    ``plain`` is the grading to compare with; by default a new one.
    """
    first = plain if plain is not None else await rejudge(None, variant="same")
    return [one for variant in variants for one in effects(variant, first, await rejudge(None, variant=variant))]


def swapped(prompt: Prompt) -> Prompt:
    """Return a prompt with its parts after the question in reverse order."""
    head = tuple(part for part in prompt.parts if part[0] == "question")
    rest = tuple(part for part in prompt.parts if part[0] != "question")
    return dataclasses.replace(prompt, parts=head + rest[::-1])


@dataclass(frozen=True)
class Swapped:
    """A judge that sees the parts of each prompt in reverse order."""

    wrapped: Judge

    @property
    def name(self) -> str:
        """The name of the judge."""
        return self.wrapped.name

    @property
    def version(self) -> str | None:
        """The version of the judge."""
        return self.wrapped.version

    @property
    def effort(self) -> str | None:
        """The effort with which the judge lets its model think."""
        return effort_of(self.wrapped)

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return the judge's opinion."""
        return await self.wrapped.judge(swapped(prompt), schema)


def padded(answer: str) -> str:
    """Return an answer that says everything twice: longer, without new content.

    Judges were found to reward repetition (Zheng et al. 2023, "repetitive list").

    >>> padded("x calls y.")
    'x calls y.\\n\\nIn other words: x calls y.'
    """
    return f"{answer}\n\nIn other words: {answer}" if answer.strip() else answer
