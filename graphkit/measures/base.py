"""What a measure is: a frozen value that scores one case, and prints to the text it is parsed from."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from graphkit.measures.case import Case

#: The cut-off where neither the question nor the measure names one.
DEFAULT_K = 5

MISSING = "the run has no record for this question"
NO_GOLD = "no gold path with a required step"
NO_RELEVANT = "no relevant ids"
NOTHING_TRAVERSED = "nothing was traversed"


def failed(error: str) -> str:
    """Return the reason why a record with an error isn't scored."""
    return f"failed: {error}"


@dataclass(frozen=True, slots=True)
class Unscored:
    """No value, and the reason why. Never 0: a mean leaves it out, and says how many it left out."""

    reason: str


@dataclass(frozen=True)
class Measure(ABC):
    """A measure of one question of one run.

    A measure is a value: two with the same parameters are equal, ``str(measure)`` is its name with the parameters that
    differ from their defaults, and :func:`graphkit.parse_measure` reads that text back.

    Class attributes: ``definition`` is the one-sentence formula, ``source`` its origin, ``layer`` the layer that it
    belongs to, ``query`` the Cypher text in ``cypher/measures/`` that computes it over all questions, or None where
    Cypher has no means (text normalisation), ``aliases`` other names for it, and ``higher_is_better`` its direction.
    """

    definition: ClassVar[str]
    source: ClassVar[str]
    layer: ClassVar[str] = "retrieval"
    query: ClassVar[str | None] = None
    query_parameters: ClassVar[Mapping[str, object]] = MappingProxyType({})
    aliases: ClassVar[tuple[str, ...]] = ()
    higher_is_better: ClassVar[bool] = True
    needs_commits: ClassVar[bool] = False

    def score(self, case: Case) -> float | Unscored:
        """Return the value for one case, or the reason why there is none.

        A question without a record in the run, or with a record that carries an error, is not scored.
        """
        answer = case.answer
        if answer is None:
            return Unscored(MISSING)
        if answer.error is not None:
            return Unscored(failed(answer.error))
        return self.value(case)

    @abstractmethod
    def value(self, case: Case) -> float | Unscored:
        """Return the value for a case whose record exists and carries no error, or the reason why there is none.

        This is what a measure defines; who wants the value of any case asks :meth:`score`.
        """

    def settings(self) -> dict[str, object]:
        """Return every parameter by name, defaults included."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def parameters(self) -> dict[str, object]:
        """Return what the Cypher query takes: every parameter, and what it is told besides."""
        return {**self.query_parameters, **self.settings()}

    def __str__(self) -> str:
        given = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if field.name != "k" and getattr(self, field.name) != field.default
        ]
        text = type(self).__name__ + (f"({', '.join(given)})" if given else "")
        cutoff = getattr(self, "k", None)
        return text if cutoff is None else f"{text}@{cutoff}"


@dataclass(frozen=True)
class CutMeasure(Measure):
    """A measure of the first k ranks. k is the question's own, else the measure's, else 5."""

    k: int | None = None

    def cutoff(self, case: Case) -> int:
        """Return the k that applies to a case."""
        return case.question.k or self.k or DEFAULT_K
