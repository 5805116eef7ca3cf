"""Cypher that the embedded database takes otherwise than Neo4j, without an error: its rows would be wrong.

What came of such a query is unknown, like that of one that the database says it doesn't know. Found by comparing both
databases; ``tests/plugins/cypher/test_embedded_dialect.py`` holds the pairs, so a version that learns better is seen.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graphkit.plugins.cypher.cypher_parser import AGGREGATES, EXPRESSION_WORDS, LOCAL_FUNCTIONS, Token, tokens
from graphkit.plugins.cypher.cypher_text import CypherSyntaxError, all_clauses, parsed

#: How the embedded database begins the error of a query that is Cypher, and that it doesn't know.
_UNKNOWN_TO_IT = "FeatureNotImplemented: "

_REMEDY = "ask a Neo4j server"
_DYNAMIC = f"the embedded database ignores dynamic labels and types, $(...); {_REMEDY}"
_PREDICATES = frozenset({"and", "or", "xor", "not", "is", "in", "starts", "ends", "contains"})
_COMPARISONS = frozenset({"=", "<>", "<", ">", "<=", ">="})
_SUBQUERIES = frozenset({"exists", "count", "collect"})
_CLOSING = {")": "(", "]": "[", "}": "{"}


class UnsupportedQueryError(Exception):
    """A query whose rows the embedded database would get wrong; its text is the reason."""


def unsupported(error: str) -> str | None:
    """Return why a query is unsupported if the error of the database says that it is, else None."""
    if not error.startswith(_UNKNOWN_TO_IT):
        return None
    return f"the embedded database lacks it: {error.removeprefix(_UNKNOWN_TO_IT).rstrip('.')}; {_REMEDY}"


def check_dialect(text: str) -> None:
    """Refuse a query that the embedded database would take otherwise than Neo4j.

    These are dynamic labels and types, which it drops, and columns in which an aggregate stands in a predicate (``IS
    NULL``, ``AND``, ``IN``, ...), in a map projection, before the dot of a property, or beside a variable by which no
    column groups: there it doesn't aggregate, or takes any of several values.

    Raises
    ------
    UnsupportedQueryError
        It is such a query.
    """
    try:
        found = tokens(text)
        if any(_dynamic(one, after) for one, after in zip(found, found[1:], strict=False)):
            raise UnsupportedQueryError(_DYNAMIC)
        query = parsed(text)
    except CypherSyntaxError:
        return  # the database says whether it is valid, and the walk isn't known
    for clause in all_clauses(query.query):
        items = clause.projection.items if clause.projection is not None else ()
        grouped = {name for item in items if not item.expression.aggregates for name in item.expression.names}
        for item in items:
            if item.expression.aggregates and (where := _unaggregated(tokens(query.at(item.expression.span)), grouped)):
                raise UnsupportedQueryError(f"the embedded database doesn't aggregate {where}; {_REMEDY}")


def _dynamic(token: Token, after: Token) -> bool:
    """Return whether a dynamic label or type begins at a token: ``$(``, ``$any(`` or ``$all(``."""
    return after.text == "(" and (token.text == "$" or token.text.lower() in ("$any", "$all"))


def _unaggregated(found: Sequence[Token], grouped: Collection[str]) -> str | None:
    """Return where an aggregate of a column stands that isn't computed, in words; None if each is."""
    pairs = _pairs(found)
    position, local = 0, _local(found, pairs)
    while position < len(found):
        token, text = found[position], found[position].text
        opened = position + 1 in pairs
        subquery = token.word in _SUBQUERIES and opened and found[position + 1].text == "{"
        if subquery or (token.word in AGGREGATES and opened):
            position = pairs[position + 1]
        elif position in local:
            pass
        elif token.word in _PREDICATES or text in ("=~", "::"):
            return f"in a predicate ({text.upper()})"
        elif text == "." and found[position - 1].text in _CLOSING:
            return "before the dot of a property"
        elif text == "{":
            inner = found[position : pairs[position]]
            compared = any(one.text in _COMPARISONS for one in inner)
            projected = position and found[position - 1].kind in ("name", "quoted")
            called = (one.word for one, after in zip(inner, inner[1:], strict=False) if after.text == "(")
            if (compared or projected) and AGGREGATES.intersection(called):
                return "in a map projection" if projected else "in a comparison within a map"
        elif token.kind in ("name", "quoted") and _is_variable(found, position) and text.strip("`") not in grouped:
            return f"beside {text}, by which no column groups"
        position += 1
    return None


def _is_variable(found: Sequence[Token], position: int) -> bool:
    """Return whether a name is a variable: no word of Cypher, property, key of a map or function."""
    before = found[position - 1].text if position else ""
    after = [*(one.text for one in found[position + 1 : position + 4]), "", "", ""]
    called = after[0] == "(" or (after[0] == "." and after[2] in ("(", "."))
    return found[position].word not in EXPRESSION_WORDS and before not in (".", ":") and not called and after[0] != ":"


def _pairs(found: Sequence[Token]) -> dict[int, int]:
    """Return the place of each closing bracket by that of its opening one."""
    pairs, opened = {}, []
    for place, token in enumerate(found):
        if token.kind == "sign" and token.text in _CLOSING.values():
            opened.append(place)
        elif token.kind == "sign" and token.text in _CLOSING and opened:
            pairs[opened.pop()] = place
    return pairs


def _local(found: Sequence[Token], pairs: dict[int, int]) -> set[int]:
    """Return the places of ``x IN`` in comprehensions and functions of lists, and of what they ask of each x."""
    local: set[int] = set()
    for begin, close in pairs.items():
        listed = found[begin].text == "[" or (begin and found[begin - 1].word in LOCAL_FUNCTIONS)
        inner = [at for at in range(begin + 1, close) if not any(a < at < b for a, b in pairs.items() if a > begin)]
        names = [at for at in inner if found[at].word == "in" and found[at - 2].text in ("[", "(", ",")]
        if listed and names:
            local |= {begin + 1, names[0] - 1, names[0]}  # reduce has its total first
            rest = next((at for at in inner if found[at].word == "where" or found[at].text == "|"), close)
            local.update(range(rest, close))
    return local
