"""The patterns of a SPARQL query, as ComplexWebQuestions, WebQSP and QALD publish it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graphkit.plugins.gold.answer_graphs import AnswerGraph, Edge
from graphkit.plugins.gold.public_rows import TOPICS, GoldRow, UnusableRowError
from graphkit.plugins.gold.query_graphs import LACKS, UNSCORED, query_paths

QUERY_LACKS = (
    *LACKS,
    "Conditions of the query (filters, the first by some order) aren't part of a path.",
)

_ASKED = re.compile(r"SELECT\s+(?:DISTINCT\s+)?([?$]\w+)", re.IGNORECASE)
#: The name of an entity or a relation: an address, or a prefix and the rest of one.
_NAME = r"<[^<>\s]+>|[A-Za-z][\w\-]{0,50}:(?:[\w.\-%]|\\.)+"
_TERM = rf'[?$]\w+|{_NAME}|"[^"\n]*"(?:\^\^[^\s"]+|@\w+)?'
_PATTERN = re.compile(rf"({_TERM})\s+({_NAME}|a(?=\s))\s+({_TERM})\s*(?=\.|\}}|$)")
_PREFIX = re.compile(r"\bPREFIX\s+([\w\-]*:)\s*<([^<>\s]*)>", re.IGNORECASE)
#: What `a` stands for, and the prefix of Freebase, whose entities are known without their address.
_TYPE, _FREEBASE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "ns:"
_FUNCTION = re.compile(r"\bORDER\s+BY\b|\bCOUNT\s*\(", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:UNION|OPTIONAL|MINUS|EXISTS)\b", re.IGNORECASE)
_FILTER = re.compile(r"\bFILTER\s*\(", re.IGNORECASE)
#: A literal or an address, which may hold a number sign, or else a comment.
_COMMENT = re.compile(r'("[^"\n]*"|<[^<>\s]*>)|#.*')
#: A pattern before a semicolon: the next one has the same subject.
_SAME_SUBJECT = re.compile(rf"({_TERM})(\s+(?:{_NAME}|a(?=\s))\s+(?:{_TERM}))\s*;")
#: A semicolon without a further pattern.
_LOOSE = re.compile(r";\s*(?=[.}])")
_ORDERED = re.compile(r"\b(?:ORDER\s+BY|LIMIT|OFFSET)\b[^{}]*", re.IGNORECASE)


def sparql_paths(
    row: GoldRow, query: str, graph: AnswerGraph | None, names: Mapping[str, str], answers: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the paths of a query to each answer; none, with a note, if the query isn't a set of patterns.

    ``names`` are those of entities, by which the graph may know them.
    """
    query = _without_filters(_COMMENT.sub(lambda found: found[1] or "", query))
    prefixes = {prefix: address for prefix, address in _PREFIX.findall(query) if prefix != _FREEBASE}
    query = _LOOSE.sub(" ", query)
    while (longer := _SAME_SUBJECT.sub(r"\1\2 . \1", query)) != query:
        query = longer
    found = _ASKED.search(query)
    edges: list[Edge] = [
        (source.rstrip("."), _TYPE if relation == "a" else _id(relation, prefixes), target.rstrip("."))
        for source, relation, target in _PATTERN.findall(query)
    ]
    if _FUNCTION.search(query):
        row.notes.append("the query orders or counts, which no path expresses")
    if _CHOICE.search(query):
        row.notes.append(f"the query has alternative or optional parts: {UNSCORED}")
        return []
    patterns = _ORDERED.sub("", query[query.find("{") :])
    if _PATTERN.sub("", patterns).strip(" \t\r\n{}."):
        row.notes.append(f"a part of the query can't be read: {UNSCORED}")
        return []
    terms = dict.fromkeys(term for source, _, target in edges for term in (source, target))
    # Entities first: a traversal begins there rather than at a literal.
    named = sorted((term for term in terms if term[0] not in "?$"), key=lambda term: term.startswith('"'))
    ids = {term: _id(term, prefixes) for term in named}
    absent = _absent(graph, ids, names)
    known = {term: node_name(graph, name, names) for term, name in ids.items() if term not in absent}
    return query_paths(row, graph, edges, known, found[1] if found else None, answers, absent)


def _absent(graph: AnswerGraph | None, ids: Mapping[str, str], names: Mapping[str, str]) -> list[str]:
    """Return the terms of the entities that a graph of names has under names that the row doesn't give.

    A graph that has an entity of the query by its id, or doesn't know the question's entities, isn't one of names.
    """
    entities = {term: name for term, name in ids.items() if not term.startswith('"')}
    if graph is None or not graph.topics or any(graph.name(name) is not None for name in entities.values()):
        return []
    return [term for term, name in entities.items() if graph.name(names.get(name)) is None]


def published(row: GoldRow, name: str) -> Any:
    """Return a field that the rows of a data set have as published.

    Raise UnusableRowError if it is missing, with the format of the copies that have a graph instead.
    """
    value = row.get(name)
    if value is None:
        remedy = "`graphkit import gold rog` reads rows with 'q_entity' and 'graph'." if row.get(TOPICS) else None
        raise UnusableRowError(f"the field {name!r} is missing", remedy=remedy)
    return value


def topic_names(row: GoldRow) -> dict[str, str]:
    """Return the names of the question's entities by their ids, which some copies add."""
    given = row.get("topic_entity")
    return {entity: name for entity, name in given.items() if isinstance(name, str)} if isinstance(given, dict) else {}


def node_name(graph: AnswerGraph | None, entity: str, names: Mapping[str, str]) -> str:
    """Return the id of an entity, or its name if the graph has a node of that name alone."""
    return (graph.name(entity, names.get(entity)) if graph is not None else None) or entity


def _id(term: str, prefixes: Mapping[str, str]) -> str:
    """Return the id of an entity or a relation, its whole address outside of Freebase, or the text of a literal."""
    if term.startswith('"'):
        return term.split('"')[1]
    if term.startswith("<"):
        return term[1:-1]
    prefix, _, rest = term.partition(":")
    return prefixes.get(f"{prefix}:", "" if f"{prefix}:" == _FREEBASE else f"{prefix}:") + re.sub(r"\\(.)", r"\1", rest)


def _without_filters(query: str) -> str:
    """Return a query without the contents of its filters, whose patterns aren't part of its graph."""
    kept, at = [], 0
    for found in _FILTER.finditer(query):
        if found.start() < at:
            continue
        kept.append(query[at : found.start()])
        depth, at = 1, found.end()
        while depth and at < len(query):
            depth += {"(": 1, ")": -1}.get(query[at], 0)
            at += 1
    return " ".join([*kept, query[at:]])
