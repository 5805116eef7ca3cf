"""Measures of the decision to answer: a question may have no answer, and a record may decline.

A question has an answer unless it says ``answerable: false``. A record declines if it states ``abstained``, else if its
answer reads so. The names are those of the literature on abstention (Wen et al. 2024, *Know Your Limits*) and of
selective prediction (Geifman and El-Yaniv 2017).
"""

from __future__ import annotations

from abc import abstractmethod
from types import MappingProxyType
from typing import ClassVar

from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.outcome import NOT_EVALUATED, RIGHT_ANSWER, right_answer
from graphkit.measures.owners import OF_QUESTION
from graphkit.measures.unscored import NO_TRAVERSAL, Unscored

HAS_ANSWER = f"the question has an answer{OF_QUESTION}"
HAS_NONE = f"the question has no answer{OF_QUESTION}"
NONE_ABSENT = f"the question lists no absent edge{OF_QUESTION}"
NOT_STATED = "the record has no answer, and doesn't say whether it declines (not logged)"
NO_CONFIDENCE = "the record states no confidence (not logged)"
ANSWERED = "the record answers"
DECLINED = "the record declines"

_SOURCE = "abstention of question answering (Wen et al. 2024, Know Your Limits)"


class DecisionMeasure(Measure):
    """Base of the measures of the decision to answer."""

    source = _SOURCE
    layer = "generation"
    query = "abstention"
    reads_declined = True

    #: The measure's name in its Cypher query.
    decides: ClassVar[str]

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if not cls.is_custom() and "decides" in cls.__dict__:
            reasons = {"has_answer": HAS_ANSWER, "has_none": HAS_NONE, "unlogged": NOT_STATED, "answered": ANSWERED}
            cls.query_parameters = {"decides": cls.decides, **reasons}

    def value(self, case: Case) -> float | Unscored:
        answerable = case.question.answerable is not False
        if (reason := self._left_out(answerable)) is not None:
            return Unscored(reason, of_question=True)
        return Unscored(NOT_STATED) if case.declined is None else self.of(answerable, case.declined)

    def _left_out(self, answerable: bool) -> str | None:
        """Return why the measure leaves out a question; None if it doesn't."""
        return None

    @abstractmethod
    def of(self, answerable: bool, declined: bool) -> float | Unscored:
        """Return the value from whether the question has an answer, and whether the record declines."""


class RightDecision(DecisionMeasure):
    """1 if the question has an answer and the record answers, or it has none and the record declines; else 0.

    Whether what it answers is right is another question: the mean of ``SelectiveRisk`` says so.
    """

    decides = "right decision"
    aliases = ("right_decision", "answerability_accuracy")

    def of(self, answerable: bool, declined: bool) -> float | Unscored:
        return float(answerable is not declined)


class AbstentionRecall(DecisionMeasure):
    """Declined questions without an answer / questions without an answer.

    A question is 1 if the record declines, else 0; one that has an answer is left out.
    """

    decides = "recall"
    aliases = ("abstention_recall",)

    def _left_out(self, answerable: bool) -> str | None:
        return HAS_ANSWER if answerable else None

    def of(self, answerable: bool, declined: bool) -> float | Unscored:
        return float(declined)


class AbstentionPrecision(DecisionMeasure):
    """Declined questions without an answer / declined questions.

    A declined question is 1 if it has no answer, else 0; one that the record answers isn't scored. A bound needs a
    bound on AbstentionRecall beside it, since a run that declines little is scored on little.
    """

    decides = "precision"
    aliases = ("abstention_precision",)

    def of(self, answerable: bool, declined: bool) -> float | Unscored:
        return float(not answerable) if declined else Unscored(ANSWERED)


class OverRefusal(DecisionMeasure):
    """Declined questions with an answer / questions with an answer.

    A question is 1 if the record declines, else 0; one without an answer is left out.
    """

    decides = "over-refusal"
    higher_is_better = False
    aliases = ("over_refusal",)

    def _left_out(self, answerable: bool) -> str | None:
        return None if answerable else HAS_NONE

    def of(self, answerable: bool, declined: bool) -> float | Unscored:
        return float(declined)


class Coverage(DecisionMeasure):
    """Answered questions / all questions, whether they have an answer or not.

    Alone it is no goal: read it beside ``SelectiveRisk``, which counts what was answered wrong.
    """

    source = "selective prediction (Geifman and El-Yaniv 2017)"
    decides = "coverage"

    def of(self, answerable: bool, declined: bool) -> float | Unscored:
        return float(not declined)


class SelectiveRisk(Measure):
    """Wrongly answered questions / answered questions.

    An answer is right as on the scoreboard: by the question's facts, its expected output or its gold answers. To answer
    a question without an answer is wrong. A declined question isn't scored, nor is one whose answer nothing decides.
    """

    source = "selective prediction (Geifman and El-Yaniv 2017)"
    layer = "generation"
    query = "selective_risk"
    query_parameters = MappingProxyType(
        {"decision": RIGHT_ANSWER, "unlogged": NOT_STATED, "declined": DECLINED, "undecided": NOT_EVALUATED}
    )
    higher_is_better = False
    reads_declined = True
    aliases = ("selective_risk",)

    def value(self, case: Case) -> float | Unscored:
        if case.declined is None:
            return Unscored(NOT_STATED)
        if case.declined:
            return Unscored(DECLINED)
        decision = right_answer(case)
        return Unscored(decision.by) if decision.right is None else float(not decision.right)


class Confidence(Measure):
    """The confidence that the record states, on a scale of the system's own.

    Alone it is no goal: AURC, a figure of the whole run, says whether wrong answers have less of it than right ones.
    """

    source = "selective prediction (Geifman and El-Yaniv 2017)"
    layer = "generation"
    lowest, highest = None, None
    query = "confidence"
    query_parameters = MappingProxyType({"unlogged": NO_CONFIDENCE})

    def value(self, case: Case) -> float | Unscored:
        stated = case.answer.confidence if case.answer is not None else None
        return Unscored(NO_CONFIDENCE) if stated is None else stated


class InventedEdges(Measure):
    """Number of distinct traversed edges that don't exist.

    These are the edges that the question lists as absent, and those that neither the knowledge graph nor gold holds.
    An edge without a relation, on either side, is one with any; its direction counts, unless the log lost it. The
    knowledge graph is that of the question's stack, else all of the dataset. If the edges of one aren't given, only
    listed edges count, and a question that lists none is left out. EdgePrecision counts every edge outside gold.
    """

    source = "edges that a false premise takes for granted, or a system makes up"
    needs_graph = True
    query = "invented_edges"
    query_parameters = {"none": NONE_ABSENT, "unlogged": NO_TRAVERSAL}
    higher_is_better = False
    highest = None
    aliases = ("invented_edges",)

    def value(self, case: Case) -> float | Unscored:
        made_up = case.made_up
        if not case.question.absent and made_up is None:
            return Unscored(NONE_ABSENT, of_question=True)
        if not case.walk_logged:
            return Unscored(NO_TRAVERSAL)
        return float(len(case.invented | (made_up or set())))
