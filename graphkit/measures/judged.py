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
    """Tests passed / tests; without tests the accuracy of the judged components.

    That is max(0, 1 - 0.15 x errors), over steps that are invented, components that are omitted or attributed to the
    wrong service, and a wrong order. Neither tests nor judged components: not scored.
    """

    aliases = ("factual_correctness",)
    target = 0.85
    severe = 0.7


#: What the tests of a question say of its answer, where it has some: no judge gives it then.
TESTED = FactualCorrectness.__name__


@dataclass(frozen=True)
class Groundedness(JudgedMeasure):
    """Claims with direct or inferred support / claims.

    Hedged statements are no claims. Without a claim the answer is not scored.
    """

    target = 0.9
    severe = 0.8


@dataclass(frozen=True)
class HallucinationRate(JudgedMeasure):
    """Unsupported claims / claims.

    A judge's quoted evidence counts only where the quote occurs in the chunk that it names; otherwise the claim is
    unsupported. Without a claim the answer is not scored.
    """

    aliases = ("hallucination_rate",)
    higher_is_better = False
    target = 0.1
    severe = 0.2


@dataclass(frozen=True)
class Attribution(JudgedMeasure):
    """Correct citations / citations.

    A citation is wrong where its source isn't in the retrieved context, or doesn't support the claim. A source supports
    a claim where a quote from it does so alone, together with the other quotes, or together with the walked edge on
    which the claim rests. Without a citation the answer is not scored.
    """

    target = 0.95
    severe = 0.85


@dataclass(frozen=True)
class CitationRecall(JudgedMeasure):
    """Claims whose citations together support them / claims.

    A walked edge is no citation: a claim that needs one beside its citations isn't supported by them.
    """

    aliases = ("citation_recall",)


@dataclass(frozen=True)
class CitationPrecision(JudgedMeasure):
    """Citations without which their claim loses support, or that support it alone / citations.

    A citation is needed where it supports its claim alone, or the claim's citations support it together and wouldn't
    without this one. A walked edge is no citation.
    """

    aliases = ("citation_precision",)


@dataclass(frozen=True)
class RubricGrade(JudgedMeasure):
    """1 if fully correct, 0.5 if partially correct, 0 if unsupported or wrong.

    Unless it is fully correct, a label says what went wrong: hallucination, missing_evidence, retrieval_miss,
    wrong_chunk, reasoning_error or scope_confusion; any other is a grading_error. Neither a gold answer nor facts: not
    scored.
    """

    source = "a judge, by a rubric of four grades"
    aliases = ("rubric_grade",)


@dataclass(frozen=True)
class Correct(JudgedMeasure):
    """1 if the answer agrees with the gold answer in every essential point, else 0."""

    source = "a judge, by yes or no"


@dataclass(frozen=True)
class Faithful(JudgedMeasure):
    """1 if every statement of the answer is supported by what was retrieved, else 0."""

    source = "a judge, by yes or no"


@dataclass(frozen=True)
class Relevant(JudgedMeasure):
    """1 if the answer answers the question that was asked, else 0."""

    source = "a judge, by yes or no"


@dataclass(frozen=True)
class Complete(JudgedMeasure):
    """1 if the answer says every essential point of the gold answer or every fact, else 0."""

    source = "a judge, by yes or no"


@dataclass(frozen=True)
class Faithfulness(JudgedMeasure):
    """Statements of the answer that what was retrieved supports / statements of the answer.

    Where the claims were judged, it follows from them and equals Groundedness. Without a claim not scored.
    """

    source = "a judge, by claims or by a score; the definition of RAGAS"


@dataclass(frozen=True)
class AnswerRelevance(JudgedMeasure):
    """How much of the answer serves the question, from 0 to 1."""

    source = "a judge, by a score"
    aliases = ("answer_relevance", "answer_relevancy")


@dataclass(frozen=True)
class ContextPrecision(JudgedMeasure):
    """Mean of precision@k over the ranks k of chunks that support a claim of the gold answer.

    No relevant chunk is 0. Without a gold answer, and where chunks weren't shown to the judge, not scored.
    """

    source = "a judge, by claims or by a score; the definition of RAGAS"
    layer = "retrieval"
    aliases = ("context_precision",)


@dataclass(frozen=True)
class ContextRecall(JudgedMeasure):
    """Claims of the gold answer that a chunk supports / claims of the gold answer."""

    source = "a judge, by claims or by a score; the definition of RAGAS"
    layer = "retrieval"
    aliases = ("context_recall",)


@dataclass(frozen=True)
class ScaleGrade(JudgedMeasure):
    """Agreement with the gold answer in whole numbers from 0 to 10.

    9 and 10 are full agreement, 7 and 8 substantial, 5 and 6 partial, 3 and 4 mostly wrong, 1 and 2 severely wrong.
    """

    source = "a judge, by a scale"
    highest = 10.0
    aliases = ("scale_grade",)


@dataclass(frozen=True)
class AggregationCompleteness(JudgedMeasure):
    """Components that the answer addresses / required components."""

    source = "a judge, by the aggregation challenge"
    layer = "reasoning"


@dataclass(frozen=True)
class AggregationAccuracy(JudgedMeasure):
    """max(0, 1 - 0.15 x errors).

    An error is an invented step, an omitted component, a component in the wrong service, or a wrong order. Without
    required components not scored.
    """

    source = "a judge, by the aggregation challenge"
    layer = "reasoning"


@dataclass(frozen=True)
class AggregationScore(JudgedMeasure):
    """(AggregationCompleteness + AggregationAccuracy) / 2."""

    source = "a judge, by the aggregation challenge"
    layer = "reasoning"


@dataclass(frozen=True)
class JudgedIntegration(JudgedMeasure):
    """min(distinct sources used / sources expected, 1), by identifiers and a judge.

    A use counts where the words of the answer that the judge quotes occur in it. Where Integration is 1, no judge is
    asked. Where chunks that weren't shown could raise it, not scored.
    """

    source = "a judge, for what identifiers don't tell"
    layer = "reasoning"


@dataclass(frozen=True)
class JudgedCompleteness(JudgedMeasure):
    """Required facts that the answer addresses / required facts, by key terms and a judge.

    A fact counts where the words of the answer that the judge quotes occur in it. Where Completeness is 1, no judge is
    asked. Without facts not scored.
    """

    source = "a judge, for what key terms don't tell"
    layer = "reasoning"


@dataclass(frozen=True)
class JudgedConflictResolution(JudgedMeasure):
    """Annotated conflicts that the answer resolves / conflicts, by key terms and a judge.

    A conflict counts where the words of the answer that the judge quotes occur in it. Where key terms tell all, no
    judge is asked. Where the annotation doesn't say what is right and there is no gold answer, it is left out.
    """

    source = "a judge, for what key terms don't tell"
    layer = "reasoning"
