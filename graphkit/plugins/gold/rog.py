"""RoG's copies of WebQSP and ComplexWebQuestions: a question with the graph around its entities and answers."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import TOPICS, GoldRow
from graphkit.plugins.gold.query_graphs import shortest_paths


class RoG(GoldFormat):
    """Reads ``q_entity``, ``a_entity`` and ``graph``: the shortest paths between them, as RoG takes for gold."""

    name = "rog"
    title = "RoG's WebQSP and ComplexWebQuestions: q_entity, a_entity, graph"
    told_by = ("q_entity", "a_entity", "graph")
    graphs = True
    lacks = (
        "The paths aren't annotated: all shortest paths from an entity of the question to an answer, along edges in "
        "either direction, are alternatives. `cwq` and `webqsp` read annotated queries, with these rows as --graph.",
        "A question with several entities or answers has a path from each to each, and all are required.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        answers, entities = row.texts("answer"), row.texts("a_entity")
        return {
            "id": row.name("id"),
            "question": row.text("question"),
            "gold_answer": ", ".join(answers) or None,
            "gold_answers": answers,
            "relevant": dict.fromkeys(entities, 1.0),
            "paths": shortest_paths(row, row.graph(), row.texts(TOPICS), entities),
        }
