"""CRAG, the Comprehensive RAG Benchmark: answers over web pages, and questions with a false premise."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow

#: The answer to a question that takes something false for granted.
_INVALID = "invalid question"


class Crag(GoldFormat):
    """Reads ``answer`` and ``alt_ans``; a question of the type ``false_premise`` has no answer."""

    name = "crag"
    title = "CRAG: interaction_id, query, answer"
    told_by = ("interaction_id", "query", "query_time")
    lacks = (
        "There are no paths and no evidence: which of the pages hold the answer isn't stated.",
        "What changes with time is asked at the row's query_time, which isn't kept.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        kind, answer = row.optional_text("question_type"), row.text("answer")
        others = [one for one in row.texts("alt_ans") if one.strip()]
        question = {
            "id": row.name("interaction_id"),
            "question": row.text("query"),
            "category": kind,
            "group": row.optional_text("domain"),
        }
        if kind == "false_premise" or answer.strip().casefold() == _INVALID:
            return question | {"answerable": False, "why_not": "false premise"}
        return question | {"gold_answer": answer, "gold_answers": list(dict.fromkeys([answer, *others]))}
