"""Checks against the gold what judges say of a question: that it has no gold answer, or no facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from graphkit.files.dataset import Dataset
from graphkit.measures.answer_matching import NO_GOLD_ANSWER
from graphkit.measures.completeness import NO_FACTS
from graphkit.measures.owners import NEITHER
from graphkit.records.scores import GRAPHKIT, Score
from graphkit.records.structs import QuestionStruct


def _no_answer(question: QuestionStruct) -> bool:
    return not (question.gold_answer or "").strip()


#: Reasons that the text of a question's gold decides, whichever measures are computed.
_DECIDED: Mapping[str, Callable[[QuestionStruct], bool]] = {
    NO_GOLD_ANSWER: _no_answer,
    NO_FACTS: lambda question: not question.facts,
    NEITHER: lambda question: _no_answer(question) and not question.facts,
}


def reasons_of_gold(dataset: Dataset, scores: Iterable[Score]) -> list[tuple[str, str]]:
    """Return each question with a reason that scores give and its gold confirms.

    The questions are read only if a score of others has such a reason.
    """
    claimed = {(one.question, one.reason) for one in scores if one.reason in _DECIDED and one.grader != GRAPHKIT}
    if not claimed:
        return []
    return [
        (question.id, reason)
        for question in dataset.every_question()
        for reason, holds in _DECIDED.items()
        if (question.id, reason) in claimed and holds(question)
    ]
