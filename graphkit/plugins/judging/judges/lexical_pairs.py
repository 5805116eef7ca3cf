"""The rules by which the judge ``lexical`` prefers one of two answers: it counts words, and knows no sense.

They are meant for trials and tests. Two counts within a tenth of the larger one are a tie.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from graphkit.measures.completeness import content_words, identifiers_in
from graphkit.plugins.judging.judges.materials import Materials, ShownPair
from graphkit.plugins.judging.judges.sentences import sentences_of

#: Two counts that differ by no more than this share of the larger one are a tie.
ALIKE = 0.1

_REASON = re.compile(
    r"\b(?:because|since|so that|therefore|hence|thus|for example|for instance|e\.g\.|such as|see|means?|in order to)\b"
    r"|\[[^\]\s]+\]",
    re.IGNORECASE,
)


def _density(answer: str, asked: frozenset[str]) -> float:
    words = content_words(answer)
    return len(words & asked) / len(words) if words else 0.0


def _on_topic(answer: str, asked: frozenset[str]) -> float:
    sentences = sentences_of(answer)
    about = sum(not content_words(one.text).isdisjoint(asked) for one in sentences)
    return about / len(sentences) if sentences else 0.0


#: By criterion: what is counted, and how, given an answer and the words of the question.
_COUNTS: Mapping[str, tuple[str, Callable[[str, frozenset[str]], float]]] = {
    "comprehensiveness": ("different content words", lambda answer, _: len(content_words(answer))),
    "diversity": ("different names", lambda answer, _: len(identifiers_in(answer))),
    "empowerment": ("words for reasons, examples and sources", lambda answer, _: len(_REASON.findall(answer))),
    "directness": ("the share of words that are the question's", _density),
    "relevance": ("the share of sentences with a word of the question", _on_topic),
}


def preferred(materials: Materials) -> dict[str, Any]:
    """Return the verdict on two answers; by a criterion of the user's, its words in each answer are counted."""
    pair = materials.pair
    assert pair is not None
    what, count = _COUNTS.get(pair.criterion, (f"words of the criterion {pair.criterion}", _words_of(pair)))
    asked = content_words(materials.question)
    first, second = (float(count(text, asked)) for text in (pair.first, pair.second))
    winner = "tie"
    if abs(first - second) > ALIKE * max(first, second):
        winner = "first" if first > second else "second"
    return {"reasoning": f"{what}: {first:.4g} and {second:.4g}", "winner": winner}


def _words_of(pair: ShownPair) -> Callable[[str, frozenset[str]], float]:
    wanted = content_words(pair.text)
    return lambda answer, _: len(wanted & content_words(answer))
