"""Short ways to write what a judge is shown, and a judge that says what a test tells it to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from graphkit.measures.case import Case
from graphkit.plugins.judging.grading.surroundings import surroundings_in
from graphkit.plugins.judging.judges.contract import Finding, Grader, Opinion, Reading
from graphkit.plugins.judging.judges.materials import Materials, materials_of
from graphkit.plugins.judging.judges.prompts import Prompt
from graphkit.plugins.judging.judges.verdict_request import Judged, ask
from graphkit.plugins.judging.llm.requests import ModelError
from graphkit.records.models import Question
from graphkit.records.structs import EdgeStruct
from tests.helpers.cases import Triple, answer


def materials(
    text: str,
    chunks: Mapping[str, str | None] | None = None,
    walk: Sequence[Triple] = (),
    *,
    gold_path: Sequence[Triple] = (),
    citations: Sequence[str] = (),
    context_tokens: int = 1000,
    graph: Sequence[Triple] | None = None,
    walks: Sequence[Sequence[Triple]] = (),
    logged: Mapping[str, Any] | None = None,
    **question: Any,
) -> Materials:
    """Return the materials of an answer with these chunks, by id with their text, and one walked path, or several.

    ``graph`` has the edges of the knowledge graph, ``logged`` further fields of the record.
    """
    asked = Question.model_validate({"id": "q", "question": "Which?", "paths": [list(gold_path)], **question})
    retrieved = [{"id": key, "text": words} for key, words in (chunks or {}).items()]
    paths = [*([walk] if walk else []), *walks]
    fields = {"answer": text, "retrieved": retrieved, "citations": list(citations), **(logged or {})}
    case = Case(asked, answer(*paths, **fields))
    edges = [EdgeStruct(source, relation or "", target) for source, relation, target in graph or ()]
    around = None if graph is None else dict(surroundings_in({"q": case}, edges))["q"]
    return materials_of(case, "r", context_tokens=context_tokens, surroundings=around)


class Scripted:
    """A judge that gives the opinions of a script, one after the other, and keeps what it was asked."""

    name = "scripted"
    version = "1"

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.asked: list[Prompt] = []

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return the next opinion of the script: an opinion, an error to raise, JSON text, or an object."""
        self.asked.append(prompt)
        said = self.script.pop(0)
        if isinstance(said, ModelError):
            raise said
        if isinstance(said, Opinion):
            return said
        return Opinion(said if isinstance(said, str) else json.dumps(said))


def judged(grader: Grader, shown: Materials, *script: Any) -> Judged:
    """Return what comes of asking a judge that gives these opinions."""
    return asyncio.run(ask(grader, shown, Scripted(*script)))


def read(grader: Grader, shown: Materials, said: Mapping[str, Any]) -> Reading:
    """Return what a verdict is worth that must fit its form."""
    return grader.read(grader.verdict.model_validate_json(json.dumps(said)), shown)


def values(findings: Sequence[Finding]) -> dict[str, float | None]:
    """Return the values by measure."""
    return {one.measure: one.value for one in findings}


def reasons(findings: Sequence[Finding]) -> dict[str, str | None]:
    """Return by measure why there is no value, for those that have none."""
    return {one.measure: one.reason for one in findings if one.value is None}
