"""Declarations of the measures whose values come from a judge, a person, tests of code, or another tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphkit.errors import MeasureError
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case


class JudgedMeasure(Measure):
    """Base of these measures: they can't be computed from a record."""

    source = "a judge, or tests that were run"
    layer = "generation"
    computed = False
    #: The grader of `graphkit grade` that gives it, if one does; and those that are asked by default.
    grader: ClassVar[str | None] = None
    asked_by_default: ClassVar[tuple[str, ...]] = ("claims", "rubric", "aggregation")

    def value(self, case: Case) -> float | Unscored:
        """Raise a MeasureError: a record holds nothing to compute it from."""
        raise MeasureError(f"{self} isn't computed from records: a judge gives it")


class FactualCorrectness(JudgedMeasure):
    """Tests passed / tests; without tests the accuracy of the judged components.

    The accuracy is that of AggregationAccuracy. With neither tests nor judged components it is not scored.
    """

    grader = "aggregation"
    aliases = ("factual_correctness",)
    target = 0.85
    severe = 0.7


#: If a question has tests, they give this measure and no judge does.
TESTED = FactualCorrectness.__name__


class Groundedness(JudgedMeasure):
    """Claims with direct or inferred support / claims.

    Hedged statements don't count as claims. An answer without claims is not scored.
    """

    grader = "claims"
    target = 0.9
    severe = 0.8


class HallucinationRate(JudgedMeasure):
    """Unsupported claims / claims.

    It is 1 - Groundedness. A judge's evidence counts only if its quote occurs in the chunk that it names; otherwise the
    claim is unsupported. An answer without claims is not scored.
    """

    grader = "claims"
    aliases = ("hallucination_rate",)
    higher_is_better = False
    target = 0.1
    severe = 0.2


class Attribution(JudgedMeasure):
    """Correct citations / citations.

    A citation is wrong if its source isn't in the retrieved context or doesn't support the claim. A source supports a
    claim if a quote from it does so alone, together with other quotes, or together with the traversed edge that the
    claim rests on. An answer without citations is not scored.
    """

    grader = "claims"
    target = 0.95
    severe = 0.85


class CitationRecall(JudgedMeasure):
    """Claims whose citations together support them / claims.

    A traversed edge is not a citation: citations don't support a claim that also needs an edge.
    """

    grader = "claims"
    aliases = ("citation_recall",)


class CitationPrecision(JudgedMeasure):
    """Citations without which their claim loses support, or that support it alone / citations.

    A citation is needed if it supports its claim alone, or if the claim's citations support it only together with this
    one. A traversed edge is not a citation.
    """

    grader = "claims"
    aliases = ("citation_precision",)


class RubricGrade(JudgedMeasure):
    """1 if fully correct, 0.5 if partially correct, 0 if unsupported or wrong.

    Unless the answer is fully correct, a label names the failure: hallucination, missing_evidence, retrieval_miss,
    wrong_chunk, reasoning_error or scope_confusion; any other label becomes grading_error. Without a gold answer and
    facts it is not scored.
    """

    grader = "rubric"
    source = "a judge, by a rubric of four grades"
    aliases = ("rubric_grade",)


class _YesOrNo(JudgedMeasure):
    """Base of the measures of the grader ``binary``."""

    grader = "binary"
    source = "a judge, by yes or no"


class Correct(_YesOrNo):
    """1 if the answer agrees with the gold answer in every essential point, else 0.

    Without a gold answer it is not scored.
    """


class PersonGrade(JudgedMeasure):
    """1 if a person calls the answer right, 0 if wrong.

    It is what a person grades in the page of ``graphkit view``.
    """

    source = "a person, by right or wrong"
    aliases = ("person_grade",)

    @classmethod
    def engines(cls) -> tuple[str, ...]:
        """Return that a person gives its values."""
        return ("person",)


class Faithful(_YesOrNo):
    """1 if the retrieved context supports every statement of the answer, else 0.

    Hedged statements don't count.
    """


