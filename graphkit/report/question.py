"""The details of one question of one run as the page shows them: map, chunks, tool calls, pairs of commits, values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from graphkit.measures.case import Case
from graphkit.measures.seen import gold_ids
from graphkit.measures.tools import first_lack
from graphkit.records.commits import Version
from graphkit.records.structs import AnswerStruct, ChunkStruct, GraphQueryStruct
from graphkit.report.commits_view import Commits, incoherent_pairs
from graphkit.report.escaping import listing, optional_text, visible, visible_text
from graphkit.report.map_view import edge_statuses, map_of
from graphkit.report.spine import Column, column_of

#: Characters of a chunk and of an answer that are shown.
CHUNK_TEXT = 400
ANSWER_TEXT = 8000

#: Chunks and pairs that are listed; the rest is counted.
CHUNKS = 50
PAIRS = 40

#: The most calls that are shown, ids of one call, and characters of its arguments and of its result.
CALLS = 60
IDS = 20
ARGUMENTS = 300
RESULT = 300

#: What can be true of a question of a run; the page filters the table of questions by it, and sorts it in this order.
FLAGS = ("failed", "absent", "complete", "turn", "incoherent", "off_pin", "invalid", "unlogged")


def detail(
    case: Case, values: Sequence[float | str], invalid: str | None = None, column: Column | None = None
) -> tuple[dict[str, Any], list[str], int, int]:
    """Return the details of one question, its ``FLAGS``, and how many required edges were found out of how many.

    A question that isn't scored, or whose traversal isn't logged, broke nowhere, and 0 of 0 edges were found.

    Parameters
    ----------
    invalid
        Why its gold is stale; None if it isn't.
    column
        The run's column of the question's spine; by default it is made.
    """
    question, answer = case.question, case.answer
    held = {
        "failed": answer is not None and answer.error is not None,
        "absent": answer is None,
        "invalid": invalid is not None,
    }
    held["unlogged"] = not any(held.values()) and not case.walk_logged
    scored = not any(held.values())
    breaks = (column or column_of(case, invalid)).breaks
    statuses, found, required = edge_statuses(case, breaks)
    if not scored:
        found = required = 0
    commits = Commits(case)
    mapped = map_of(case, statuses, breaks, commits)
    pairs, chunks = incoherent_pairs(case), list(zip(case.chunks, case.chunk_versions, strict=True))
    listed = {
        **listing("pairs", pairs, PAIRS, lambda pair: _pair(*pair, commits)),
        **listing("chunks", chunks, CHUNKS, lambda one: _chunk(case, *one, commits)),
    }
    held["complete"] = 0 < required == found
    held["turn"] = any(one.turn is not None for one in breaks)
    held["incoherent"] = bool(pairs)
    held["off_pin"] = bool(case.off_pin)
    shown: dict[str, Any] = {
        "question": visible_text(question.question, ANSWER_TEXT),
        "gold": optional_text(question.gold_answer or None, ANSWER_TEXT),
        "facts": [visible_text(fact.text, CHUNK_TEXT) for fact in question.facts],
        "answer": optional_text(answer.answer or None, ANSWER_TEXT) if answer is not None else None,
        "error": optional_text(answer.error, ANSWER_TEXT) if answer is not None else None,
        "invalid": visible(invalid, CHUNK_TEXT) if invalid is not None else None,
        "values": [visible(one, CHUNK_TEXT) if isinstance(one, str) else round(one, 4) for one in values],
        "map": mapped,
        "commits": commits.shown(),
        **listed,
        "chunks_logged": case.chunks_logged,
        "ordered": case.ordered,
        "lost": _lost(case),
    }
    if answer is not None and (spent := _spent(answer)):
        shown["spent"] = spent
    if (calls := _calls(case)) is not None:
        shown["calls"] = calls
    if question.gold_cypher or (answer is not None and answer.queries is not None):
        shown["queries"] = _queries(case)
    return shown, [flag for flag in FLAGS if held[flag]], found, required


def _spent(answer: AnswerStruct) -> dict[str, float]:
    """Return latency, calls, tokens and cost of an answer, as far as its record states them."""
    fields = ("latency_ms", "model_calls", "prompt_tokens", "output_tokens", "cost")
    return {name: value for name in fields if (value := getattr(answer, name)) is not None}


def _pair(versions: list[Version], rule: str, count: int, commits: Commits) -> dict[str, Any]:
    numbers = dict.fromkeys(commits.number(version.repo, version.sha) for version in versions)
    return {"commits": list(numbers), "rule": rule, "count": count}


def _chunk(case: Case, chunk: ChunkStruct, version: Version, commits: Commits) -> dict[str, Any]:
    return {
        "id": visible(chunk.id),
        "gain": case.question.relevant.get(chunk.id, 0),
        "score": chunk.score,
        "commit": commits.number(version.repo, version.sha) if version.sha is not None else None,
        "text": visible_text(chunk.text, CHUNK_TEXT) if chunk.text else "",
    }


def _lost(case: Case) -> list[dict[str, Any]]:
    """Return the relevant ids that were not retrieved, the largest gain first; none if chunks weren't logged."""
    if case.answer is not None and not case.chunks_logged:
        return []
    lost = [(gain, node) for node, gain in case.question.relevant.items() if gain > 0 and node not in case.ranks]
    lost.sort(key=lambda pair: (-pair[0], pair[1]))
    return [{"id": visible(node), "gain": gain} for gain, node in lost[:CHUNKS]]


