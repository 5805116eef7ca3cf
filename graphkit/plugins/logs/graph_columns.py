"""The columns and texts in which logs hold parts of a graph: edges in a row, arrows in a text, chunks with scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import permutations
from typing import Any

from graphkit.readers.graph_names import (
    COMMITS,
    ENDS,
    NAMES,
    RELATIONS,
    first_of,
    is_element_id,
    is_relation_type,
    plain,
)
from graphkit.readers.json_values import identifier, number, text
from graphkit.readers.logged import LoggedChunk

SCORES = ("score", "relevancescore", "similarityscore", "similarity")
TEXTS = ("text", "content", "pagecontent", "chunk", "body")

#: The keys of lists of edges, and the keys of their ends and relations.
EDGES = ("triples", "triplets", "edges", "relationships", "relations")

#: Columns of rows that are often called so, though they needn't be the ends of an edge.
VARIABLES = (("a", "r", "b"), ("n", "r", "m"), ("s", "r", "t"), ("x", "r", "y"))
_COLUMN = re.compile(r"(?:type\((\w+)\)|(\w+)(?:\.\w+)?)")
_ALIAS = re.compile(r"(?:type\((\w+)\)|\b(\w+)(?:\.\w+)?)\s+AS\s+`?(\w+)`?", re.IGNORECASE)
_LONGEST_QUERY = 10_000
_MOST_COLUMNS = 10


def chunk_of(properties: Mapping[str, Any], name: str) -> LoggedChunk:
    """Return a chunk with the text, score and commit that its properties hold."""
    return LoggedChunk(
        name,
        text(first_of(properties, TEXTS)[1]),
        number(first_of(properties, SCORES)[1]),
        text(first_of(properties, COMMITS)[1]),
    )


def is_null_edge(value: Any) -> bool:
    """Return whether a value is an edge of OPTIONAL MATCH that found none: null, or a map of nulls.

    >>> is_null_edge({"source": None, "relation": None, "target": None}), is_null_edge({})
    (True, False)
    """
    return value is None or (isinstance(value, dict) and bool(value) and all(one is None for one in dict.values(value)))


def variable(column: str) -> str:
    """Return the variable that a column such as ``type(r)`` or ``a.name`` is of."""
    match = _COLUMN.fullmatch(column)
    return (match[1] or match[2]) if match else column


def variables(columns: Iterable[str], query: str | None) -> list[str]:
    """Return the variable that each column is of, also behind a name that its query gives it."""
    given = _aliases(query or "")
    return [given.get(column) or variable(column) for column in columns]


@lru_cache(maxsize=64)
def _aliases(query: str) -> dict[str, str]:
    """Return the variables of the columns that a query names.

    >>> _aliases("MATCH (f)-[r]->(h) RETURN f.id AS caller, type(r) AS how")
    {'caller': 'f', 'how': 'r'}
    """
    _, found, returned = query[-_LONGEST_QUERY:].rpartition("RETURN")
    named = _ALIAS.findall(returned) if found else ()
    return {alias: one or other for one, other, alias in named}


@lru_cache(maxsize=64)
def arrows(query: str, start: str, relation: str, end: str) -> tuple[bool, bool] | None:
    """Return whether a query's pattern of three variables has arrows to its start, and to its end."""
    link = rf"-\s*\[\s*{re.escape(relation)}\b[^\]\[]*\]\s*-"
    found = re.search(rf"\({re.escape(start)}\b[^()]*\)\s*(<?){link}(>?)\s*\({re.escape(end)}\b", query)
    return (bool(found[1]), bool(found[2])) if found else None


def named_by_properties(row: Mapping[str, Any]) -> list[str]:
    """Return the names in columns that are called by a property that names a node, such as ``a.name``."""
    best: dict[str, tuple[int, str]] = {}  # by variable: the most specific property
    for column, value in row.items():
        of, dot, name = column.partition(".")
        if dot and plain(name) in NAMES and (found := identifier(value)) is not None and not is_element_id(found):
            best[of] = min(best.get(of, (len(NAMES), "")), (NAMES.index(plain(name)), found))
    return list(dict.fromkeys(name for _, name in best.values()))


def is_relation(column: tuple[str, Any]) -> bool:
    """Return whether a value is a column with a relation, by its name and its values."""
    name, value = column
    return plain(variable(name)) in RELATIONS and is_relation_type(value)


def guessed(row: Mapping[str, Any], query: str | None = None) -> tuple[tuple[str, str, str] | None, bool]:
    """Return the columns that hold an edge by their names, or by their query's pattern; and whether names are sure.

    >>> guessed({"f.id": "a", "type(r)": "CALLS", "c.id": "b"})
    (('f.id', 'type(r)', 'c.id'), False)
    """
    named = _named_columns(tuple(row))
    if named is not None:
        return named, True
    by_variable = {plain(variable(column)): column for column in row}
    types = [column for column in row if is_relation_type(row[column])]
    if len(by_variable) == len(row) and len(types) == 1:
        for start, relation, end in VARIABLES:
            if start in by_variable and end in by_variable and by_variable.get(relation) == types[0]:
                return (by_variable[start], types[0], by_variable[end]), False
    if len(types) == 1:
        found = [column for column in row if column != types[0] and isinstance(row[column], str)]
        link = variables(types, query)[0]
        asked = [
            (start, types[0], end)
            for start, end in permutations(found[:_MOST_COLUMNS], 2)
            if query and arrows(query, *variables((start,), query), link, *variables((end,), query))
        ]
        if len(asked) == 1:
            return asked[0], False
        if not asked and len(found) == 2 and types[0].startswith("type(") and all("." in one for one in found):
            return (found[0], types[0], found[1]), False
    return None, False


@lru_cache(maxsize=256)
def _named_columns(columns: tuple[str, ...]) -> tuple[str, str, str] | None:
    """Return the columns whose names say that they hold source, relation and target of an edge."""
    held: dict[str, list[str]] = {}
    for column in columns:
        held.setdefault(plain(variable(column)), []).append(column)
    once = {name: found[0] for name, found in held.items() if len(found) == 1}
    for start, end in ENDS:
        if len(start) > 1 and start in once and end in once:
            relation = next((name for name in RELATIONS if name in once and name not in (start, end)), None)
            if relation is not None:
                return once[start], once[relation], once[end]
    return None