class Relevant(_YesOrNo):
    """1 if the answer answers the question that was asked, else 0.

    Whether it is true doesn't matter.
    """


class Complete(_YesOrNo):
    """1 if the answer states every essential point of the gold answer or every fact, else 0.

    Without a gold answer and facts it is not scored.
    """


class Faithfulness(JudgedMeasure):
    """Statements of the answer that the retrieved context supports / statements of the answer.

    If the claims were judged, it follows from them and equals Groundedness. An answer without claims is not scored.
    """

    grader = "claims"
    source = "a judge, by claims or by a score; the definition of RAGAS"


class AnswerRelevance(JudgedMeasure):
    """How much of the answer serves the question, from 0 to 1.

    Whether it is true doesn't matter.
    """

    grader = "relevance"
    source = "a judge, by a score"
    aliases = ("answer_relevance", "answer_relevancy")


class ContextPrecision(JudgedMeasure):
    """Mean of precision@k over the ranks k of chunks that support a claim of the gold answer.

    Without a relevant chunk it is 0. Without a gold answer, or if the judge didn't see every chunk, it is not scored.
    """

    grader = "claims"
    source = "a judge, by claims or by a score; the definition of RAGAS"
    layer = "retrieval"
    aliases = ("context_precision",)


class ContextRecall(JudgedMeasure):
    """Claims of the gold answer that a chunk supports / claims of the gold answer.

    Without a gold answer it is not scored.
    """

    grader = "claims"
    source = "a judge, by claims or by a score; the definition of RAGAS"
    layer = "retrieval"
    aliases = ("context_recall",)


class _AgainstGold(JudgedMeasure):
    """Base of the measures of the answer's claims against those of the gold answer.

    A claim is right if the gold answer supports it, else false. Where an answer, a gold answer or a retrieval has
    nothing to measure, RAGChecker gives 0; here it is not scored.
    """

    grader = "claims"
    source = "a judge, by claims; the definition of RAGChecker"


class ClaimPrecision(_AgainstGold):
    """Claims of the answer that the gold answer supports / claims of the answer.

    It is the precision of RAGAS' factual correctness, too. Groundedness asks whether the context supports a claim,
    right or not, and Correct judges the answer as a whole. An answer without claims, or a question without a gold
    answer, is not scored.
    """

    aliases = ("claim_precision",)


class ClaimRecall(_AgainstGold):
    """Claims of the gold answer that the answer states / claims of the gold answer.

    GraphRAG-Bench calls it coverage. ContextRecall is RAGChecker's claim recall, whatever the answer says. An answer
    that states nothing has 0.
    """

    aliases = ("claim_recall", "claim_coverage")


class ClaimF1(_AgainstGold):
    """Harmonic mean of ClaimPrecision and ClaimRecall.

    It is 0 if one of them is, or if the answer makes no claim. RAGAS' F1 takes the right claims of the answer as the
    numerator of its recall, too, and so has other values.
    """

    aliases = ("claim_f1",)


class ContextUtilization(_AgainstGold):
    """Claims of the gold answer that a chunk supports and the answer states / those that a chunk supports.

    UsedShare asks which of the ids that tool calls showed the answer names, whatever the gold answer says. If no chunk
    supports a claim of the gold answer, it is not scored.
    """

    aliases = ("context_utilization", "context_utilisation")


@dataclass(frozen=True)
class NoiseSensitivity(_AgainstGold):
    """False claims that retrieved chunks support / claims of the answer.

    With ``chunks="relevant"`` one of the chunks supports a claim of the gold answer, too; with ``"irrelevant"`` none
    does. Fabrication counts the false claims that nothing supports. A claim that rests on a traversed edge alone counts
    as neither. If nothing was retrieved it is not scored.
    """

    chunks: str = "relevant"

    aliases = ("noise_sensitivity",)
    higher_is_better = False

    def __post_init__(self) -> None:
        if self.chunks not in {"relevant", "irrelevant"}:
            raise ValueError(f'chunks must be "relevant" or "irrelevant", not {self.chunks!r}')


