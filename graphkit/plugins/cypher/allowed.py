"""Refuse a query that does more than read the graph: by its words, and by the server's plan of it.

The server's own refusal is the wall; this is the door before it, which gives a reason and lets nothing begin. Words are
read twice, as they stand and with Java's escapes (``\\u0043``) decoded, since Neo4j decodes them before it parses.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from graphkit.database.outside import refuse_outside
from graphkit.database.store import Explained
from graphkit.errors import InputError
from graphkit.plugins.cypher.embedded_dialect import check_dialect

#: The procedures that run, all of which read the graph or its schema.
PROCEDURES = frozenset(
    [
        "db.index.fulltext.queryNodes",
        "db.index.fulltext.queryRelationships",
        "db.index.vector.queryNodes",
        "db.index.vector.queryRelationships",
        "db.labels",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties",
        "db.schema.visualization",
    ]
)

#: The namespaces of functions that every database has.
_NAMESPACES = frozenset(
    ["coll", "date", "datetime", "duration", "localdatetime", "localtime", "point", "string", "time", "vector"]
)

#: Words that begin a clause that writes, in a statement or a subquery.
_WRITES = frozenset(["CREATE", "DELETE", "DETACH", "DROP", "FOREACH", "INSERT", "MERGE", "NODETACH", "REMOVE", "SET"])
#: Words that begin a command about the server, and nothing within a query.
_COMMANDS = frozenset(
    [
        "ALTER",
        "DEALLOCATE",
        "DENY",
        "DRYRUN",
        "ENABLE",
        "GRANT",
        "REALLOCATE",
        "RENAME",
        "REVOKE",
        "SHOW",
        "START",
        "STOP",
        "TERMINATE",
    ]
)
#: After these a word is part of an expression or a pattern, not the beginning of a clause.
_INSIDE = frozenset(".:$,([|=<>+-/^%&!") | {
    *("AND", "AS", "BY", "CASE", "CONTAINS", "DISTINCT", "ELSE", "ENDS", "IN", "IS", "LIMIT", "NOT", "OR", "RETURN"),
    *("SKIP", "THEN", "UNWIND", "WHEN", "WHERE", "WITH", "XOR", "YIELD"),
}
#: Before these a word is a variable, a key or a label.
_NAMED = frozenset(".:,)]}=<>+-*/^%|")

#: Entries of lists of numbers that a query may write as ``range``, of all together within expressions.
LONGEST_RANGE = 10_000_000

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n\r]*|/\*.*?(?:\*/|\Z))
    |(?P<text>'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z))
    |(?P<quoted>`(?:[^`]|``)*(?:`|\Z))
    |(?P<word>\w+)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")


class RefusedQueryError(Exception):
    """A query that doesn't run, since it would do more than read the graph; its text is the reason."""


def check_text(text: str, allowed: Collection[str] = PROCEDURES) -> None:
    """Refuse a query by its words.

    Parameters
    ----------
    allowed
        The names of procedures, and of functions of plug-ins, that may run.

    Raises
    ------
    RefusedQueryError
        It writes, loads a file, is about the server, names another database, asks for a plan, calls what isn't allowed,
        or makes lists or texts so large that no server would look at its clock meanwhile.
    """
    known = {name.lower() for name in allowed}
    for version in dict.fromkeys((text, _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text))):
        tokens = [*_tokens(version)]
        _check_tokens(tokens, known)
        _check_growth(tokens)


def _tokens(text: str) -> Iterator[str]:
    """Yield words, signs, and names in backquotes; a string is an empty one."""
    for found in _TOKEN.finditer(text):
        if found.lastgroup == "text":
            yield "''"
        elif found.lastgroup != "skip":
            yield found.group()


def _check_tokens(tokens: list[str], known: Collection[str]) -> None:
    signs = [*(token.upper() for token in tokens), "", "", ""]
    first = True
    for place, word in enumerate(signs[:-3]):
        before, after = signs[place - 1] if place else ";", signs[place + 1]
        if word == "TRANSACTIONS" and before in ("IN", "CONCURRENT"):
            raise RefusedQueryError("it begins transactions of its own (IN TRANSACTIONS)")
        begins = before not in _INSIDE and after not in _NAMED
        if begins and word in _WRITES:
            raise RefusedQueryError(f"it would write ({word})")
        if begins and word == "LOAD" and after == "CSV":
            raise RefusedQueryError("it loads a file (LOAD CSV)")
        if begins and word == "USE":
            raise RefusedQueryError("it names the database to use (USE)")
        if (first or before == ";") and word in _COMMANDS and begins:
            raise RefusedQueryError(f"it is about the server, not the graph ({word})")
        if first and word in ("EXPLAIN", "PROFILE") and begins:
            raise RefusedQueryError(f"it asks for the plan of a query, not for its rows ({word} before it)")
        first = first and word in ("CYPHER", "''")
        if word == "CALL" and before not in _INSIDE:
            name = _dotted(tokens, place + 1)
            if name and name.lower() not in known:
                raise RefusedQueryError(f"it calls the procedure {name}, which isn't among those that read the graph")
        elif before not in (".", "CALL") and after == ".":
            name = _dotted(tokens, place)
            called = name and signs[_after_name(tokens, place)] == "("
            if called and name.partition(".")[0].lower() not in _NAMESPACES and name.lower() not in known:
                raise RefusedQueryError(f"it calls the function {name}, which isn't one of the database's own")


