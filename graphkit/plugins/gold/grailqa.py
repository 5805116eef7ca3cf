"""GrailQA and GraphQuestions: the graph of a question's query."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError, table
from graphkit.plugins.gold.query_graphs import LACKS, query_paths

_NO_FUNCTION = (None, "", "none")


class GrailQA(GoldFormat):
    """Reads ``graph_query``, with nodes (entities, literals, and classes for unnamed nodes) and edges."""

    name = "grailqa"
    title = "GrailQA: graph_query"
    told_by = ("graph_query",)
    graphs = True
    lacks = LACKS

    def question(self, row: GoldRow) -> dict[str, Any]:
        query = row.get("graph_query")
        if not isinstance(query, dict):
            raise UnusableRowError("the field 'graph_query' must be an object with nodes and edges")
        answers = row.table("answer", ("answer_type", "answer_argument"))
        entities = [str(argument) for kind, argument in answers if kind == "Entity"]
        known: dict[str, str] = {}
        asked: list[str] = []
        columns = ("nid", "node_type", "id", "question_node", "function")
        nodes = table(query.get("nodes"), "graph_query.nodes", columns)
        # Entities first: a traversal begins there rather than at a literal.
        for number, kind, name, is_asked, function in sorted(nodes, key=lambda node: bool(node[1] != "entity")):
            if is_asked:
                asked.append(str(number))
            elif kind in ("entity", "literal") and function in _NO_FUNCTION and isinstance(name, str) and name:
                known[str(number)] = name
        if row.get("function") not in _NO_FUNCTION:
            row.notes.append(
                "the answer is a function of the query's result (such as a count), which no path expresses"
            )
        edges = [
            (str(start), str(relation), str(end))
            for start, relation, end in table(query.get("edges"), "graph_query.edges", ("start", "relation", "end"))
        ]
        domains, names = row.get("domains"), _names(row.get("answer"))
        return {
            "id": row.name("qid"),
            "question": row.text("question"),
            "category": row.optional_text("level"),
            "group": domains[0] if isinstance(domains, list) and domains else None,
            "gold_answer": ", ".join(names) or None,
            "gold_answers": names,
            "relevant": dict.fromkeys(entities, 1.0),
            "paths": query_paths(row, row.graph(), edges, known, asked[0] if len(asked) == 1 else None, entities),
        }


def _names(answers: Any) -> list[str]:
    """Return the names of entities, and other values."""
    if isinstance(answers, dict):
        names, arguments = answers.get("entity_name") or [], answers.get("answer_argument") or []
        pairs = list(zip(names, arguments, strict=False)) or [(None, argument) for argument in arguments]
    else:
        pairs = [(one.get("entity_name"), one.get("answer_argument")) for one in answers or () if isinstance(one, dict)]
    return [str(name or argument) for name, argument in pairs if name or argument]