class Fabrication(_AgainstGold):
    """False claims that nothing retrieved or traversed supports / claims of the answer.

    It is what RAGChecker calls hallucination. HallucinationRate also counts unsupported claims that are right: it is
    Fabrication + SelfKnowledge. Without chunks RAGChecker gives 0 for both; here all claims are unsupported.
    """

    aliases = ("ragchecker_hallucination",)
    higher_is_better = False


class SelfKnowledge(_AgainstGold):
    """Right claims that nothing retrieved or traversed supports / claims of the answer.

    The system knew or guessed them: with another retrieval they could as well be false, and Fabrication counts those
    that are.
    """

    aliases = ("self_knowledge",)
    higher_is_better = False


class ChunkPrecision(_AgainstGold):
    """Retrieved chunks that support a claim of the gold answer / retrieved chunks, whatever their ranks.

    It is what RAGChecker calls context precision; ContextPrecision weighs ranks. If nothing was retrieved, or the judge
    didn't see every chunk, it is not scored.
    """

    layer = "retrieval"
    aliases = ("chunk_precision",)


class MeasureWithoutGold(JudgedMeasure):
    """Base of the measures of retrieval that need neither a gold answer nor a gold path."""

    source = "a judge, without gold"
    layer = "retrieval"


class ContextRelevance(MeasureWithoutGold):
    """Mean relevance of the retrieved chunks to the question, each judged from 0 to 3, / 3.

    0 is unrelated, 1 on the subject without answering, 2 an answer in part or among other things, 3 a clear answer; a
    fact that the question needs on the way counts as a part of its answer. The order of the chunks doesn't matter.
    ContextPrecision asks which chunks support the gold answer, nDCG compares with relevant ids. The verdict names the
    first hop of the walk whose best chunk is less relevant than that of the hop before. Without a chunk, or if the
    judge didn't see every one, it is not scored.
    """

    grader = "context_relevance"
    source = "a judge, on the scale of UMBRELA (Upadhyay et al. 2024)"


class EdgeRelevance(MeasureWithoutGold):
    """Mean over traversed edges of 1 if it leads nearest to an answer, 0.5 if a neighbour does too, else 0.

    The judge sees the question, the node, and the edges that leave it in the knowledge graph: the traversed one among
    at most 8 others, drawn and shuffled by a hash, without a mark. An edge whose node has no other neighbour is left
    out. The verdict names the first hop with 0. EdgePrecision asks whether gold has the edge.
    """

    grader = "edge_relevance"


@dataclass(frozen=True)
class FactsInContext(MeasureWithoutGold):
    """Required facts that the first k retrieved chunks support / required facts; without k, all chunks.

    A fact is supported if a quote from one chunk supports it alone, or quotes from several do together, all of them
    among the first k. The judge is asked once for every k; the verdict says at which rank, and at which hop of the
    walk, each fact is first supported. ContextRecall splits the gold answer into claims, and Completeness asks which
    facts the answer addresses. Without facts it is not scored.
    """

    k: int | None = None

    grader = "facts_in_context"


class PathEfficiency(MeasureWithoutGold):
    """Edges of the shortest paths in the knowledge graph / traversed edges, between the same ends.

    It is the length factor of SPL, without success: 1 is a walk without a detour, 0 one that ends where it began. Both
    are added up over the retrieved paths. The shortest path goes against an edge only if the walk does. No judge is
    needed. It is not scored if a path isn't connected, or holds edges that the graph lacks. Hops counts the same edges,
    and StoppingDepth compares with gold.
    """

    grader = "trajectory"
    source = "the knowledge graph; SPL (Anderson et al. 2018) without success"


