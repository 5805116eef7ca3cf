"""Measures that a judge gives: declared as any other, but no record holds what they are computed from."""

from __future__ import annotations

from dataclasses import dataclass

from graphkit.errors import MeasureError
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case


@dataclass(frozen=True)
class JudgedMeasure(Measure):
    """Base of the measures whose values come from a judge, an execution of code, or another tool."""

    source = "a judge, or tests that were run"
    layer = "generation"
    computed = False

    def value(self, case: Case) -> float | Unscored:
        """Refuse: there is nothing in a record to compute it from."""
        raise MeasureError(f"{self} isn't computed from records: a judge gives it")


@dataclass(frozen=True)
class FactualCorrectness(JudgedMeasure):
    """Tests passed over tests, where the question carries tests for generated code; else the judged accuracy.

    That is max(0, 1 - 0.15 x errors), over steps that are invented, components that are omitted or attributed to the
    wrong service, and a wrong order. Neither tests nor judged components: not scored.
    """

    definition = "tests passed / tests; without tests the accuracy of the judged components"
    aliases = ("factual_correctness",)
    target = 0.85
    severe = 0.7


@dataclass(frozen=True)
class Groundedness(JudgedMeasure):
    """Claims with direct or inferred support over claims.

    Hedged statements are no claims. Without a claim the answer is not scored.
    """

    definition = "claims with direct or inferred support / claims"
    target = 0.9
    severe = 0.8


@dataclass(frozen=True)
class HallucinationRate(JudgedMeasure):
    """Unsupported claims over claims.

    A judge's quoted evidence counts only where the quote occurs in the chunk that it names; otherwise the claim is
    unsupported. Without a claim the answer is not scored.
    """

    definition = "unsupported claims / claims"
    aliases = ("hallucination_rate",)
    higher_is_better = False
    target = 0.1
    severe = 0.2


@dataclass(frozen=True)
class Attribution(JudgedMeasure):
    """Correct citations over citations.

    A citation is wrong where its source isn't in the retrieved context, or doesn't support the claim. Without a
    citation the answer is not scored.
    """

    definition = "correct citations / citations"
    target = 0.95
    severe = 0.85


@dataclass(frozen=True)
class CitationRecall(JudgedMeasure):
    """Claims whose citations together support them over claims."""

    definition = "claims whose citations together support them / claims"
    aliases = ("citation_recall",)


@dataclass(frozen=True)
class CitationPrecision(JudgedMeasure):
    """Citations that their claim needs over citations.

    A citation is needed where it supports its claim alone, or the claim would lose its support without it.
    """

    definition = "citations without which their claim loses support, or that support it alone / citations"
    aliases = ("citation_precision",)
