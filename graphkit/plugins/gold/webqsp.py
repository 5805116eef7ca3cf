"""WebQSP: the parses of a question, each with a SPARQL query and its answers."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError, table
from graphkit.plugins.gold.sparql import QUERY_LACKS, node_name, published, sparql_paths, topic_names


class WebQSP(GoldFormat):
    """Reads the first parse with answers: the patterns of its query, and the names of its entities."""

    name = "webqsp"
    title = "WebQSP: Parses with Sparql"
    told_by = ("Parses",)
    member = "Questions"
    graphs = True
    lacks = (*QUERY_LACKS, "Of several parses, the first with answers is read.")

    def question(self, row: GoldRow) -> dict[str, Any]:
        parses = published(row, "Parses")
        if not isinstance(parses, list) or not parses or not all(isinstance(one, dict) for one in parses):
            raise UnusableRowError("the field 'Parses' must be a list of objects that isn't empty")
        parse = next((one for one in parses if one.get("Answers")), parses[0])
        answers = _table(parse, "Answers", "AnswerArgument", "EntityName", "AnswerType")
        constraints = _table(parse, "Constraints", "Argument", "EntityName", "ArgumentType")
        topic = (parse.get("TopicEntityMid"), parse.get("TopicEntityName"), "Entity")
        given = [(entity, name) for entity, name, _ in (topic, *constraints, *answers)]
        names = topic_names(row) | {
            entity: name for entity, name in given if isinstance(entity, str) and isinstance(name, str)
        }
        graph = row.graph()
        nodes = {str(entity): node_name(graph, str(entity), names) for entity, _, _ in answers}
        texts = [names.get(entity) or entity for entity in nodes]
        query = parse.get("Sparql")
        return {
            "id": row.name("QuestionId"),
            "question": row.text("RawQuestion", "ProcessedQuestion"),
            "gold_answer": ", ".join(texts) or None,
            "gold_answers": texts,
            "relevant": {nodes[str(entity)]: 1.0 for entity, _, kind in answers if kind == "Entity"},
            "paths": sparql_paths(row, query if isinstance(query, str) else "", graph, names, list(nodes.values())),
        }


def _table(parse: dict[str, Any], name: str, *columns: str) -> list[tuple[Any, ...]]:
    return table(parse.get(name) or [], name, columns)
