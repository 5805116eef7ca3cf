"""Gold answers in the text of an answer: as whole words, yes and no as the answer's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.text import decision, in_words, without_articles
from graphkit.measures.unscored import Unscored
from graphkit.records.gold import LONGEST_ANSWER
from graphkit.records.structs import QuestionStruct

NO_GOLD_ANSWER = "no gold answer"
LONG_GOLD_ANSWER = "the gold answer is longer than 5 words, so an answer may say it in others"


def gold_answers(question: QuestionStruct, any_length: bool = False) -> list[str] | Unscored:
    """Return the texts any of which makes an answer right by its words, or the reason why there is none.

    They are the ``gold_answers``, else the ``expected_output``, else a ``gold_answer`` of at most 5 words, or of any
    number.
    """
    given = question.gold_answers or [question.expected_output or question.gold_answer or ""]
    found = [one for one in given if in_words(one)[0]]
    if not found:
        return Unscored(NO_GOLD_ANSWER, of_question=True)
    given_as_such = any_length or question.gold_answers or question.expected_output
    if not given_as_such and len(found[0].split()) > LONGEST_ANSWER:
        return Unscored(LONG_GOLD_ANSWER, of_question=True)
    return found


def with_names(texts: Iterable[str], case: Case) -> list[list[str]]:
    """Return each gold answer, and after one that names a node of the question's gold that node's other names.

    It names the node whose id it is, else the only one that it is a name of. Names are the id, the path and symbol, the
    symbol, and the aliases that the knowledge graph states.
    """
    relevant = {node for node, gain in case.question.relevant.items() if gain > 0}
    names = {node: _names(node, case) for node in relevant.union(*((edge[0], edge[2]) for edge in case.gold_edges))}
    meant = ((text, [each for each in names.values() if text.strip() in each]) for text in texts)
    by_name = ((text, found[0] if len(found) == 1 else ()) for text, found in meant)
    return [[*dict.fromkeys((text, *names.get(text.strip(), found)))] for text, found in by_name]


def _names(node: str, case: Case) -> tuple[str, ...]:
    path, symbol = case.places.split(node)
    within = f"{path}#{symbol}" if path and symbol else path
    return tuple(filter(None, (node, within, symbol, *case.places.aliases(node, case.question.stack))))


def decides_by_words(question: QuestionStruct) -> bool:
    """Return whether the gold answers of a question decide what is right: nothing better does."""
    better = question.facts or (question.expected_output or "").strip() or question.test_cases
    return not better and not isinstance(gold_answers(question), Unscored)


class AnswerText:
    """A text in which gold answers are looked for: as whole words, or with ``words=False`` also inside words."""

    def __init__(self, text: str, words: bool = True) -> None:
        self._text = text
        self._whole = words
        self._words = in_words(text) if words else ()
        self._plain = "" if words else " ".join(without_articles(text).split())

    def holds(self, gold: str) -> bool:
        """Return whether a gold answer occurs; yes and no must be the answer's own."""
        if not self._whole:
            bare = without_articles(gold)  # nothing, of an alias of signs alone, occurs nowhere
            return bare != "" and bare in self._plain
        wanted = in_words(gold)
        if (own := wanted[0].strip()) in ("yes", "no"):
            return decision(self._text) == own
        return any(one and one in text for one, text in zip(wanted, self._words, strict=True))

    def holds_any(self, gold: Collection[str]) -> bool:
        """Return whether any of some gold answers occurs."""
        return any(map(self.holds, gold))


def _compared(case: Case, words: bool, names: bool) -> tuple[list[list[str]], list[str]] | Unscored:
    """Return the names of each gold answer and the lines of the answer, or the reason why there are none."""
    texts = gold_answers(case.question)
    if isinstance(texts, Unscored):
        return texts
    if not words and not (texts := [one for one in texts if without_articles(one)]):
        return Unscored(NO_GOLD_ANSWER, of_question=True)
    gold = with_names(texts, case) if names else [[one] for one in texts]
    text = case.answer.answer if case.answer is not None else None
    return Unscored(NO_ANSWER) if text is None else (gold, text.strip().split("\n"))


@dataclass(frozen=True)
class AnswerHit(Measure):
    """1 if a gold answer occurs in the answer, else 0.

    The gold answers are the question's ``gold_answers``, else its ``expected_output``, else a ``gold_answer`` of at
    most 5 words: a longer one may be said in other words. They occur as whole words, without regard to case,
    punctuation, white space and the words a, an and the: ``Ann`` isn't in ``Joanna``, nor ``2`` in ``1925`` or ``2.5``.
    Scripts written without spaces have no whole words, so that any occurrence counts. The gold answers yes and no are
    compared with the answer's own, the first that stands for itself: *no* before a noun (no evidence) doesn't. With
    ``first`` only the first line counts: Hit@1 of answers that are lists. With ``words=False`` an occurrence may be
    part of a word, as RoG and GNN-RAG compute it. With ``names=True`` a gold answer that names a node of the question's
    gold, by its id or by a name that no other one has, may occur by any name of that node: its id, its path and symbol,
    its symbol, or an alias in the graph.
    """

    first: bool = False
    words: bool = True
    names: bool = False

    source = "Hit and Hit@1 of question answering over knowledge graphs (RoG, GNN-RAG)"
    layer = "generation"

    def value(self, case: Case) -> float | Unscored:
        found = _compared(case, self.words, self.names)
        if isinstance(found, Unscored):
            return found
        gold, lines = found
        text = AnswerText(lines[0] if self.first else "\n".join(lines), self.words)
        return float(any(map(text.holds_any, gold)))


@dataclass(frozen=True)
class AnswerF1(Measure):
    """Harmonic mean of answer precision and answer recall, where each line of the answer is an answer.

    Precision is the lines that contain a gold answer / lines, without blank ones; recall is the gold answers that occur
    in the answer / gold answers, compared as by ``AnswerHit``, also with ``names``. With ``joined`` precision is the
    gold answers that occur in the answer / lines, blank ones included, as RoG and GNN-RAG compute it (they take parts
    of words, too: ``words=False``): a line that holds several gold answers then gives more than 1.
    """

    joined: bool = False
    words: bool = True
    names: bool = False

    source = "F1 of question answering over knowledge graphs (RoG, GNN-RAG)"
    layer = "generation"
    highest = None

    def value(self, case: Case) -> float | Unscored:
        compared = _compared(case, self.words, self.names)
        if isinstance(compared, Unscored):
            return compared
        gold, lines = compared
        whole = AnswerText("\n".join(lines), self.words)
        found = sum(map(whole.holds_any, gold))
        if not found:
            return 0.0
        if self.joined:
            precision = found / len(lines)
        else:
            kept = [line for line in lines if (without_articles(line) if not self.words else in_words(line)[0])]
            precision = sum(any(map(AnswerText(line, self.words).holds_any, gold)) for line in kept) / len(kept)
        recall = found / len(gold)
        return 2 * precision * recall / (precision + recall)
