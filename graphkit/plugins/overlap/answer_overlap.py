"""The text of a whole answer compared with gold answers: equal, by shared tokens, by shared tokens in order."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

from graphkit.measures.answer_matching import gold_answers, with_names
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.matching import common_subsequence
from graphkit.measures.text import squad_normalised
from graphkit.measures.unscored import NO_TOKENS, Unscored

Tokens = list[str]

#: The answers that HotpotQA compares as a whole.
_WHOLE = (["yes"], ["no"], ["noanswer"])
_ROUGE_TOKEN = re.compile(r"[a-z0-9]+")


class ExactMatch(Measure):
    """1 if the whole answer equals a gold answer, else 0.

    Gold answers are those of ``AnswerHit``, and texts are compared as SQuAD and HotpotQA do: without regard to case,
    punctuation, white space and the words a, an and the. A gold answer of which that leaves nothing is left out. If a
    gold answer names a node of the question's gold, by its id or by a name that no other one has, its other
    names count as well: ``web:src/a.ts#submit``, ``src/a.ts#submit``, ``submit``, and the ``aliases`` that the
    knowledge graph states; it must be spelled as there. ``AnswerHit`` looks for a gold answer anywhere in the answer,
    so that a sentence around it doesn't matter there. Punctuation isn't compared, as in SQuAD: C++ equals C.
    """

    source = "exact match of SQuAD (Rajpurkar et al. 2016) and HotpotQA (Yang et al. 2018)"
    layer = "generation"
    aliases = ("exact_match", "em")

    def value(self, case: Case) -> float | Unscored:
        compared = _compared(case, _squad_tokens, any_length=False)
        if isinstance(compared, Unscored):
            return compared
        answer, gold = compared
        return float(answer in gold)


@dataclass(frozen=True)
class TokenF1(Measure):
    """Harmonic mean of the answer's tokens that a gold answer has / its tokens, and of the latter / those of gold.

    The best gold answer counts. Texts, gold answers and names of nodes are those of ``ExactMatch``, and a
    ``gold_answer`` may have any length. A token that occurs twice is two, and order doesn't matter. With
    ``yes_no=True``, yes, no and noanswer count only as the whole answer, as in HotpotQA's script; SQuAD's has no such
    rule. ``AnswerF1`` compares lists: it counts answers, one a line, not their tokens. ``RougeL`` regards the order.
    """

    yes_no: bool = False

    source = "F1 of SQuAD (Rajpurkar et al. 2016) and HotpotQA (Yang et al. 2018)"
    layer = "generation"
    aliases = ("token_f1", "squad_f1")

    def value(self, case: Case) -> float | Unscored:
        compared = _compared(case, _squad_tokens)
        if isinstance(compared, Unscored):
            return compared
        answer, gold = compared
        return max(2 * _shared(answer, one, self.yes_no) / (len(answer) + len(one)) for one in gold)


class JointMeasure(Measure):
    """A measure of the answer and of the supporting facts together, each of which has to be right.

    The facts are those of the question's ``evidence_sets``, else its relevant ids, and a run names them as what it
    retrieved. The best gold answer and the best set count. Gold answers have any length, and no other names.
    """

    layer = "generation"

    def value(self, case: Case) -> float | Unscored:
        compared, sets = _compared(case, _squad_tokens, names=False), case.by_evidence_set or [case]
        facts = [one for one in sets if one.unranked is None]
        if not facts and (isinstance(compared, tuple) or not compared.of_question):
            return sets[0].unranked or 0.0
        if isinstance(compared, Unscored):
            return compared
        answer, gold = compared
        return max(self.joint(answer, text, one) for text in gold for one in facts)

    @abstractmethod
    def joint(self, answer: Tokens, gold: Tokens, facts: Case) -> float:
        """Return the value by one gold answer, and by the facts that are relevant in a case."""


class JointExactMatch(JointMeasure):
    """1 if the whole answer equals a gold answer and the retrieved ids are just the supporting facts, else 0.

    Texts are compared as by ``ExactMatch``, facts as by ``RetrievedF1(sets=True, exact=True)``.
    """

    source = "joint_em of HotpotQA (Yang et al. 2018)"
    aliases = ("joint_em",)

    def joint(self, answer: Tokens, gold: Tokens, facts: Case) -> float:
        return float(answer == gold and len(facts.hits) == len(facts.gains) == len(facts.ranks))


class JointF1(JointMeasure):
    """Harmonic mean of joint precision and joint recall, each that of the answer times that of the supporting facts.

    Precision and recall of the answer are those of ``TokenF1(yes_no=True)``, those of the facts
    ``RetrievedPrecision(sets=True)`` and ``RetrievedRecall(sets=True)``.
    """

    source = "joint_f1 of HotpotQA (Yang et al. 2018)"
    aliases = ("joint_f1",)

    def joint(self, answer: Tokens, gold: Tokens, facts: Case) -> float:
        right = _shared(answer, gold, yes_no=True) * len(facts.hits)
        return 2 * right / (len(answer) * len(facts.ranks) + len(gold) * len(facts.gains)) if right else 0.0


class RougeL(Measure):
    """F-measure of the longest common subsequence of the tokens of the answer and of a gold answer.

    Precision is its length / the answer's tokens, recall its length / those of gold, and the best gold answer counts.
    Tokens are runs of the letters a to z and of digits in lower case, without stemming, as in the package rouge-score:
    articles count, and a gold answer in another script has none and is left out. Gold answers and names of nodes are
    those of ``TokenF1``, which doesn't regard the order of tokens. Both suit gold answers of a sentence or more, which
    no answer equals (``ExactMatch``) or holds (``AnswerHit``); whether it says the same in other words only a judge can
    tell (``Correct``).
    """

    source = "ROUGE-L (Lin 2004), as the package rouge-score computes it"
    layer = "generation"
    aliases = ("rouge_l",)

    def value(self, case: Case) -> float | Unscored:
        compared = _compared(case, _rouge_tokens)
        if isinstance(compared, Unscored):
            return compared
        answer, gold = compared
        return max(2 * longest_common_tokens(answer, one) / (len(answer) + len(one)) for one in gold)


def longest_common_tokens(first: Tokens, second: Tokens) -> int:
    """Return the length of the longest common subsequence of two texts.

    >>> longest_common_tokens("the cat sat on the mat".split(), "on the mat the cat sat".split())
    3
    """
    places: dict[str, int] = {}
    for place, token in enumerate(second):
        places[token] = places.get(token, 0) | 1 << place
    return common_subsequence(len(second), (places.get(token, 0) for token in first))


def _compared(
    case: Case, tokens: Callable[[str], Tokens], any_length: bool = True, names: bool = True
) -> tuple[Tokens, list[Tokens]] | Unscored:
    """Return the tokens of the answer and of each gold answer, or the reason why there are none."""
    texts = gold_answers(case.question, any_length)
    if isinstance(texts, Unscored):
        return texts
    gold = [found for text in (chain(*with_names(texts, case)) if names else texts) if (found := tokens(text))]
    if not gold:
        return Unscored(NO_TOKENS, of_question=True)
    answer = case.answer.answer if case.answer is not None else None
    return Unscored(NO_ANSWER) if answer is None else (tokens(answer), gold)


def _shared(answer: Tokens, gold: Tokens, yes_no: bool) -> int:
    """Return how many tokens two texts share; with ``yes_no`` none, if one is yes, no or noanswer alone."""
    if yes_no and answer != gold and (answer in _WHOLE or gold in _WHOLE):
        return 0
    return (Counter(answer) & Counter(gold)).total()


def _squad_tokens(text: str) -> Tokens:
    return squad_normalised(text).split()


def _rouge_tokens(text: str) -> Tokens:
    return _ROUGE_TOKEN.findall(text.lower())
