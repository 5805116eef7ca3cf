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


#: What the tests of a question say of its answer, where it has some: no judge gives it then.
TESTED = FactualCorrectness.__name__


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

    A citation is wrong where its source isn't in the retrieved context, or doesn't support the claim. A source supports
    a claim where a quote from it does so alone, together with the other quotes, or together with the walked edge on
    which the claim rests. Without a citation the answer is not scored.
    """

    definition = "correct citations / citations"
    target = 0.95
    severe = 0.85


@dataclass(frozen=True)
class CitationRecall(JudgedMeasure):
    """Claims whose citations together support them over claims.

    A walked edge is no citation: a claim that needs one beside its citations isn't supported by them.
    """

    definition = "claims whose citations together support them / claims"
    aliases = ("citation_recall",)


@dataclass(frozen=True)
class CitationPrecision(JudgedMeasure):
    """Citations that their claim needs over citations.

    A citation is needed where it supports its claim alone, or the claim's citations support it together and wouldn't
    without this one. A walked edge is no citation.
    """

    definition = "citations without which their claim loses support, or that support it alone / citations"
    aliases = ("citation_precision",)


@dataclass(frozen=True)
class RubricGrade(JudgedMeasure):
    """The grade of an answer against the gold answer: fully correct 1, partially correct 0.5, unsupported or wrong 0.

    Unless it is fully correct, a label says what went wrong: hallucination, missing_evidence, retrieval_miss,
    wrong_chunk, reasoning_error or scope_confusion; any other is a grading_error. Neither a gold answer nor facts: not
    scored.
    """

    definition = "fully_correct 1, partially_correct 0.5, unsupported 0, wrong 0"
    source = "a judge, by a rubric of four grades"
    aliases = ("rubric_grade",)


@dataclass(frozen=True)
class Correct(JudgedMeasure):
    """Whether the answer agrees with the gold answer in every essential point; without a gold answer not scored."""

    definition = "1 if the answer agrees with the gold answer in every essential point, else 0"
    source = "a judge, by yes or no"


@dataclass(frozen=True)
class Faithful(JudgedMeasure):
    """Whether what was retrieved supports every statement of the answer; hedged statements don't count."""

    definition = "1 if every statement of the answer is supported by what was retrieved, else 0"
    source = "a judge, by yes or no"


@dataclass(frozen=True)
class Relevant(JudgedMeasure):
    """Whether the answer answers the question that was asked, rightly or not."""

    definition = "1 if the answer answers the question that was asked, else 0"
    source = "a judge, by yes or no"


@dataclass(frozen=True)
class Complete(JudgedMeasure):
    """Whether the answer says every essential point of the gold answer, or every fact; with neither not scored."""

    definition = "1 if the answer says every essential point of the gold answer or every fact, else 0"
    source = "a judge, by yes or no"


@dataclass(frozen=True)
class Faithfulness(JudgedMeasure):
    """Statements of the answer that what was retrieved supports over its statements.

    Where the claims were judged, it follows from them and equals Groundedness. Without a claim not scored.
    """

    definition = "statements of the answer that what was retrieved supports / statements of the answer"
    source = "a judge, by claims or by a score; the definition of RAGAS"


@dataclass(frozen=True)
class AnswerRelevance(JudgedMeasure):
    """How much of the answer serves the question, true or not."""

    definition = "how much of the answer serves the question, from 0 to 1"
    source = "a judge, by a score"
    aliases = ("answer_relevance", "answer_relevancy")


@dataclass(frozen=True)
class ContextPrecision(JudgedMeasure):
    """Mean of precision@k over the ranks k of the relevant chunks: those that support a claim of the gold answer.

    No relevant chunk is 0. Without a gold answer, and where chunks weren't shown to the judge, not scored.
    """

    definition = "mean of precision@k over the ranks k of chunks that support a claim of the gold answer"
    source = "a judge, by claims or by a score; the definition of RAGAS"
    layer = "retrieval"
    aliases = ("context_precision",)


@dataclass(frozen=True)
class ContextRecall(JudgedMeasure):
    """Claims of the gold answer that a chunk supports over its claims; without a gold answer not scored."""

    definition = "claims of the gold answer that a chunk supports / claims of the gold answer"
    source = "a judge, by claims or by a score; the definition of RAGAS"
    layer = "retrieval"
    aliases = ("context_recall",)


@dataclass(frozen=True)
class ScaleGrade(JudgedMeasure):
    """A whole number from 0 to 10 by how far the answer agrees with the gold answer; without one not scored.

    9 and 10 are full agreement, 7 and 8 substantial, 5 and 6 partial, 3 and 4 mostly wrong, 1 and 2 severely wrong.
    """

    definition = "agreement with the gold answer in whole numbers from 0 to 10"
    source = "a judge, by a scale"
    highest = 10.0
    aliases = ("scale_grade",)


@dataclass(frozen=True)
class AggregationCompleteness(JudgedMeasure):
    """Required components (facts) that the answer addresses over the required, by a judge; without any not scored."""

    definition = "components that the answer addresses / required components"
    source = "a judge, by the aggregation challenge"
    layer = "reasoning"


@dataclass(frozen=True)
class AggregationAccuracy(JudgedMeasure):
    """What is left of 1 after 0.15 for each error, at least 0.

    An error is an invented step, an omitted component, a component in the wrong service, or a wrong order. Without
    required components not scored.
    """

    definition = "max(0, 1 - 0.15 x errors)"
    source = "a judge, by the aggregation challenge"
    layer = "reasoning"


@dataclass(frozen=True)
class AggregationScore(JudgedMeasure):
    """The mean of AggregationCompleteness and AggregationAccuracy."""

    definition = "(AggregationCompleteness + AggregationAccuracy) / 2"
    source = "a judge, by the aggregation challenge"
    layer = "reasoning"


@dataclass(frozen=True)
class JudgedIntegration(JudgedMeasure):
    """Integration, with the sources whose use a judge sees besides those whose identifiers the answer names.

    A use counts where the words of the answer that the judge quotes occur in it. Where Integration is 1, no judge is
    asked. Where chunks that weren't shown could raise it, not scored.
    """

    definition = "min(distinct sources used / sources expected, 1), by identifiers and a judge"
    source = "a judge, for what identifiers don't tell"
    layer = "reasoning"


@dataclass(frozen=True)
class JudgedCompleteness(JudgedMeasure):
    """Completeness, with the facts that a judge sees addressed besides those whose key terms the answer has.

    A fact counts where the words of the answer that the judge quotes occur in it. Where Completeness is 1, no judge is
    asked. Without facts not scored.
    """

    definition = "required facts that the answer addresses / required facts, by key terms and a judge"
    source = "a judge, for what key terms don't tell"
    layer = "reasoning"


@dataclass(frozen=True)
class JudgedConflictResolution(JudgedMeasure):
    """ConflictResolution, with the conflicts that a judge sees resolved besides those whose key terms the answer has.

    A conflict counts where the words of the answer that the judge quotes occur in it. Where key terms tell all, no
    judge is asked. Where the annotation doesn't say what is right and there is no gold answer, it is left out.
    """

    definition = "annotated conflicts that the answer resolves / conflicts, by key terms and a judge"
    source = "a judge, for what key terms don't tell"
    layer = "reasoning"
