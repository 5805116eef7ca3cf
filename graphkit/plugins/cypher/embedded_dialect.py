"""Cypher that the embedded database takes otherwise than Neo4j, without an error: its rows would be wrong.

What came of a query that Neo4j answers is unknown then, like that of one that the database says it doesn't know; one
that Neo4j refuses isn't valid (``neo4j_rules.py``). Found by comparing both databases;
``tests/plugins/cypher/test_embedded_dialect.py`` holds the pairs, so a version that learns better is seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from graphkit.plugins.cypher.cypher_parser import AGGREGATES, EXPRESSION_WORDS, LOCAL_FUNCTIONS, Token, tokens
from graphkit.plugins.cypher.cypher_text import (
    NO_CLAUSE,
    CypherSyntaxError,
    ParsedQuery,
    Projection,
    all_clauses,
    expressions_of,
    parsed,
)
from graphkit.plugins.cypher.neo4j_rules import InvalidQueryError, check_rules

#: How the embedded database begins the error of a query that is Cypher, and that it doesn't know.
_UNKNOWN_TO_IT = "FeatureNotImplemented: "
#: How it begins those of queries that Neo4j answers if a column has the aggregate or the property that they name again.
_AGGREGATING = ("InvalidAggregation: ", "AmbiguousAggregationExpression: ")
#: How it begins those of others that Neo4j answers: columns of UNION in another order, a text in place of a list.
_UNDEFINED, _UNION = "UndefinedVariable: ", "DifferentColumnsInUnion: "
_LIST = "InvalidArgumentType: IN requires a list on the right side, got String"
_PATTERNS = "UnexpectedSyntax: Pattern expressions are not allowed in "

_REMEDY = "ask a Neo4j server"
_DYNAMIC = f"the embedded database ignores dynamic labels and types, $(...); {_REMEDY}"
_PREDICATES = frozenset({"and", "or", "xor", "not", "is", "in", "starts", "ends", "contains"})
_COMPARISONS = frozenset({"=", "<>", "<", ">", "<=", ">="})
_TESTS = frozenset({"and", "or", "xor", "not", "when", "where"})
_SUBQUERIES = frozenset({"exists", "count", "collect"})
_ASKS_FOR_NULL = re.compile(r"\bIS\s+NOT\s+NULL\b", re.IGNORECASE)
_CLOSING = {")": "(", "]": "[", "}": "{"}


class UnsupportedQueryError(Exception):
    """A query whose rows the embedded database would get wrong; its text is the reason."""


def unsupported(error: str, text: str = "") -> str | None:
    """Return why a query is unsupported if the error of the database says that it is, else None."""
    if error.startswith(_UNKNOWN_TO_IT):
        return f"the embedded database lacks it: {error.removeprefix(_UNKNOWN_TO_IT).rstrip('.')}; {_REMEDY}"
    if error.startswith("RelationshipUniquenessViolation: "):
        return f"the embedded database takes no relationship twice in a pattern, where Neo4j finds nothing; {_REMEDY}"
    if error.startswith(_LIST) and not re.search(r"\bIN\s*['\"]", text, re.IGNORECASE):
        return f"the embedded database takes no text behind IN; {_REMEDY}"
    if error.startswith((*_AGGREGATING, _UNDEFINED, _UNION, _PATTERNS)):
        try:
            check_dialect(text)
            query = parsed(text)
        except UnsupportedQueryError as reason:
            return str(reason)
        except (InvalidQueryError, CypherSyntaxError):
            return None
        if error.startswith(_UNION):
            last = [branch.clauses[-1].projection for branch in query.query.branches]
            names = {tuple(sorted(item.name for item in one.items)) for one in last if one is not None}
            same = len(names) == 1
            return f"the embedded database takes no other order of columns in UNION; {_REMEDY}" if same else None
        if error.startswith(_PATTERNS):
            tested = _tests_patterns(query)
            return f"the embedded database doesn't take a pattern in a column; {_REMEDY}" if tested else None
        if error.startswith(_AGGREGATING[1]) or _repeats_aggregate(query):
            return f"the embedded database doesn't take an aggregate there, as Neo4j does; {_REMEDY}"
    return None


def check_dialect(text: str) -> None:
    """Refuse a query that the embedded database would take otherwise than Neo4j.

    These are dynamic labels and types, which it drops; columns in which an aggregate stands in a predicate (``IS
    NULL``, ``AND``, ``IN``, ...), in a map projection, or before the dot of a property, which it doesn't aggregate; an
    ORDER BY of an aggregate in other words than those of a column; ``*`` beside other columns, which it drops; a WHERE
    behind aggregates that asks for a property by which they are grouped, and what ``CALL { WITH * ...`` takes over,
    which are null there; and patterns as values from what an OPTIONAL MATCH left null, which begin anywhere there.

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
    except CypherSyntaxError as error:
        if error.message.endswith(NO_CLAUSE):
            raise InvalidQueryError(error.message) from None
        return  # the database says whether it is valid, and the walk isn't known
    check_rules(query)
    _check_nulls(query)
    for clause in all_clauses(query.query):
        for first in (branch.clauses[0] for branch in clause.query.branches) if clause.query is not None else ():
            star = first.kind == "with" and first.projection is not None and first.projection.star_span is not None
            if star and clause.imports is None:
                raise UnsupportedQueryError(
                    f"the embedded database takes nothing over by WITH * in CALL {{}}; {_REMEDY}"
                )
        if clause.projection is None:
            continue
        beside = clause.projection.star_span is not None and clause.projection.items
        if beside and (clause.kind == "return" or clause.projection.aggregates):
            raise UnsupportedQueryError(f"the embedded database drops * beside other columns; {_REMEDY}")
        if clause.projection.aggregates:
            _check_order(query, clause.projection)
        grouped = _grouped(query, clause.projection)
        for item in clause.projection.items:
            if item.expression.aggregates and (where := _unaggregated(tokens(query.at(item.expression.span)), grouped)):
                raise UnsupportedQueryError(f"the embedded database doesn't aggregate {where}; {_REMEDY}")
        if clause.kind == "with" and clause.where is not None and not clause.where.expression.subpatterns:
            names = frozenset(item.name for item in clause.projection.items)
            collapsed = clause.projection.aggregates or clause.projection.distinct_span is not None
            asked = tokens(query.at(clause.where.expression.span))
            lost = _ungrouped(asked, names) if collapsed and clause.projection.star_span is None else None
            columns = [tokens(query.at(item.expression.span)) for item in clause.projection.items]
            if lost is not None and _ungrouped(asked, names | grouped, _repeated(asked, columns)) is not None:
                raise InvalidQueryError(f"{lost} isn't known any more where this WITH filters its rows")
            if lost is not None and clause.projection.aggregates:
                raise UnsupportedQueryError(f"the embedded database forgets {lost} behind an aggregate; {_REMEDY}")


def _check_nulls(query: ParsedQuery) -> None:
    """Refuse patterns as values from what an OPTIONAL MATCH may have left null, unless they ask for that first."""
    bound, perhaps = set[str](), set[str]()
    for clause in all_clauses(query.query):
        for item in clause.projection.items if clause.projection is not None else ():
            perhaps |= {item.name} if item.variable in perhaps else set()
        for expression in expressions_of(clause):
            for one in expression.subpatterns:
                if one.path is None or _ASKS_FOR_NULL.search(query.text, expression.span[0], one.span[0]):
                    continue
                for name in (name.text for name in one.path.variables()):
                    if name in perhaps and one.kind in ("predicate", "comprehension"):
                        where = f"from any node where {name} is null"
                        raise UnsupportedQueryError(f"the embedded database looks {where}; {_REMEDY}")
        new = {name.text for path in clause.patterns for name in path.variables()} - bound
        perhaps |= new if clause.optional else set()
        bound |= new


def _check_order(query: ParsedQuery, projection: Projection) -> None:
    """Refuse an ORDER BY that holds the aggregate of no column, or that of a column in other words than these."""
    columns = [query.at(item.expression.span) for item in projection.items]
    joined = {_joined(tokens(text)).lower() for text in columns}
    for sort in projection.order:
        text = query.at(sort.expression.span)
        found = tokens(text)
        if not sort.expression.aggregates or _joined(found) in {_joined(tokens(one)) for one in columns}:
            continue
        pairs = _pairs(found)
        calls = (at for at in pairs if at and found[at].text == "(" and found[at - 1].word in AGGREGATES)
        lacking = [at for at in calls if _joined(found[at - 1 : pairs[at] + 1]).lower() not in joined]
        if lacking and _joined(found).lower() not in joined:
            called = _joined(found[lacking[0] - 1 : pairs[lacking[0]] + 1])
            raise InvalidQueryError(f"ORDER BY asks for {called}, which is no column")
        raise UnsupportedQueryError(f"the embedded database doesn't order by {text}; {_REMEDY}")


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


def _tests_patterns(query: ParsedQuery) -> bool:
    """Return whether each pattern in a column is asked whether it is there, as Neo4j wants it."""
    found = tokens(query.text)
    shown = (clause.projection for clause in all_clauses(query.query) if clause.projection is not None)
    patterns = [
        inner.span
        for projection in shown
        for item in projection.items
        for inner in item.expression.subpatterns
        if inner.kind == "predicate"
    ]
    for begin, end in patterns:
        first = next(at for at, one in enumerate(found) if one.start >= begin)
        after = next((one for one in found if one.start >= end), found[first])
        called = found[first - 1].text == "(" and found[first - 2].word == "exists"
        if not (called or found[first - 1].word in _TESTS or after.word in _TESTS):
            return False
    return True


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
        elif _is_variable(found, position, pairs) and not _in_group(found, position, grouped):
            raise InvalidQueryError(f"{text} stands beside an aggregate, and no column groups by it")
        position += 1
    return None


def _repeated(found: Sequence[Token], columns: Iterable[Sequence[Token]]) -> set[int]:
    """Return the places at which the expressions of columns stand again."""
    texts = tuple(one.text for one in found)
    sought = {tuple(one.text for one in column) for column in columns}
    spans = ((at, at + length) for length in {*map(len, sought)} for at in range(len(texts)))
    return {place for at, end in spans if texts[at:end] in sought for place in range(at, end)}


def _ungrouped(found: Sequence[Token], grouped: Collection[str], repeated: Collection[int] = ()) -> str | None:
    """Return the first variable, with its property, that is neither a column nor grouped by, nor in a repeated one."""
    pairs = _pairs(found)
    aside = _local(found, pairs).union(repeated)
    for begin, close in pairs.items():
        if begin and found[begin].text == "(" and found[begin - 1].word in AGGREGATES:
            aside.update(range(begin, close))
    for position in range(len(found)):
        if position not in aside and _is_variable(found, position, pairs) and not _in_group(found, position, grouped):
            dotted = found[position + 1 : position + 2] and found[position + 1].text == "."
            return _joined(found[position : position + (3 if dotted else 1)])
    return None


def _in_group(found: Sequence[Token], position: int, grouped: Collection[str]) -> bool:
    """Return whether rows are grouped by a variable, or by its property: ``a``, ``a.x`` or ``a['x']``."""
    return any(_joined(found[position : position + length]) in grouped for length in (1, 3, 4))


def _is_variable(found: Sequence[Token], position: int, pairs: dict[int, int]) -> bool:
    """Return whether a name is a variable: no word of Cypher, property, key of a map or function."""
    if found[position].kind not in ("name", "quoted"):
        return False
    before = found[position - 1].text if position else ""
    if before == ":" and found[position - 3].text in ("{", ","):  # a key of a map stands before it, else a label does
        opened = max((at for at, close in pairs.items() if at < position < close), default=0)
        before = "" if found[opened].text == "{" else before
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
