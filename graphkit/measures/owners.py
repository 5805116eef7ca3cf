"""Whose reason it is that a question has no value: decided by the text of the reason, which travels with the values.

Scores by others aren't taken at their word: :func:`confirmed`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from graphkit.measures.answer_matching import LONG_GOLD_ANSWER, NO_GOLD_ANSWER
from graphkit.measures.coherence import NO_COMMITS_KNOWN, NO_PIN
from graphkit.measures.completeness import NO_CONFLICTS, NO_FACTS, NO_RESOLUTION
from graphkit.measures.edges import NO_BOUNDARY, NO_PATH
from graphkit.measures.files import NO_FILES, NO_SYMBOLS
from graphkit.measures.integration import NO_SOURCE
from graphkit.measures.ranking import LARGE_GAINS, NO_EVIDENCE, NO_SPAN
from graphkit.measures.repositories import NO_REPOSITORY
from graphkit.measures.seeds import NO_GOLD_SEED
from graphkit.measures.seen import NO_GOLD_IDS
from graphkit.measures.tools import NO_ARGUMENTS, NOTHING_EXPECTED
from graphkit.measures.unscored import NO_EARLIER_TURN, NO_GOLD, NO_PRINCIPAL, NO_RELEVANT, NO_TOKENS, Unscored
from graphkit.records.scores import GRAPHKIT, Score
from graphkit.records.unanswered import NOT_LOGGED, STALE, is_failure, is_stale, is_unlogged

V = TypeVar("V")

#: The end of the reason of a user's own measure that lies in the question.
OF_QUESTION = " (of the question)"

#: Reasons of the question that judges give: the first is confirmed by the gold, the second by nobody.
NEITHER, NO_GOLD_CLAIMS = "neither a gold answer nor facts", "the gold answer makes no claim"

#: The reasons of graphkit's measures and graders that lie in the question, whatever a run answers.
OF_QUESTIONS = frozenset(
    (
        *(NO_GOLD, NO_RELEVANT, NO_PATH, NO_BOUNDARY, NO_GOLD_IDS, NO_FILES, NO_SYMBOLS, NO_REPOSITORY, NO_SPAN),
        *(NO_FACTS, NO_CONFLICTS, NO_RESOLUTION, NO_SOURCE, NO_PIN, NO_COMMITS_KNOWN, NO_GOLD_ANSWER),
        *(LONG_GOLD_ANSWER, NO_EVIDENCE, NO_TOKENS, NO_EARLIER_TURN, NO_PRINCIPAL, NO_GOLD_SEED),
        *(NOTHING_EXPECTED, NO_ARGUMENTS, LARGE_GAINS),
        *(NEITHER, NO_GOLD_CLAIMS),
    )
)


class Owner(StrEnum):
    """The owner of a reason: the question, the system or the record that lacks something."""

    QUESTION = "question"
    FAILED = "failed"
    NOT_LOGGED = "not logged"
    #: Nothing to measure in the answer, or no verdict of a grader: they count alike.
    NOTHING = "nothing to measure"


def owner_of(reason: str) -> Owner:
    """Return whose reason it is that a question has no value.

    >>> [owner_of(one).value for one in (NO_GOLD, "failed: timeout", "it has no rank (not logged)", "no claims")]
    ['question', 'failed', 'not logged', 'nothing to measure']
    """
    if is_failure(reason):
        return Owner.FAILED
    if is_unlogged(reason):
        return Owner.NOT_LOGGED
    if reason in OF_QUESTIONS or reason.startswith(STALE) or reason.endswith(OF_QUESTION):
        return Owner.QUESTION
    return Owner.NOTHING


def known_reasons(reasons: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return what graphkit itself says of questions, from each question with a reason, for :func:`confirmed`."""
    return {(question, _kind(reason)) for question, reason in reasons if owner_of(reason) is Owner.QUESTION}


def confirmed(scores: Iterable[Score], known: Collection[tuple[str, str]]) -> list[Score]:
    """Return scores in which a reason of the question is confirmed, or is one of the record.

    Whoever writes a score file could leave a question out of a gate by such a reason. So where the grader isn't
    graphkit, and graphkit itself doesn't say so of the question, it counts as not logged. What only a judge can say
    counts as no verdict: the question is left out, and a bound needs values on four fifths of all.
    """
    found = []
    for score in scores:
        reason = score.reason
        if (
            reason is not None
            and score.number is None
            and score.grader != GRAPHKIT
            and owner_of(reason) is Owner.QUESTION
            and (score.question, _kind(reason)) not in known
        ):
            what = f"{score.given_by} says {reason!r}, which the dataset doesn't confirm"
            what += "" if reason == NO_GOLD_CLAIMS else NOT_LOGGED
            score = score.model_copy(update={"reason": what})
        found.append(score)
    return found


def _kind(reason: str) -> str:
    return STALE if is_stale(reason) else reason


def text_of(unscored: Unscored) -> str:
    """Return the reason as a text, from which :func:`owner_of` tells whose it is."""
    if unscored.of_question and owner_of(unscored.reason) is not Owner.QUESTION:
        return f"{unscored.reason}{OF_QUESTION}"
    return unscored.reason


#: Why a record that rightly declines has nothing to measure.
RIGHTLY_DECLINED = f"rightly declined{OF_QUESTION}"


def of_rightly_declined(value: V) -> V | Unscored:
    """Return a value of a question without an answer that the record declined: nothing to measure is as it should be.

    >>> of_rightly_declined(Unscored("nothing was retrieved")).reason, of_rightly_declined(0.5)
    ('rightly declined (of the question)', 0.5)
    """
    nothing = isinstance(value, Unscored) and owner_of(text_of(value)) is Owner.NOTHING
    return Unscored(RIGHTLY_DECLINED, of_question=True) if nothing else value


def owners(reasons: Mapping[str, int]) -> Counter[Owner]:
    """Return how many questions each owner keeps from a value, from the number of each reason."""
    found: Counter[Owner] = Counter()
    for reason, count in reasons.items():
        found[owner_of(reason)] += count
    return found