class TrajectoryAccuracy(MeasureWithoutGold):
    """1 if the walk as a whole is a sensible way to an answer, else 0; the label says what is wrong with it.

    The judge sees the question and the walk. The label is wrong_start, wrong_turn, detour, stopped_early or
    no_progress, and the verdict names the edge where it goes wrong. PathExact compares with gold. Without a walk it is
    not scored.
    """

    grader = "trajectory"


class ScaleGrade(JudgedMeasure):
    """Agreement with the gold answer in whole numbers from 0 to 10.

    9 and 10 are full agreement, 7 and 8 substantial, 5 and 6 partial, 3 and 4 mostly wrong, 1 and 2 severely wrong.
    Without a gold answer it is not scored.
    """

    grader = "scale"
    source = "a judge, by a scale"
    highest = 10.0
    aliases = ("scale_grade",)


class _OfComponents(JudgedMeasure):
    """Base of the measures of the aggregation challenge."""

    grader = "aggregation"
    source = "a judge, by the aggregation challenge"
    layer = "reasoning"


class AggregationCompleteness(_OfComponents):
    """Components (facts) that the answer addresses / required components, by a judge.

    Without facts it is not scored.
    """


class AggregationAccuracy(_OfComponents):
    """max(0, 1 - 0.15 x errors).

    An error is an invented step, an omitted component, a component in the wrong service, or a wrong order. Without
    facts it is not scored.
    """


class AggregationScore(_OfComponents):
    """(AggregationCompleteness + AggregationAccuracy) / 2."""


class _BeyondKeyTerms(JudgedMeasure):
    """Base of the measures of what rules didn't find in the answer."""

    source = "a judge, beyond key terms"
    layer = "reasoning"


class JudgedIntegration(_BeyondKeyTerms):
    """min(distinct sources used / sources expected, 1), by identifiers and a judge.

    A judge adds the sources whose use it can quote from the answer to those of Integration. If Integration is 1, no
    judge is asked. If chunks that the judge didn't see could raise the value, it is not scored.
    """

    grader = "integration"
    source = "a judge, beyond identifiers"


class JudgedCompleteness(_BeyondKeyTerms):
    """Required facts that the answer addresses / required facts, by key terms and a judge.

    A judge adds the facts that it can quote from the answer to those that key terms find. If Completeness is 1, no
    judge is asked. Without facts it is not scored.
    """

    grader = "completeness"


class JudgedConflictResolution(_BeyondKeyTerms):
    """Annotated conflicts that the answer resolves / conflicts, by key terms and a judge.

    A judge adds the conflicts whose resolution it can quote from the answer to those that key terms find. If key terms
    find all, no judge is asked. A conflict without a resolution is ignored if there is no gold answer.
    """

    grader = "conflicts"


class CriteriaScore(JudgedMeasure):
    """Weights of the question's criteria that hold / weights of all.

    A judge decides the criteria that are texts; ids, repositories, relations and commits are looked up in what the
    answer retrieved, traversed and cited. What an answer must not do holds if it doesn't. It is not scored without
    criteria, or if one can't be decided since nothing was logged. HealthBench (Arora et al. 2025) adds points that may
    be negative, and divides by the positive ones; with equal weights this is the share of followed instructions of
    IFEval (Zhou et al. 2023).
    """

    grader = "criteria"
    source = "a judge, and the record, by criteria of the question"


class CriteriaMet(CriteriaScore):
    """1 if all criteria of the question hold, else 0.

    It is the strict accuracy of IFEval (Zhou et al. 2023). A broken criterion decides, whatever is unknown about the
    others.
    """


class Declined(JudgedMeasure):
    """1 if the answer declines, else 0: a judge's verdict on a record that doesn't state ``abstained``.

    Where it is given, measures of abstention take it in place of the words of the answer. A mean is over these records
    alone, and no goal. It is not scored where the record states ``abstained``, or the answer is blank, which declines.
    """

    grader = "abstained"


#: The measure of what judges say of whether answers decline.
DECLINED = Declined.__name__
