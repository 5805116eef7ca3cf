"""Finds the columns of a query's rows that hold an edge, and the direction of its arrow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from graphkit.readers.graph_names import ENDS, NAMES, RELATIONS, is_element_id, plain
from graphkit.readers.payloads import identifier

#: Columns of rows that are often called so, though they needn't be the ends of an edge.
_VARIABLES = (("a", "r", "b"), ("n", "r", "m"), ("s", "r", "t"), ("x", "r", "y"))

_RELATION_TYPE = re.compile(r"[A-Z][A-Z0-9_]*")
_COLUMN = re.compile(r"(?:type\((\w+)\)|(\w+)(?:\.\w+)?)")


def variable(column: str) -> str:
    """Return the variable that a column such as ``type(r)`` or ``a.name`` is of."""
    match = _COLUMN.fullmatch(column)
    return (match[1] or match[2]) if match else column


@lru_cache(maxsize=64)
def arrows(query: str, start: str, relation: str, end: str) -> tuple[bool, bool] | None:
    """Return whether a query's pattern of three variables has arrows to its start, and to its end."""
    link = rf"-\s*\[\s*{re.escape(relation)}\b[^\]\[]*\]\s*-"
    found = re.search(rf"\({re.escape(start)}\b[^()]*\)\s*(<?){link}(>?)\s*\({re.escape(end)}\b", query)
    return (bool(found[1]), bool(found[2])) if found else None


def named_by_properties(row: Mapping[str, Any]) -> list[str]:
    """Return the names in columns that are called by a property that names a node, such as ``a.name``."""
    properties = ((column.partition("."), value) for column, value in row.items())
    names = (identifier(value) for (_, dot, name), value in properties if dot and plain(name) in NAMES)
    return [name for name in dict.fromkeys(names) if name is not None and not is_element_id(name)]


def is_relation(column: tuple[str, Any]) -> bool:
    """Return whether a value is a column that holds a relation, by its name and what it holds."""
    name, value = column
    return plain(variable(name)) in RELATIONS and isinstance(value, str) and bool(_RELATION_TYPE.fullmatch(value))


def guessed(row: Mapping[str, Any]) -> tuple[tuple[str, str, str] | None, bool]:
    """Return the columns that hold an edge by their names, and whether the names say so without doubt."""
    named = _named_columns(tuple(row))
    if named is not None:
        return named, True
    by_variable = {plain(variable(column)): column for column in row}
    types = [column for column in row if isinstance(row[column], str) and _RELATION_TYPE.fullmatch(row[column])]
    if len(by_variable) == len(row) and len(types) == 1:
        for start, relation, end in _VARIABLES:
            if start in by_variable and end in by_variable and by_variable.get(relation) == types[0]:
                return (by_variable[start], types[0], by_variable[end]), False
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
