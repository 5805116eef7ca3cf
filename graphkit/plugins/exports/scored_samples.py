"""The scores that a log of an evaluation holds of one sample, and the formats of such logs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from graphkit.records.scores import LARGEST
from graphkit.records.words import shortened

NOT_A_NUMBER = "the scorer gave no number (NaN)"


@dataclass(frozen=True, slots=True)
class GivenScore:
    """A value with what its grader said of it; None with a reason if there is none."""

    grader: str
    value: float | None
    reason: str | None = None
    grade: str | None = None
    explanation: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class ScoredSample:
    """The scores of one sample.

    Attributes
    ----------
    version
        The version of the tool that scored.
    scores
        By measure.
    error
        The error that ended the sample.
    variant
        The provider and the prompt, if a log has several.
    left_out
        Why the sample isn't read, in a sentence.
    """

    where: str
    question: str | None = None
    question_text: str | None = None
    version: str | None = None
    scores: Mapping[str, GivenScore] = field(default_factory=dict)
    error: str | None = None
    variant: tuple[str, ...] = ()
    left_out: str | None = None


class ScoreFormat(Protocol):
    """A format of logs with scores."""

    name: ClassVar[str]
    title: ClassVar[str]

    def recognises(self, value: Any) -> bool:
        """Return whether a value of a file has this format."""

    def samples(self, path: Path) -> Iterator[ScoredSample]:
        """Yield the samples of a file; raise InputError if it has another format."""


def number_of(value: Any) -> tuple[float | None, str | None]:
    """Return a value as a number, or None with the reason why it is none.

    >>> number_of(True), number_of(float("nan")), number_of([1])
    ((1.0, None), (None, 'the scorer gave no number (NaN)'), (None, "the value isn't a number: [1]"))
    """
    if value is None:
        return None, "the log holds no value"
    if isinstance(value, bool | int | float):
        if isinstance(value, float) and math.isnan(value):
            return None, NOT_A_NUMBER
        return (float(value), None) if abs(value) <= LARGEST else (None, "the value is too large")
    return None, f"the value isn't a number: {shortened(str(value))}"
