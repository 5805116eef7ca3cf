"""Whether a judge is moved by what has no bearing: the order of what it is shown, and the length of an answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.judges.contract import Judge, Opinion, effort_of
from graphkit.judges.prompts import Prompt
from graphkit.records.scores import Score
from graphkit.trust.effects import Effect, effects
from graphkit.trust.rejudge_contract import Regrade, Variant

VARIANTS: tuple[Variant, ...] = ("swapped", "padded")


async def bias(
    regrade: Regrade,
    variants: Sequence[Variant] = VARIANTS,
    questions: Sequence[str] | None = None,
    plain: Sequence[Score] | None = None,
) -> list[Effect]:
    """Have the same answers graded with each variation, and return how far that moves each measure.

    Parameters
    ----------
    plain
        The grading that the others are compared with; by default one that is made first.
    """
    first = plain if plain is not None else await regrade(questions, variant="same")
    return [one for variant in variants for one in effects(variant, first, await regrade(questions, variant=variant))]


def swapped(prompt: Prompt) -> Prompt:
    """Return a prompt that shows what it compares in the opposite order, after the question."""
    head = tuple(part for part in prompt.parts if part[0] == "question")
    rest = tuple(part for part in prompt.parts if part[0] != "question")
    return dataclasses.replace(prompt, parts=head + rest[::-1])


@dataclass(frozen=True)
class Swapped:
    """A judge that is shown what it compares in the opposite order."""

    judge_: Judge

    @property
    def name(self) -> str:
        """The name of the judge."""
        return self.judge_.name

    @property
    def version(self) -> str | None:
        """The version of the judge."""
        return self.judge_.version

    @property
    def effort(self) -> str | None:
        """How much the judge lets its model think."""
        return effort_of(self.judge_)

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return the judge's opinion."""
        return await self.judge_.judge(swapped(prompt), schema)


def padded(answer: str) -> str:
    """Return an answer that says all it says twice, and nothing else: longer, without a new word of content.

    Repetition is what judges were found to reward (Zheng et al. 2023, "repetitive list").

    >>> padded("x calls y.")
    'x calls y.\\n\\nIn other words: x calls y.'
    """
    return f"{answer}\n\nIn other words: {answer}" if answer.strip() else answer
