"""MultiHop-RAG: the news articles that are evidence for an answer, each with the fact in it."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError, decoded

#: The category of questions that the articles don't answer.
_UNANSWERABLE = "null_query"


class MultiHopRag(GoldFormat):
    """Reads ``evidence_list``: the titles of the articles are relevant, and their facts texts of evidence.

    A ``null_query`` has no answer.
    """

    name = "multihop-rag"
    title = "MultiHop-RAG: evidence_list"
    told_by = ("evidence_list",)
    lacks = (
        "There are no paths: the gold is what has to be retrieved, not the way between.",
        "A row has no id: the question is named by its file and place.",
        "An article is relevant as a whole, by its title; EvidenceRecall asks for a chunk that contains each fact, as "
        "its authors do.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        given = decoded(row.get("evidence_list"), "evidence_list") or []
        if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
            raise UnusableRowError("the field 'evidence_list' must be a list of objects")
        titles = [one.get("title") for one in given]
        facts = [one["fact"] for one in given if isinstance(one.get("fact"), str) and one["fact"].strip()]
        if not all(isinstance(title, str) and title for title in titles):
            raise UnusableRowError("each of 'evidence_list' must have the title of an article")
        category = row.optional_text("question_type")
        question = {
            "id": f"{row.stem}-{row.number}{row.suffix}",
            "question": row.text("query"),
            "category": category,
        }
        if category == _UNANSWERABLE and not given:
            row.get("answer")
            return question | {"answerable": False, "why_not": "not in the set"}
        if not given:
            row.notes.append("no evidence is given: nothing is gold but the answer")
        return question | {
            "gold_answer": row.optional_text("answer"),
            "relevant": dict.fromkeys(titles, 1.0),
            "relevant_texts": list(dict.fromkeys(facts)),
        }
