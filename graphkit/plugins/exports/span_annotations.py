"""Scores as annotations of spans, as Phoenix and other tools for OpenInference take them.

An annotation names its span, and has a name, the kind of its author and a result: label, score and explanation. Phoenix
replaces an annotation of the same span, name and identifier, so a second export of a run changes it in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphkit.errors import InputError
from graphkit.plugins.exports.exported_run import ExportedRun, ExportedScore
from graphkit.records.scores import Score

#: The identifier of graphkit's annotations, by which a later export replaces them.
IDENTIFIER = "graphkit"

#: The graders that ask no model, beside graphkit's measures and executed code.
_BY_RULE = ("lexical",)


def annotations_of(exported: ExportedRun) -> Iterator[dict[str, Any]]:
    """Yield the annotation of each score whose answer names its span.

    Raises
    ------
    InputError
        No answer of the run names one.
    """
    if all(one.ids.span is None for one in exported.scores):
        raise InputError(
            f"no answer of the run {exported.run!r} names its span, and an annotation belongs to a span",
            remedy="Make the run from traces: `graphkit import openinference` or `otel`, or `graphkit listen`; or give "
            "each record a span_id.",
        )
    return (_annotation(one) for one in exported.scores if one.ids.span is not None)


def without_span(exported: ExportedRun) -> int:
    """Return the number of questions that no annotation is on."""
    return len({one.score.question for one in exported.scores if one.ids.span is None})


def _annotation(one: ExportedScore) -> dict[str, Any]:
    score = one.score
    result = {"label": one.label, "score": score.number, "explanation": one.explanation}
    about = {"run": score.run, "question": score.question, "grader": score.grader, "version": score.version}
    about |= {"gold_hash": score.gold_hash, "reason": score.reason, "computed": score.computed}
    return {
        "span_id": one.ids.span,
        "name": score.measure,
        "annotator_kind": _kind(score),
        "result": {name: value for name, value in result.items() if value is not None},
        "metadata": {name: value for name, value in about.items() if value is not None},
        "identifier": IDENTIFIER,
    }


def _kind(score: Score) -> str:
    if score.by_person:
        return "HUMAN"
    return "LLM" if score.judged and score.grader not in _BY_RULE else "CODE"
