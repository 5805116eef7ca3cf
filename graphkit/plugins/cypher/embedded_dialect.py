"""Cypher that the embedded database takes otherwise than Neo4j, without an error: its rows would be wrong.

What came of a query that Neo4j answers is unknown then, like that of one that the database says it doesn't know; one
that Neo4j refuses isn't valid (``neo4j_rules.py``). Found by comparing both databases;
``tests/plugins/cypher/test_embedded_dialect.py`` holds the pairs, so a version that learns better is seen.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graphkit.plugins.cypher.cypher_parser import AGGREGATES, EXPRESSION_WORDS, LOCAL_FUNCTIONS, Token, tokens
from graphkit.plugins.cypher.cypher_text import CypherSyntaxError, ParsedQuery, Projection, all_clauses, parsed
from graphkit.plugins.cypher.neo4j_rules import InvalidQueryError, check_rules

#: How the embedded database begins the error of a query that is Cypher, and that it doesn't know.
_UNKNOWN_TO_IT = "FeatureNotImplemented: "
#: How it begins those of queries that Neo4j answers if a column has the aggregate or the property that they name again.
_AGGREGATING = ("InvalidAggregation: ", "AmbiguousAggregationExpression: ")

_REMEDY = "ask a Neo4j server"
_DYNAMIC = f"the embedded database ignores dynamic labels and types, $(...); {_REMEDY}"
_PREDICATES = frozenset({"and", "or", "xor", "not", "is", "in", "starts", "ends", "contains"})
_COMPARISONS = frozenset({"=", "<>", "<", ">", "<=", ">="})
_SUBQUERIES = frozenset({"exists", "count", "collect"})
_CLOSING = {")": "(", "]": "[", "}": "{"}


class UnsupportedQueryError(Exception):
    """A query whose rows the embedded database would get wrong; its text is the reason."""


def unsupported(error: str, text: str = "") -> str | None:
    """Return why a query is unsupported if the error of the database says that it is, else None."""
    if error.startswith(_UNKNOWN_TO_IT):
        return f"the embedded database lacks it: {error.removeprefix(_UNKNOWN_TO_IT).rstrip('.')}; {_REMEDY}"
    if error.startswith("RelationshipUniquenessViolation: "):
        return f"the embedded database takes no relationship twice in a pattern, where Neo4j finds nothing; {_REMEDY}"
    if error.startswith(_AGGREGATING):
        try:
            check_dialect(text)
            query = parsed(text)
        except UnsupportedQueryError as reason:
            return str(reason)
        except (InvalidQueryError, CypherSyntaxError):
            return None
        if error.startswith(_AGGREGATING[1]) or _repeats_aggregate(query):
            return f"the embedded database doesn't take an aggregate there, as Neo4j does; {_REMEDY}"
    return None


def check_dialect(text: str) -> None:
    """Refuse a query that the embedded database would take otherwise than Neo4j.

    These are dynamic labels and types, which it drops; columns in which an aggregate stands in a predicate (``IS
    NULL``, ``AND``, ``IN``, ...), in a map projection, or before the dot of a property, which it doesn't aggregate; a
    WHERE behind aggregates that asks for a property by which they are grouped, and what ``CALL { WITH * ...`` takes
    over, which are null there.

    Raises
    ------
    UnsupportedQueryError
        It is such a query.
    InvalidQueryError
        Neo4j refuses it.
    """
    try:
        found = tokens(text)
        if any(_dynamic(one, after) for one, after in zip(found, found[1:], strict=False)):
            raise UnsupportedQueryError(_DYNAMIC)
        query = parsed(text)
    except CypherSyntaxError:
        return  # the database says whether it is valid, and the walk isn't known
    check_rules(query)
    for clause in all_clauses(query.query):
        for first in (branch.clauses[0] for branch in clause.query.branches) if clause.query is not None else ():
            star = first.kind == "with" and first.projection is not None and first.projection.star_span is not None
            if star and clause.imports is None:
                raise UnsupportedQueryError(
                    f"the embedded database takes nothing over by WITH * in CALL {{}}; {_REMEDY}"
                )
        if clause.projection is None:
            continue
        grouped = _grouped(query, clause.projection)
        for item in clause.projection.items:
            if item.expression.aggregates and (where := _unaggregated(tokens(query.at(item.expression.span)), grouped)):
                raise UnsupportedQueryError(f"the embedded database doesn't aggregate {where}; {_REMEDY}")
        if clause.kind == "with" and clause.where is not None and not clause.where.expression.subpatterns:
            names = frozenset(item.name for item in clause.projection.items)
            collapsed = clause.projection.aggregates or clause.projection.distinct_span is not None
            asked = tokens(query.at(clause.where.expression.span))
            beside = _ungrouped(asked, names) if collapsed and clause.projection.star_span is None else None
            if beside is not None and _ungrouped(asked, names | grouped) is not None:
                raise InvalidQueryError(f"{beside} isn't known any more where this WITH filters its rows")
            if beside is not None and clause.projection.aggregates:
                raise UnsupportedQueryError(f"the embedded database forgets {beside} behind an aggregate; {_REMEDY}")


def _grouped(query: ParsedQuery, projection: Projection) -> frozenset[str]:
    """Return by what rows are grouped: the variables that are columns, and the texts of properties that are."""
    return frozenset(
        _joined(tokens(query.at(item.expression.span))) for item in projection.items if not item.expression.aggregates
    )


def _joined(found: Sequence[Token]) -> str:
    """Return tokens without blanks, backquotes and parentheses around them."""
    while len(found) > 2 and found[0].text == "(" and _pairs(found).get(0) == len(found) - 1:
        found = found[1:-1]
    return "".join(one.text.strip("`") for one in found)


def _repeats_aggregate(query: ParsedQuery) -> bool:
    """Return whether a WITH filters its rows by the aggregate of one of its columns, as in ``WHERE count(*) > 2``."""
    for clause in all_clauses(query.query):
        if clause.kind == "with" and clause.projection is not None and clause.where is not None:
            columns = [item.expression.span for item in clause.projection.items if item.expression.aggregates]
            asked = _joined(tokens(query.at(clause.where.expression.span)))
            if any(_joined(tokens(query.at(span))) in asked for span in columns):
                return True
    return False


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
        elif _is_variable(found, position) and not _in_group(found, position, grouped):
            raise InvalidQueryError(f"{text} stands beside an aggregate, and no column groups by it")
        position += 1
    return None


def _ungrouped(found: Sequence[Token], grouped: Collection[str]) -> str | None:
    """Return the first variable, with its property, that is neither a column nor grouped by."""
    pairs = _pairs(found)
    aside = _local(found, pairs)
    for begin, close in pairs.items():
        if begin and found[begin].text == "(" and found[begin - 1].word in AGGREGATES:
            aside.update(range(begin, close))
    for position in range(len(found)):
        if position not in aside and _is_variable(found, position) and not _in_group(found, position, grouped):
            dotted = found[position + 1 : position + 2] and found[position + 1].text == "."
            return _joined(found[position : position + (3 if dotted else 1)])
    return None


def _in_group(found: Sequence[Token], position: int, grouped: Collection[str]) -> bool:
    """Return whether rows are grouped by a variable, or by its property: ``a``, ``a.x`` or ``a['x']``."""
    return any(_joined(found[position : position + length]) in grouped for length in (1, 3, 4))


def _is_variable(found: Sequence[Token], position: int) -> bool:
    """Return whether a name is a variable: no word of Cypher, property, key of a map or function."""
    if found[position].kind not in ("name", "quoted"):
        return False
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
