"""The tool calls of one question as the page shows them: arguments, results, and the ids that each call showed."""

from __future__ import annotations

import json
from typing import Any

from graphkit.measures.case import Case
from graphkit.measures.seen import gold_ids
from graphkit.measures.tools import first_lack
from graphkit.report.escaping import visible, visible_text

#: What is shown: calls, ids of one call, and characters of its arguments and of its result.
CALLS = 60
IDS = 20
ARGUMENTS = 300
RESULT = 300


def calls_of(case: Case) -> dict[str, Any] | None:
    """Return the tool calls of a question; None where they weren't logged."""
    calls = case.answer.tool_calls if case.answer is not None else None
    if calls is None:
        return None
    gold = {one for options in gold_ids(case) for ids in options for one in ids}
    before: set[str] = set()
    made = []
    for call in calls[:CALLS]:
        seen = None if call.seen is None else list(dict.fromkeys(call.seen))
        made.append(
            {
                "name": visible(call.name, ARGUMENTS),
                "arguments": visible_text(_text(call.arguments), ARGUMENTS),
                "result": visible_text(call.result, RESULT) if call.result is not None else None,
                "failed": call.failed,
                "seen": None
                if seen is None
                else [{"id": visible(one), "gold": one in gold, "again": one in before} for one in seen[:IDS]],
                "more_seen": max(len(seen or ()) - IDS, 0),
            }
        )
        before.update(seen or ())
    expected = case.question.expected_tool_calls
    lack = first_lack(case)
    return {
        "made": made,
        "more": max(len(calls) - CALLS, 0),
        "expected": [
            {
                "name": visible(one.name, ARGUMENTS),
                "arguments": None if one.arguments is None else visible_text(_text(one.arguments), ARGUMENTS),
            }
            for one in expected[:CALLS]
        ],
        "more_expected": max(len(expected) - CALLS, 0),
        "lack": None if lack is None else visible_text(str(lack), ARGUMENTS),
    }


def _text(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False) if arguments else ""
