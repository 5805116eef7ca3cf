"""The tool calls of one question as the page shows them: arguments, results, and the ids that each call showed."""

from __future__ import annotations

import json
from typing import Any

from graphkit.measures.case import Case
from graphkit.measures.seen import gold_ids
from graphkit.measures.tools import first_lack
from graphkit.report.escaping import listing, optional_text, visible, visible_text

#: The most calls that are shown, ids of one call, and characters of its arguments and of its result.
CALLS = 60
IDS = 20
ARGUMENTS = 300
RESULT = 300


def calls_of(case: Case) -> dict[str, Any] | None:
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
                **_named(call.name, call.arguments),
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
        **listing("expected", case.question.expected_tool_calls, CALLS, lambda one: _named(one.name, one.arguments)),
        "lack": None if lack is None else visible_text(str(lack), ARGUMENTS),
    }


def _named(name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
    """Return a call's name and its arguments as a text; None if any are allowed."""
    text = json.dumps(arguments, ensure_ascii=False) if arguments else None if arguments is None else ""
    return {"name": visible(name, ARGUMENTS), "arguments": optional_text(text, ARGUMENTS)}
