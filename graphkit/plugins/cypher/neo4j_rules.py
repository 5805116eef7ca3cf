"""Rules of Neo4j 5 that the embedded database doesn't hold queries to: those that it takes, and Neo4j refuses.

They are what language models get wrong: no RETURN, ``!=``, a text without its quotes, words of Cypher 4. Found by
asking both databases; ``tests/plugins/cypher/test_embedded_dialect.py`` holds the pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from itertools import chain

from graphkit.plugins.cypher.cypher_parser import Token, literal_value, tokens
from graphkit.plugins.cypher.cypher_text import (
    Clause,
    Expression,
    ParsedQuery,
    PathPattern,
    QueryTree,
    RelationshipPattern,
    all_clauses,
    expressions_in,
    expressions_of,
)

#: What a query can't end with, by kind of clause.
_NO_END = {"match": "MATCH", "with": "WITH", "unwind": "UNWIND", "call query": "CALL {}"}
_TRUTHS = frozenset({"and", "or", "xor", "not", "where"})
_ENDS = frozenset({"and", "or", "xor", "return", "with", "match", "optional", "unwind", "call", "order", "union"})
_ONE_STEP = ("shortestpath", "allshortestpaths")
#: What is wrong with a regular expression for Python and Java alike, and what they read in two ways.
_BROKEN = re.compile(
    r"nothing to repeat|multiple repeat|missing \)|unbalanced paren|unterminated character set|min repeat|.*\(end of"
)
_TWO_WAYS = re.compile(r"\\Q|\[\[|--|&&|~~|\|\||[$^}]\)*[*+?{]|\\[bBAZz][*+?{]")


class InvalidQueryError(Exception):
    """A query that Neo4j refuses, and that the embedded database would take; its text is the reason."""


def check_rules(query: ParsedQuery) -> None:
    """Refuse a query that Neo4j 5 refuses, although the embedded database takes it.

    Raises
    ------
    InvalidQueryError
        It is such a query.
    """
    tree = _of_branches(query, query.query, frozenset())
    for reason in chain(_of_tokens(query), _of_patterns(query), _of_clauses(query), tree):
        raise InvalidQueryError(reason)


def _of_tokens(query: ParsedQuery) -> Iterator[str]:
    """Yield what is wrong by signs and words: operators, values that are no truth values, and functions of Cypher 4."""
    found = [*tokens(query.text), *[Token("end", "", len(query.text), len(query.text))] * 4]
    patterns = {path.span[0] for path in query.paths()}
    elements = {name.text for path in query.paths() for name in path.variables()}
    for token, after, inner, third in zip(found, found[1:], found[2:], found[3:], strict=False):
        if token.text == "!=":
            yield "!= is no operator of Cypher, which writes <>"
        if token.text == "=~" and after.kind == "text" and inner.text not in ("+", "||"):
            yield from _broken(after)
        ended = inner.kind == "end" or inner.text in (")", "]", "}", "|") or inner.word in _ENDS
        if token.word in _TRUTHS and after.kind in ("text", "number") and ended:
            yield f"{after.text} stands where a condition has to (behind {token.text})"
        if after.text != "(":
            continue
        if token.word == "exists" and inner.start not in patterns:
            yield "exists() takes a pattern alone; Cypher asks for a property by IS NOT NULL"
        if token.word == "size" and inner.start in patterns:
            yield "size() takes no pattern; Cypher counts by COUNT { }"
        measured = inner.kind == "text" or (inner.text.strip("`") in elements and third.text == ".")
        if token.word == "length" and measured:
            yield "length() takes a path; Cypher measures texts and lists by size()"


def _broken(pattern: Token) -> Iterator[str]:
    """Yield why a text is no regular expression."""
    value = literal_value([pattern])
    if value is None or not isinstance(value.value, str) or _TWO_WAYS.search(value.value):
        return
    try:
        re.compile(value.value)
    except re.error as error:
        if _BROKEN.match(error.msg):
            yield f"{pattern.text} is no regular expression: {error.msg}"
    except (OverflowError, RecursionError):
        pass


def _of_patterns(query: ParsedQuery) -> Iterator[str]:
    """Yield shortest paths of several steps, or none."""
    for path in query.paths():
        steps = sum(isinstance(part, RelationshipPattern) for part in path.parts)
        if (path.selector or "").lower() in _ONE_STEP and (steps != 1 or len(path.parts) != 3):
            yield f"{path.selector}() takes a pattern of one relationship"


def _of_clauses(query: ParsedQuery) -> Iterator[str]:
    """Yield columns without a name, or of one name, and a RETURN whose ends stand in another order."""
    for clause in all_clauses(query.query):
        if (projection := clause.projection) is None or clause.kind == "call procedure":
            continue
        names = [item.name for item in projection.items]
        if len({*names}) < len(names):
            yield f"two columns are called {next(one for one in names if names.count(one) > 1)}"
        for item in projection.items:
            bare = item.variable is not None or re.fullmatch(r"[(\s]*[^\W\d]\w*[)\s]*", item.name)
            if clause.kind == "with" and item.alias is None and not bare:
                yield f"{item.name} has no name (AS) in WITH"
            if item.alias is None and re.search(r"\s(LIMIT|SKIP|OFFSET)\s+\d+\s*\Z", item.name, re.IGNORECASE):
                yield "LIMIT stands before ORDER BY"
        skip, limit = projection.skip, projection.limit
        if clause.kind == "return" and skip is not None and limit is not None and limit.span < skip.span:
            yield "LIMIT stands before SKIP"


def _of_branches(query: ParsedQuery, tree: QueryTree, outer: Set[str]) -> Iterator[str]:
    """Yield branches that don't end with RETURN alone, and variables that aren't known where they stand.

    Those are of what the embedded database takes for null, and of what goes into a ``CALL {}`` and comes out of it.
    """
    for branch in tree.branches:
        *before, last = branch.clauses
        if any(clause.kind == "return" for clause in before):
            yield "RETURN stands before the end of the query"
        yields = last.kind == "call procedure" and last.projection is not None and bool(before)
        if last.kind in _NO_END or yields:
            yield f"a query can't end with {_NO_END.get(last.kind, 'CALL ... YIELD')}: it has no RETURN"
        known = outer
        for clause in branch.clauses:
            yield from _undefined(query, clause, known)
            if clause.kind == "call procedure" and len(branch.clauses) > 1 and "(" not in query.at(clause.span):
                yield f"CALL {clause.procedure} has no parentheses"
            if clause.query is not None:
                yield from _of_call(query, clause, clause.query, known)
            known = _known_after(clause, known)


def _of_call(query: ParsedQuery, call: Clause, tree: QueryTree, known: Set[str]) -> Iterator[str]:
    """Yield what is wrong in a ``CALL {}``, which knows what it takes over, and with what it gives back."""
    for branch in tree.branches:
        first, last = branch.clauses[0], branch.clauses[-1]
        taken = known if call.imports == ("*",) else known & {*(call.imports or ())}
        if call.imports is None and first.kind == "with" and first.projection is not None:
            taken = known
            yield from _taken_over(first, known)
        yield from _of_branches(query, QueryTree(branch.span, (branch,)), taken)
        for item in last.projection.items if last.kind == "return" and last.projection is not None else ():
            if item.alias is None and item.variable is None:
                yield f"{item.name} has no name (AS) in the RETURN of CALL {{}}"
            if item.name in known:
                yield f"CALL {{}} returns {item.name}, which is known outside"


def _taken_over(first: Clause, known: Set[str]) -> Iterator[str]:
    """Yield the expressions by which the WITH of a ``CALL {}`` takes variables over, which it can do as they are."""
    assert first.projection is not None
    items, words = first.projection.items, "the first WITH of CALL {} takes variables over as they are"
    if all(known.isdisjoint(item.expression.names) for item in items):
        return
    for item in items:
        if item.variable is None or item.name != item.variable:
            yield f"{words}, and {item.name} isn't one"
    shown = first.projection
    if first.where is not None or shown.order or shown.page_span is not None or shown.distinct_span is not None:
        yield f"{words}, without DISTINCT, ORDER BY, LIMIT and WHERE"


def _undefined(query: ParsedQuery, clause: Clause, known: Set[str]) -> Iterator[str]:
    """Yield the variables of a clause that aren't known there, and that the embedded database takes for null."""
    after = known | _known_after(clause, known)
    shown = [item.expression for item in clause.projection.items] if clause.projection is not None else ()
    values = [
        *(clause.expressions if clause.kind == "unwind" else ()),
        *(one for one in shown if _projects(query, one)),
    ]
    yield from _unknown(query, values, known)
    yield from _in_patterns(query, clause.patterns, expressions_of(clause), after)


