"""The scores of a run with what other tools attach them to: the ids of its spans, and a sentence on each failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from graphkit.analysis.explanations import Explanation
from graphkit.measures.registry import bounds_of, worst_of
from graphkit.records.scores import Score
from graphkit.records.unanswered import FAILED, MISSING

#: What an unscored question is called: without a value for a reason, with an error in its record, without a record.
UNSCORED, FAILED_LABEL, MISSING_LABEL = "unscored", "failed", "missing"


@dataclass(frozen=True, slots=True)
class TraceIds:
    """The ids of an answer in the traces of its system; None if the record doesn't log them."""

    trace: str | None = None
    span: str | None = None
    response: str | None = None


@dataclass(frozen=True, slots=True)
class ExportedScore:
    """A score, the ids of its answer, and why it is what it is.

    Attributes
    ----------
    explanation
        What the grader said; else why there is no value; else, of a value that isn't the best, the sentence of
        ``graphkit why`` on the edge that broke.
    """

    score: Score
    ids: TraceIds
    explanation: str | None

    @property
    def label(self) -> str | None:
        """The label or the grade that the grader gave; of a score without a value, what kind it is."""
        return unscored_as(self.score) or self.score.label or self.score.grade


@dataclass(frozen=True)
class ExportedRun:
    """The scores of a run.

    Attributes
    ----------
    notes
        What the export lacks, in sentences.
    """

    run: str
    dataset: str
    scores: tuple[ExportedScore, ...]
    gold_hash: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def measures(self) -> list[str]:
        """The measures, in the order of the scores."""
        return list(dict.fromkeys(one.score.measure for one in self.scores))


def unscored_as(score: Score) -> str | None:
    """Return what kind of score without a value this is; None for one with a value."""
    if score.value is not None:
        return None
    reason = score.reason or ""
    return MISSING_LABEL if reason == MISSING else FAILED_LABEL if reason.startswith(FAILED) else UNSCORED


def questions_to_explain(scores: Iterable[Score]) -> list[str]:
    """Return the questions with a score whose explanation is the sentence of ``graphkit why``."""
    return [*dict.fromkeys(one.question for one in scores if _needs_sentence(one))]


def with_explanations(
    scores: Iterable[Score], ids: Mapping[str, TraceIds], explain: Callable[[str], Explanation | None] | None
) -> Iterator[ExportedScore]:
    """Yield scores with their ids and explanations.

    Parameters
    ----------
    ids
        By question.
    explain
        Explains a question, unless it is unknown; None if the records of the run aren't at hand.
    """

    @cache
    def sentence(question: str) -> str | None:
        found = explain(question) if explain is not None else None
        return found.sentence() if found is not None and found.wrong else None

    for score in scores:
        text = score.explanation
        if text is None:
            text = sentence(score.question) if _needs_sentence(score) else score.reason
        yield ExportedScore(score, ids.get(score.question, _NO_IDS), text)


_NO_IDS = TraceIds()


def _needs_sentence(score: Score) -> bool:
    """Return whether a value without an explanation isn't the best of its measure.

    Of a measure without a best value nothing is said.
    """
    if score.explanation is not None or score.value is None:
        return False
    bounds, worst = bounds_of(score.measure), worst_of(score.measure)
    best = bounds[0] if worst == bounds[1] and worst is not None else bounds[1]
    return best is not None and score.number != best
