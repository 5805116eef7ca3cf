"""2WikiMultiHop: the Wikidata triples that prove an answer, and its supporting paragraphs."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.hotpotqa import supporting_facts
from graphkit.plugins.gold.public_rows import GoldRow, triples
from graphkit.plugins.gold.triple_paths import chains, path_of_triples


class TwoWikiMultiHop(GoldFormat):
    """Reads ``evidences``, triples in the order of the reasoning: each chain is a path, and all are required."""

    name = "2wikimultihop"
    title = "2WikiMultiHop: evidences and supporting_facts"
    told_by = ("evidences", "supporting_facts")
    lacks = (
        "Entities are identified by their names in the evidence, so two entities with one name become one.",
        "A paragraph is relevant as a whole, by its title; its supporting sentences (`title#3`) are an evidence set.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        evidence = triples(row.table("evidences", ("fact", "relation", "entity")), "evidences")
        if not evidence:
            row.notes.append("no evidences are given: the question has no path")
        titles, sentences = supporting_facts(row)
        answer = row.optional_text("answer")
        return {
            "id": row.name("_id", "id"),
            "question": row.text("question"),
            "category": row.optional_text("type"),
            "gold_answer": answer,
            "gold_answers": [answer] if answer else [],
            "paths": [path_of_triples(chain) for chain in chains(evidence)],
            "relevant": dict.fromkeys(titles, 1.0),
            "evidence_sets": [sentences] if sentences else [],
        }