def _in_patterns(
    query: ParsedQuery, paths: Iterable[PathPattern], expressions: Iterable[Expression], known: Set[str]
) -> Iterator[str]:
    """Yield the unknown variables in values of properties of patterns, of those within expressions too."""
    paths = [*paths]
    known = known | {name.text for path in paths for name in path.variables()}
    parts = (part for path in paths for part in path.elements())
    yield from _unknown(query, [one.value for part in parts for one in part.properties], known)
    for expression in expressions:
        for inner in expression.subpatterns:
            within = known | {*inner.local}
            if inner.path is not None:
                asked = [one for one in (inner.where, inner.value, *expressions_in(inner.path)) if one is not None]
                yield from _in_patterns(query, [inner.path], asked, within)
            for branch in inner.query.branches if inner.query is not None else ():
                there = within
                for clause in branch.clauses:
                    yield from _undefined(query, clause, there)
                    there = _known_after(clause, there)


def _unknown(query: ParsedQuery, values: Iterable[Expression], known: Set[str]) -> Iterator[str]:
    """Yield the unknown variables of expressions that declare none themselves."""
    for value in values:
        if not value.subpatterns and all(one.word != "in" for one in tokens(query.at(value.span))):
            yield from (f"the variable {one} isn't defined" for one in value.names if one not in known)


def _projects(query: ParsedQuery, expression: Expression) -> bool:
    """Return whether an expression is a map projection: ``n {.id, name}``."""
    found = tokens(query.at(expression.span))
    return len(found) > 1 and found[0].kind in ("name", "quoted") and found[1].text == "{"


def _known_after(clause: Clause, known: Set[str]) -> Set[str]:
    """Return the variables that are known behind a clause."""
    names = {item.name for item in clause.projection.items} if clause.projection is not None else set()
    if clause.kind == "with" and clause.projection is not None and clause.projection.star_span is None:
        return names
    if clause.query is not None:
        for branch in clause.query.branches:
            returned = branch.clauses[-1].projection
            names |= {item.name for item in returned.items} if returned is not None else set()
            if returned is not None and returned.star_span is not None:
                names |= {name for one in branch.clauses for name in _known_after(one, set())}
    return known | names | {name.text for path in clause.patterns for name in path.variables()} | _alias(clause)


def _alias(clause: Clause) -> set[str]:
    return {clause.alias.text} if clause.alias is not None else set()
