"""Short ways to write a question, a run's record and a case in a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphkit.analysis.causes import Cause, causes_of
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.registry import parse_measure
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Answer, Question
from tests.helpers.made import made

Triple = tuple[str, str | None, str]
StepForm = Triple | dict[str, Any]


def optional(source: str, relation: str | None, target: str) -> dict[str, Any]:
    """Return a gold step that may be missed."""
    return {"source": source, "relation": relation, "target": target, "optional": True}


def manual(source: str, relation: str | None, target: str) -> dict[str, Any]:
    """Return a gold step that no static graph holds."""
    return {"source": source, "relation": relation, "target": target, "evidence": "manual"}


def either(group: str, *paths: Sequence[StepForm]) -> list[dict[str, Any]]:
    """Return alternative gold paths."""
    return [{"group": group, "steps": list(path)} for path in paths]


def question(*paths: Sequence[StepForm] | dict[str, Any], **fields: Any) -> Question:
    """Return a question with these gold paths: each a list of steps, or an object."""
    return made(Question, {"id": "q", "question": "?", "paths": list(paths), **fields})


def answer(*walks: Sequence[StepForm], **fields: Any) -> Answer:
    """Return a run's record with these retrieved paths; it says that no chunk was retrieved where none is given."""
    traversal = {"paths": [list(walk) for walk in walks]}
    return made(Answer, {"run": "r", "question_id": "q", "retrieved": [], "traversal": traversal, **fields})


def unlogged(**fields: Any) -> Answer:
    """Return a run's record that says neither what was retrieved nor what was traversed, unless it is given."""
    return made(Answer, {"run": "r", "question_id": "q", **fields})


def ranking(*ids: str, **fields: Any) -> Answer:
    """Return a run's record with these chunks, best first."""
    return answer(retrieved=list(ids), **fields)


def value(
    measure: str | Measure, question: Question, answer: Answer | None, commits: CommitGraph | None = None
) -> float:
    """Return the value of a measure that must have one."""
    found = score(measure, question, answer, commits)
    assert isinstance(found, float), found
    return found


def reason(
    measure: str | Measure, question: Question, answer: Answer | None, commits: CommitGraph | None = None
) -> str:
    """Return why a measure that must not have a value has none."""
    found = score(measure, question, answer, commits)
    assert isinstance(found, Unscored), found
    return found.reason


def score(
    measure: str | Measure, question: Question, answer: Answer | None, commits: CommitGraph | None = None
) -> float | Unscored:
    """Score one case by a measure or its text."""
    chosen = parse_measure(measure) if isinstance(measure, str) else measure
    return chosen.score(Case(question, answer, commits))


def relevant(gains: Mapping[str, float] | Iterable[str], **fields: Any) -> Question:
    """Return a question with relevant ids, or ids with their gains."""
    given = dict(gains) if isinstance(gains, Mapping) else list(gains)
    return question(relevant=given, **fields)


def first_cause(case: Case, invalid: str | None = None) -> Cause | None:
    """Return the cause at the first gold path that broke."""
    return next(iter(causes_of(case, invalid)), None)
