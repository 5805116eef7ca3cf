"""QALD: questions over DBpedia or Wikidata, each with a SPARQL query and its results."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError
from graphkit.plugins.gold.sparql import QUERY_LACKS, node_name, sparql_paths

_DBPEDIA = "http://dbpedia.org/resource/"


class Qald(GoldFormat):
    """Reads the English question, the patterns of ``query.sparql``, and the results in ``answers``."""

    name = "qald"
    title = "QALD: query.sparql and answers"
    told_by = ("query", "question", "answers")
    member = "questions"
    graphs = True
    lacks = (
        *QUERY_LACKS,
        "Entities and relations are whole addresses (`http://dbpedia.org/resource/Berlin`): your graph needs them.",
        "Only resources of DBpedia have a name in their address; other entities give no answer in words.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        sparql = row.get("query")
        query = sparql.get("sparql") if isinstance(sparql, dict) else None
        nodes, answers = _results(row)
        graph = row.graph()
        known = [node_name(graph, node, {}) for node in nodes]
        texts = [*answers, *(unquote(node[len(_DBPEDIA) :]).replace("_", " ") for node in nodes if _named(node))]
        if len(texts) < len(answers) + len(nodes):
            row.notes.append("an answer is an entity without a name: no text is right")
            texts = []
        if not isinstance(query, str) or not query.strip():
            row.notes.append("the question has no query in SPARQL, so no path")
        return {
            "id": row.name("id"),
            "question": _asked(row),
            "category": row.optional_text("answertype"),
            "gold_answer": ", ".join(texts) or None,
            "gold_answers": texts,
            "relevant": dict.fromkeys(known, 1.0),
            "paths": sparql_paths(row, query, graph, {}, known) if isinstance(query, str) and query.strip() else [],
        }


def _named(node: str) -> bool:
    return node.startswith(_DBPEDIA) and len(node) > len(_DBPEDIA)


def _asked(row: GoldRow) -> str:
    """Return the question in English, else in its first language."""
    given = row.get("question")
    said = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    texts: dict[Any, str] = {
        one.get("language"): one["string"] for one in reversed(said) if isinstance(one.get("string"), str)
    }
    found = texts.get("en") or next(reversed(texts.values()), None)
    if not found or not found.strip():
        raise UnusableRowError("the field 'question' must be a list of objects with language and string")
    return found


def _results(row: GoldRow) -> tuple[list[str], list[str]]:
    """Return the entities among the results of the query, and the texts of the others, each once."""
    given = row.get("answers") or []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise UnusableRowError("the field 'answers' must be a list of results in SPARQL's JSON")
    nodes, texts = dict[str, None](), dict[str, None]()
    for one in given:
        if isinstance(one.get("boolean"), bool):
            texts["yes" if one["boolean"] else "no"] = None
        results, head = one.get("results"), one.get("head")
        bindings = results.get("bindings") if isinstance(results, dict) else None
        asked = head.get("vars") if isinstance(head, dict) else None
        for binding in bindings if isinstance(bindings, list) else ():
            if not isinstance(binding, dict):
                raise UnusableRowError("each of 'bindings' must be an object")
            named = [name for name in asked if name in binding] if isinstance(asked, list) else []
            bound = binding.get(named[0]) if named else next(iter(binding.values()), None)
            if isinstance(bound, dict) and isinstance(bound.get("value"), str) and bound["value"]:
                (nodes if bound.get("type") == "uri" else texts)[bound["value"]] = None
    return list(nodes), list(texts)
