"""Measures of the ranked chunks. An id counts at its first rank; a repeat keeps its rank and adds nothing."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from dataclasses import dataclass, replace
from operator import itemgetter, mul

from graphkit.measures.base import CutMeasure, Measure
from graphkit.measures.case import Case
from graphkit.measures.containment import by_containment
from graphkit.measures.text import normalised, textless
from graphkit.measures.unscored import NO_RELEVANT, NO_RETRIEVAL, NO_TEXT, Unscored
from graphkit.records.levels import LEVELS

#: How a retrieved id is found relevant: equal to a relevant one, or holding it or held by it.
MATCHES = EXACT, CONTAINMENT = "exact", "containment"

LARGE_GAINS = "the gains are too large to be added up"
NO_SPAN = "no expected answer span"
NO_EVIDENCE = "no texts of evidence"


def discount(rank: int) -> float:
    """Return 1 / log2(rank + 1), the weight of a rank (from 1) in nDCG."""
    return 1.0 / math.log2(rank + 1)


def _discounts(ranks: int) -> list[float]:
    return [discount(rank) for rank in range(1, ranks + 1)]


#: Those of the ranks that rankings are usually cut at.
_DISCOUNTS = _discounts(1000)

_rank_of = itemgetter(0)


def _in_top(hits: list[tuple[int, float]], k: int) -> int:
    """Return how many of some hits are in the first k ranks."""
    return len(hits) if not hits or hits[-1][0] <= k else bisect_right(hits, k, key=_rank_of)


@dataclass(frozen=True)
class RankingMeasure(Measure):
    """A measure of the ranked ids.

    With a ``level`` (``"file"``, ``"module"`` or ``"symbol"``) it compares what the ids are there, each once: the file,
    the class or function at the top of the file, or the symbol. Ids that have none, such as a file at the level of
    symbols, take no rank. A run that ranked a level itself (``rankings``) is judged by that ranking.

    With ``sets`` each of the question's ``evidence_sets`` in turn is what is relevant, and the best value counts: any
    one of the sets suffices. A question without them has one set, its relevant ids.

    With ``match="containment"`` ids needn't be equal: a relevant id is retrieved at the first rank of an id that holds
    it or that it holds, such as ``repo:path``, ``repo:path#symbol`` and ``repo:path:10-40`` (or ``repo:path#L10-L40``);
    two ranges of lines need to overlap, and symbols have those of the knowledge graph. Going down the ranks, an id is
    relevant if it brings relevant ids that no earlier one brought, and else keeps its rank and adds nothing. Whatever
    counts relevant ids against all of them counts each of those brought: a file brings all three relevant symbols in
    it. Whatever counts ranks (precision) counts that file once, and nDCG and its ideal count it as one id with the sum
    of their gains, so that no value exceeds 1.
    """

    level: str | None = None
    sets: bool = False
    match: str = "exact"

    def __post_init__(self) -> None:
        if self.level is not None and self.level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {self.level!r}")
        if self.match not in MATCHES:
            raise ValueError(f"match must be one of {', '.join(MATCHES)}, not {self.match!r}")
        if self.level is not None or self.sets or self.match != EXACT:
            object.__setattr__(self, "query", None)

    def value(self, case: Case) -> float | Unscored:
        if self.level is not None:
            case = case.at_level(self.level)
        if not self.sets or not case.question.evidence_sets:
            if self.match != EXACT:
                case = by_containment(case)
            reason = case.unranked
            return self.ranked(case) if reason is None else self.unranked(case, reason)
        found = [replace(self, level=None, sets=False).value(one) for one in case.by_evidence_set]
        values = [one for one in found if not isinstance(one, Unscored)]
        return max(values) if values else found[0]

    def unranked(self, case: Case, reason: Unscored) -> float | Unscored:
        """Return the value of a case without relevant ids, or whose record logs no ranking."""
        return reason

    @abstractmethod
    def ranked(self, case: Case) -> float | Unscored:
        """Return the value of a case with relevant ids and a ranking."""


@dataclass(frozen=True)
class CutRankingMeasure(RankingMeasure, CutMeasure):
    """A measure of the first k ranked ids."""


class Success(CutRankingMeasure):
    """1 if a relevant id is in the top k, else 0."""

    source = "hit rate; TREC success@k"
    query = "success"
    query_parameters = {"unscored": NO_RELEVANT, "unlogged": NO_RETRIEVAL}
    aliases = ("hit", "hits", "hit_rate")

    def ranked(self, case: Case) -> float:
        return 1.0 if case.hits and case.hits[0][0] <= self.cutoff(case) else 0.0


class Acc(CutRankingMeasure):
    """1 if all relevant ids are in the top k, else 0.

    With more than k relevant ids it is 0.
    """

    source = "accuracy of code localisation (LocAgent)"
    query = "accuracy"
    query_parameters = {"unscored": NO_RELEVANT, "unlogged": NO_RETRIEVAL}

    def ranked(self, case: Case) -> float:
        return float(_in_top(case.hits, self.cutoff(case)) == len(case.gains))


class Recall(CutRankingMeasure):
    """Relevant ids in the top k / all relevant ids."""

    source = "trec_eval recall_k"
    query = "recall"
    query_parameters = {"unscored": NO_RELEVANT, "unlogged": NO_RETRIEVAL}
    target = 0.85
    severe = 0.6
    target_parameters = {"k": 20}

    def ranked(self, case: Case) -> float:
        return _in_top(case.hits, self.cutoff(case)) / len(case.gains)


class P(CutRankingMeasure):
    """Relevant ids in the top k / k.

    It divides by k even if fewer ids were retrieved.
    """

    source = "trec_eval P_k"
    query = "precision"
    query_parameters = {"unscored": NO_RELEVANT, "unlogged": NO_RETRIEVAL}
    aliases = ("precision",)

    def ranked(self, case: Case) -> float:
        k = self.cutoff(case)
        return _in_top(case.found, k) / k


class Rprec(RankingMeasure):
    """Relevant ids in the top R / R, where R is the number of relevant ids.

    There, precision and recall are equal. Unlike P, it reaches 1 however few ids are relevant.
    """

    source = "trec_eval Rprec"
    query = "r_precision"
    query_parameters = {"unscored": NO_RELEVANT, "unlogged": NO_RETRIEVAL}
    aliases = ("r_precision",)

    def ranked(self, case: Case) -> float:
        relevant = len(case.gains)
        return _in_top(case.hits, relevant) / relevant


class AP(RankingMeasure):
    """Sum of the precision at the rank of each retrieved relevant id, over all relevant ids.

    Its mean is the MAP. The precision at a rank is the number of relevant ids up to there, over the rank.
    """

    source = "trec_eval map; the mean is MAP"
    query = "average_precision"
    query_parameters = {"unscored": NO_RELEVANT, "unlogged": NO_RETRIEVAL}
    aliases = ("map", "average_precision")

    def ranked(self, case: Case) -> float:
        return math.fsum(_in_top(case.found, rank) / rank for rank, _ in case.hits) / len(case.gains)


class RR(RankingMeasure):
    """1 / rank of the first relevant id, 0 if none.

    Its mean is the MRR.
    """

    source = "trec_eval recip_rank; the mean is MRR"
    query = "reciprocal_rank"
    query_parameters = {"unscored": NO_RELEVANT, "unlogged": NO_RETRIEVAL}
    aliases = ("mrr", "reciprocal_rank")
    target = 0.6
    severe = 0.3

    def ranked(self, case: Case) -> float:
        return 1.0 / case.hits[0][0] if case.hits else 0.0


class nDCG(CutRankingMeasure):  # noqa: N801 - the field's own spelling
    """Sum of gain / log2(rank + 1) over ranks 1..k, over the same sum for the best order of all gains."""

    source = "Järvelin and Kekäläinen 2002, linear gains as in trec_eval ndcg_cut"
    query = "ndcg"
    query_parameters = {"unscored": NO_RELEVANT, "unlogged": NO_RETRIEVAL}
    target = 0.75
    severe = 0.5
    target_parameters = {"k": 10}

    def unranked(self, case: Case, reason: Unscored) -> float | Unscored:
        if case.gains or not case.question.relevant:
            return reason
        # Without a positive gain, every ranking gains nothing.
        return 0.0 if case.chunks_logged else Unscored(NO_RETRIEVAL)

    def ranked(self, case: Case) -> float | Unscored:
        k = self.cutoff(case)
        gains, hits = case.ideal, case.found
        discounts = _DISCOUNTS if k <= len(_DISCOUNTS) else _discounts(max(len(gains), len(case.chunks)))
        try:
            ideal = math.fsum(map(mul, gains if len(gains) <= k else gains[:k], discounts))
        except OverflowError:
            return Unscored(LARGE_GAINS, of_question=True)
        return math.fsum([gain * discounts[rank - 1] for rank, gain in hits if rank <= k]) / ideal if hits else 0.0


@dataclass(frozen=True)
class AnswerContainment(CutMeasure):
    """1 if the expected answer span occurs in the text of a top-k chunk, else 0.

    The span is the question's ``expected_output``, else its gold answer. Texts are compared after Unicode
    normalisation, without regard to case and white space; ``exact`` compares them literally.
    """

    exact: bool = False

    source = "answer recall of open-domain question answering (DPR)"

    def value(self, case: Case) -> float | Unscored:
        span = case.question.expected_output or case.question.gold_answer
        if not span or not span.strip():
            return Unscored(NO_SPAN, of_question=True)
        if not case.chunks_logged:
            return Unscored(NO_RETRIEVAL)
        top = case.chunks[: self.cutoff(case)]
        if textless(top):
            return Unscored(NO_TEXT)
        texts = [chunk.text for chunk in top if chunk.text is not None]
        if self.exact:
            return float(any(span in text for text in texts))
        wanted = normalised(span)
        return float(any(wanted in normalised(text) for text in texts))


@dataclass(frozen=True)
class EvidenceRecall(CutMeasure):
    """Texts of evidence that occur in the text of a top-k chunk / texts of evidence.

    They are the question's ``relevant_texts``, for passages without ids that both sides know. Texts are compared as by
    ``AnswerContainment``.
    """

    source = "evidence recall of multi-hop retrieval (MultiHop-RAG)"

    def value(self, case: Case) -> float | Unscored:
        wanted = [text for one in case.question.relevant_texts if (text := normalised(one))]
        if not wanted:
            return Unscored(NO_EVIDENCE, of_question=True)
        if not case.chunks_logged:
            return Unscored(NO_RETRIEVAL)
        top = case.chunks[: self.cutoff(case)]
        if textless(top):
            return Unscored(NO_TEXT)
        texts = [normalised(chunk.text) for chunk in top if chunk.text is not None]
        return sum(any(one in text for text in texts) for one in wanted) / len(wanted)


@dataclass(frozen=True)
class RetrievedF1(RankingMeasure):
    """Harmonic mean of relevant ids retrieved / retrieved ids, and relevant ids retrieved / relevant ids.

    The order doesn't count, and each retrieved id counts once. With ``exact`` it is 1 if the retrieved ids are just the
    relevant ones, else 0.
    """

    exact: bool = False

    source = "F1 and AllCorrect of the leaves of a proof (EntailmentBank)"

    def ranked(self, case: Case) -> float:
        found, hits, retrieved, relevant = (len(one) for one in (case.found, case.hits, case.ranks, case.gains))
        if self.exact:
            return float(found == retrieved and hits == relevant)
        return 2 * found * hits / (found * relevant + hits * retrieved) if found else 0.0


class RetrievedPrecision(RankingMeasure):
    """Relevant ids retrieved / retrieved ids, 0 if nothing was retrieved.

    Each retrieved id counts once, whatever its rank. P@k looks at the first k only, and divides by k however few there
    are.
    """

    source = "precision of supporting facts (HotpotQA, sp_prec)"

    def ranked(self, case: Case) -> float:
        return len(case.found) / max(len(case.ranks), 1)


class RetrievedRecall(RankingMeasure):
    """Relevant ids retrieved / relevant ids, at any rank.

    It is ``Recall`` without a cut-off, so that a run that retrieves more can only gain.
    """

    source = "recall of supporting facts (HotpotQA, sp_recall); trec_eval set_recall"

    def ranked(self, case: Case) -> float:
        return len(case.hits) / len(case.gains)
