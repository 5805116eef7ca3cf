"""ComplexWebQuestions: the SPARQL query that answers a question."""

from __future__ import annotations

import re
from typing import Any

from graphkit.gold.formats import GoldFormat
from graphkit.gold.public_rows import GoldRow
from graphkit.gold.query_graphs import LACKS, query_paths

_ASKED = re.compile(r"SELECT\s+(?:DISTINCT\s+)?(\?\w+)", re.IGNORECASE)
_TERM = r'\?\w+|ns:[\w.\-]+|"[^"\n]*"(?:\^\^[^\s"]+|@\w+)?'
_PATTERN = re.compile(rf"({_TERM})\s+ns:([\w.\-]+)\s+({_TERM})\s*(?=\.|\}}|$)")
_FUNCTION = re.compile(r"\bORDER\s+BY\b|\bCOUNT\s*\(", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:UNION|OPTIONAL|MINUS|EXISTS)\b", re.IGNORECASE)


class ComplexWebQuestions(GoldFormat):
    """Reads the patterns of ``sparql`` as edges between entities and a variable for the answers."""

    name = "cwq"
    title = "ComplexWebQuestions: sparql"
    lacks = (
        *LACKS,
        "Conditions of the query (filters, the first by some order) aren't part of a path.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        query = _without_filters(row.text("sparql"))
        found = _ASKED.search(query)
        edges = [
            (source.rstrip("."), relation, target.rstrip(".")) for source, relation, target in _PATTERN.findall(query)
        ]
        if _FUNCTION.search(query):
            row.notes.append("the query orders or counts, which no path expresses")
        terms = dict.fromkeys(term for source, _, target in edges for term in (source, target))
        # Entities first: a traversal begins there rather than at a literal.
        named = sorted((term for term in terms if not term.startswith("?")), key=lambda term: term.startswith('"'))
        known = {term: _id(term) for term in named}
        answers = row.get("answers")
        names: list[str] = []
        entities: list[str] = []
        if isinstance(answers, list):
            for name, entity in row.table("answers", ("answer", "answer_id")):
                names.append(str(name or entity))
                if isinstance(entity, str) and entity:
                    entities.append(entity)
        asked = found[1] if found else None
        if _CHOICE.search(query):
            row.notes.append("the query has alternative or optional parts: the question has no path")
            paths = []
        else:
            paths = query_paths(row, edges, known, asked, entities)
        return {
            "id": row.name("ID", "id"),
            "question": row.text("question"),
            "category": row.optional_text("compositionality_type"),
            "gold_answer": ", ".join(names) or row.optional_text("answer"),
            "gold_answers": names,
            "relevant": dict.fromkeys(entities, 1.0),
            "paths": paths,
        }


def _id(term: str) -> str:
    """Return the id of an entity, or the text of a literal."""
    return term.split('"')[1] if term.startswith('"') else term.removeprefix("ns:")


def _without_filters(query: str) -> str:
    """Return a query without the contents of its filters, whose patterns aren't part of its graph."""
    kept, at = [], 0
    for found in re.finditer(r"\bFILTER\s*\(", query):
        if found.start() < at:
            continue
        kept.append(query[at : found.start()])
        depth, at = 1, found.end()
        while depth and at < len(query):
            depth += {"(": 1, ")": -1}.get(query[at], 0)
            at += 1
    return " ".join([*kept, query[at:]])