def _calls(case: Case) -> dict[str, Any] | None:
    """Return the tool calls of a question; None if they weren't logged."""
    calls = case.answer.tool_calls if case.answer is not None else None
    if calls is None:
        return None
    gold = {one for options in gold_ids(case) for ids in options for one in ids}
    before: set[str] = set()
    made = []
    for call in calls[:CALLS]:
        seen = list(dict.fromkeys(call.seen or ()))
        ids = [{"id": visible(one), "gold": one in gold, "again": one in before} for one in seen[:IDS]]
        made.append(
            {
                **_called(call.name, call.arguments),
                "result": optional_text(call.result, RESULT),
                "failed": call.failed,
                "seen": None if call.seen is None else ids,
                "more_seen": max(len(seen) - IDS, 0),
            }
        )
        before.update(seen)
    lack = first_lack(case)
    return {
        "made": made,
        "more": max(len(calls) - CALLS, 0),
        **listing("expected", case.question.expected_tool_calls, CALLS, lambda one: _called(one.name, one.arguments)),
        "lack": None if lack is None else visible_text(str(lack), ARGUMENTS),
    }


def _queries(case: Case) -> dict[str, Any]:
    """Return the queries of gold and of the record, and what came of running them."""
    answer = case.answer
    compared = answer.compared_result if answer is not None else None
    written = (answer.queries if answer is not None else None) or ()
    return {
        **listing("gold", case.question.gold_cypher, CALLS, lambda one: visible_text(one, ANSWER_TEXT)),
        **listing("written", written, CALLS, _written),
        "logged": answer is not None and answer.queries is not None,
        "ran": None if compared is None else compared.executable,
        "same": None if compared is None else compared.same,
        "reason": optional_text(compared.reason, RESULT) if compared is not None else None,
        "cause": optional_text(compared.cause, RESULT) if compared is not None else None,
    }


def _written(query: GraphQueryStruct) -> list[str | None]:
    return [visible_text(query.cypher, ANSWER_TEXT), optional_text(query.error, RESULT)]


def _called(name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
    """Return a call's name and its arguments as a text; None if any are allowed."""
    text = json.dumps(arguments, ensure_ascii=False) if arguments else None if arguments is None else ""
    return {"name": visible(name, ARGUMENTS), "arguments": optional_text(text, ARGUMENTS)}
