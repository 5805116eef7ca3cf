"""Measures of an answer's text that lists answers, one a line: which gold answers occur in it."""

from __future__ import annotations

from dataclasses import dataclass

from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.text import without_articles
from graphkit.measures.unscored import Unscored

NO_GOLD_ANSWER = "no gold answer"


def _gold_answers(case: Case) -> list[str]:
    """Return the normalised gold answers; without ``gold_answers``, the expected answer is the only one."""
    question = case.question
    given = question.gold_answers or [question.expected_output or question.gold_answer or ""]
    return [one for one in map(without_articles, given) if one]


def _answer_lines(case: Case) -> list[str] | None:
    """Return the normalised lines of the answer, blank ones included, or None if no answer is logged."""
    text = case.answer.answer if case.answer is not None else None
    return None if text is None else [without_articles(line) for line in text.strip().split("\n")]


@dataclass(frozen=True)
class AnswerHit(Measure):
    """1 if a gold answer occurs in the answer, else 0.

    The gold answers are the question's ``gold_answers``, else its ``expected_output`` or ``gold_answer``. Texts are
    compared without regard to case, punctuation, white space and the words a, an and the; an occurrence may be part of
    a word. With ``first`` only the first line counts: Hit@1 of answers that are lists.
    """

    first: bool = False

    source = "Hit and Hit@1 of question answering over knowledge graphs (RoG, GNN-RAG)"
    layer = "generation"

    def value(self, case: Case) -> float | Unscored:
        gold, lines = _gold_answers(case), _answer_lines(case)
        if not gold:
            return Unscored(NO_GOLD_ANSWER, of_question=True)
        if lines is None:
            return Unscored(NO_ANSWER)
        text = lines[0] if self.first else " ".join(" ".join(lines).split())
        return float(any(one in text for one in gold))


@dataclass(frozen=True)
class AnswerF1(Measure):
    """Harmonic mean of answer precision and answer recall, where each line of the answer is an answer.

    Precision is the lines that contain a gold answer / lines, without blank ones; recall is the gold answers that occur
    in the answer / gold answers, compared as by ``AnswerHit``. With ``joined`` precision is the gold answers that occur
    in the answer / lines, blank ones included, as RoG and GNN-RAG compute it: a line that holds several gold answers
    then gives more than 1.
    """

    joined: bool = False

    source = "F1 of question answering over knowledge graphs (RoG, GNN-RAG)"
    layer = "generation"
    highest = None

    def value(self, case: Case) -> float | Unscored:
        gold, lines = _gold_answers(case), _answer_lines(case)
        if not gold:
            return Unscored(NO_GOLD_ANSWER, of_question=True)
        if lines is None:
            return Unscored(NO_ANSWER)
        text = " ".join(" ".join(lines).split())
        found = sum(one in text for one in gold)
        if not found:
            return 0.0
        if self.joined:
            precision = found / len(lines)
        else:
            kept = list(filter(None, lines))
            precision = sum(any(one in line for one in gold) for line in kept) / len(kept)
        recall = found / len(gold)
        return 2 * precision * recall / (precision + recall)
