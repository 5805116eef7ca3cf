"""Refuse a user's query that reaches beyond the graph: LOAD CSV, and procedures and functions of plug-ins.

They read files of the server and send what a query knows to any address, while the server counts them as reading. The
plan of EXPLAIN shows them, whatever the text of the query hides; a subquery inside an expression is in its operator's
details, which Neo4j prints from the parsed query.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from graphkit.errors import InputError

#: The namespaces of functions and procedures that every Neo4j has, and procedures of others that only tell its version.
_OWN = frozenset(
    [
        "coll",
        "date",
        "datetime",
        "db",
        "duration",
        "graph",
        "localdatetime",
        "localtime",
        "point",
        "string",
        "time",
        "vector",
        "zoned_datetime",
    ]
)
_HARMLESS = frozenset({"dbms.components", "dbms.info"})

#: A plan's operators that do more than read the graph.
_OPERATORS = {"LoadCSV": "LOAD CSV", "TerminateTransactions": "TERMINATE TRANSACTIONS"}

_WORD = r"(?:`(?:[^`]|``)+`|\w+)"
_NAME = rf"(?<![\w`]){_WORD}(?:\.{_WORD})"
_DOTTED_CALL = re.compile(rf"({_NAME}+)\(")
_PROCEDURE = re.compile(rf"(?:^|ResolvedCall\()({_NAME}*)\(")
_LOAD_CSV = re.compile(r"\bLOAD ?CSV\b", re.IGNORECASE)

_REMEDY = (
    "If you trust the query: `graphkit query` and `graphkit import graph` run it with --allow-load-csv, "
    "Python with allow_load_csv=True."
)


def explaining(cypher: str) -> str:
    """Return the query that explains a user's query, which may ask for its profile."""
    return "EXPLAIN " + re.sub(r"^\s*PROFILE\b", "", cypher, count=1, flags=re.IGNORECASE)


def refuse_outside(plan: Mapping[str, Any] | None, rows: Iterable[object] = (), allowed: Collection[str] = ()) -> None:
    """Refuse what a plan does beyond reading the graph; some servers return it as rows of text.

    ``allowed`` are further names of procedures and functions, in lower case.

    Raises
    ------
    InputError
        The plan has LOAD CSV, or calls a procedure or function that isn't the database's own.
    """
    for what in (*_outside(plan or {}), *("LOAD CSV" for row in rows if _LOAD_CSV.search(str(row)))):
        if what.lower() in allowed:
            continue
        raise InputError(f"the query uses {what}, which can read files and send data to any address", remedy=_REMEDY)


def _outside(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield what each operator of a plan does beyond reading the graph."""
    operator = str(plan.get("operatorType", "")).partition("@")[0]
    if operator in _OPERATORS:
        yield _OPERATORS[operator]
    texts = [
        str(text) for name, text in (plan.get("args") or {}).items() if name in ("Details", "string-representation")
    ]
    for text in texts:
        if _LOAD_CSV.search(text):
            yield "LOAD CSV"
        calls = _DOTTED_CALL.findall(text) + (_PROCEDURE.findall(text) if "Call" in operator + text else [])
        for name in (call.replace("`", "") for call in calls):
            if name.partition(".")[0].lower() not in _OWN and name.lower() not in _HARMLESS:
                yield name
    for child in plan.get("children") or ():
        yield from _outside(child)
