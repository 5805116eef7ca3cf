"""ComplexWebQuestions: the SPARQL query that answers a question."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow
from graphkit.plugins.gold.sparql import QUERY_LACKS, node_name, published, sparql_paths, topic_names


class ComplexWebQuestions(GoldFormat):
    """Reads the patterns of ``sparql`` as edges between entities, variables, and one variable for the answers."""

    name = "cwq"
    title = "ComplexWebQuestions: sparql"
    told_by = ("sparql", "compositionality_type")
    graphs = True
    lacks = QUERY_LACKS

    def question(self, row: GoldRow) -> dict[str, Any]:
        published(row, "sparql")
        given, said = row.get("answers"), row.get("answer")
        graph, names = row.graph(), topic_names(row)
        if isinstance(given, list):
            found = row.table("answers", ("answer", "answer_id"))
            answers = [str(name or entity) for name, entity in found]
            named = {entity: str(name or entity) for name, entity in found if isinstance(entity, str) and entity}
            names |= named
            entities = [node_name(graph, entity, names) for entity in named]
        else:
            # Copies without the ids of answers have the name of one, or a list of names.
            answers = row.texts("answer") if isinstance(said, list) else [row.text("answer")] if said else []
            entities = answers if graph is not None and any(map(graph.name, answers)) else []
        return {
            "id": row.name("ID", "id"),
            "question": row.text("question"),
            "category": row.optional_text("compositionality_type"),
            "gold_answer": ", ".join(answers) or None,
            "gold_answers": answers,
            "relevant": dict.fromkeys(entities, 1.0),
            "paths": sparql_paths(row, row.text("sparql"), graph, names, entities),
        }