def _check_growth(tokens: list[str]) -> None:
    """Refuse what one expression makes too large: servers end a query between its rows, not within an expression.

    That is all that can be seen in a text: lists that are properties may be as long.
    """
    together = 1
    for place, token in enumerate(tokens):
        if token.upper() == "RANGE" and (size := _range_size(tokens[place + 1 : place + 11])) is not None:
            together *= 1 if tokens[place - 1].upper() == "UNWIND" and place else max(size, 1)
            if max(size, together) > LONGEST_RANGE:
                raise RefusedQueryError(f"its lists of numbers have more than {LONGEST_RANGE:,} entries (range)")
        if token.upper() == "REDUCE" and tokens[place + 1 : place + 2] == ["("] and place + 2 < len(tokens):
            name, body = tokens[place + 2], _body(tokens, place + 2)
            added = [at for at, one in enumerate(body) if one == name and "+" in (*body[max(at - 1, 0) : at + 2],)]
            if len(added) > 1:
                raise RefusedQueryError(f"each step of a list doubles a value (reduce adds {name} to itself)")


def _range_size(tokens: list[str]) -> int | None:
    """Return the number of entries of a range of literal numbers, from its parenthesis on; None for any other."""
    if ")" not in tokens or tokens[0] != "(":
        return None
    found = re.fullmatch(r"\((-?\d{1,19}),(-?\d{1,19})(?:,(-?\d{1,19}))?\)", "".join(tokens[: tokens.index(")") + 1]))
    if found is None:
        return None
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    return max((last - first) // step + 1, 0) if step else None


def _body(tokens: list[str], place: int) -> list[str]:
    """Return what stands behind the bar of ``reduce(``, whose first token within the parenthesis is at a place."""
    depth, begin = 0, None
    for at in range(place, len(tokens)):
        depth += (tokens[at] in ("(", "[", "{")) - (tokens[at] in (")", "]", "}"))
        if depth < 0:
            return tokens[begin:at] if begin is not None else []
        if depth == 0 and tokens[at] == "|" and begin is None:
            begin = at + 1
    return tokens[begin:] if begin is not None else []


def _after_name(tokens: list[str], place: int) -> int:
    """Return the place after a name of parts with dots between them."""
    while place + 2 < len(tokens) and tokens[place + 1] == "." and _is_name(tokens[place + 2]):
        place += 2
    return place + 1


def _dotted(tokens: list[str], place: int) -> str:
    """Return the name at a place, whose parts have dots between them, or "" if there is none."""
    if place >= len(tokens) or not _is_name(tokens[place]):
        return ""
    parts = tokens[place : _after_name(tokens, place) : 2]
    return ".".join(part[1:-1].replace("``", "`") if part.startswith("`") else part for part in parts)


def _is_name(token: str) -> bool:
    return token.startswith("`") or token.isidentifier()


def check_plan(explained: Explained, text: str = "", allowed: Collection[str] = PROCEDURES) -> None:
    """Refuse a query by what the server says of it.

    Raises
    ------
    RefusedQueryError
        It doesn't only read, or its plan calls what isn't allowed.
    UnsupportedQueryError
        The server is the embedded database, which would take it otherwise.
    """
    plan = explained.plan or {}
    # The embedded database explains less: it says only afterwards that a query writes, and its account can't.
    if str(plan.get("operatorType", "")).startswith("ArcadeDB"):
        check_dialect(text)
        return
    if explained.query_type not in ("r", None):
        raise RefusedQueryError("it would write, as the server says")
    known = {name.lower() for name in allowed}
    for name in _procedures(plan):
        if name.lower() not in known:
            raise RefusedQueryError(f"it calls the procedure {name}, which isn't among those that read the graph")
    try:
        refuse_outside(plan, allowed=known)
    except InputError as error:
        raise RefusedQueryError(error.what) from None


def _procedures(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of procedures, and of commands about the server, in a plan."""
    operator = str(plan.get("operatorType", "")).partition("@")[0]
    if operator.startswith(("Show", "Terminate")):
        yield operator
    if operator == "ProcedureCall":
        yield str((plan.get("args") or {}).get("Details", "")).partition("(")[0].replace("`", "")
    for child in plan.get("children") or ():
        yield from _procedures(child)
