"""Rules of Neo4j 5 that the embedded database doesn't hold queries to: those that it takes, and Neo4j refuses.

They are what language models get wrong: no RETURN, ``!=``, a text without its quotes, words of Cypher 4. Found by
asking both databases; ``tests/plugins/cypher/test_embedded_dialect.py`` holds the pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import chain

from graphkit.plugins.cypher.cypher_parser import Token, tokens
from graphkit.plugins.cypher.cypher_text import Clause, ParsedQuery, QueryTree, RelationshipPattern, all_clauses

#: What a query can't end with, by kind of clause.
_NO_END = {"match": "MATCH", "with": "WITH", "unwind": "UNWIND", "call query": "CALL {}"}
_TRUTHS = frozenset({"and", "or", "xor", "not", "where"})
_ENDS = frozenset({"and", "or", "xor", "return", "with", "match", "optional", "unwind", "call", "order", "union"})
_ONE_STEP = ("shortestpath", "allshortestpaths")


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
            if re.search(r"\s(LIMIT|SKIP|OFFSET)\s+\d+\s*\Z", item.name, re.IGNORECASE):
                yield "LIMIT stands before ORDER BY"
        skip, limit = projection.skip, projection.limit
        if clause.kind == "return" and skip is not None and limit is not None and limit.span < skip.span:
            yield "LIMIT stands before SKIP"


def _of_branches(query: ParsedQuery, tree: QueryTree, outer: Set[str]) -> Iterator[str]:
    """Yield branches that don't end with RETURN alone, and variables that aren't known where they stand.

    Those are of values of properties in patterns, where the embedded database takes them for null, and of the WITH that
    takes variables over into a ``CALL {}``.
    """
    for branch in tree.branches:
        *before, last = branch.clauses
        if any(clause.kind == "return" for clause in before):
            yield "RETURN stands before the end of the query"
        yields = last.kind == "call procedure" and last.projection is not None and bool(before)
        if last.kind in _NO_END or yields:
            yield f"a query can't end with {_NO_END.get(last.kind, 'CALL ... YIELD')}: it has no RETURN"
        known = {*outer}
        for clause in branch.clauses:
            known |= {name.text for path in clause.patterns for name in path.variables()}
            parts = (part for path in clause.patterns for part in path.elements())
            for value in (one.value for part in parts for one in part.properties):
                if not value.subpatterns and all(one.word != "in" for one in tokens(query.at(value.span))):
                    yield from (f"the variable {one} isn't defined" for one in value.names if one not in known)
            if clause.query is not None:
                yield from _of_branches(query, clause.query, known)
                if clause.imports is None:
                    yield from _taken_over(clause.query, known)
            known = _known_after(clause, known)


def _taken_over(tree: QueryTree, known: Set[str]) -> Iterator[str]:
    """Yield the expressions by which a ``CALL {}`` takes variables over, which it can do as they are alone."""
    for first in (branch.clauses[0] for branch in tree.branches):
        items = first.projection.items if first.kind == "with" and first.projection is not None else ()
        for item in items:
            if (item.variable is None or item.alias is not None) and not known.isdisjoint(item.expression.names):
                yield f"the first WITH of CALL {{}} takes variables over as they are, and {item.name} isn't one"


def _known_after(clause: Clause, known: set[str]) -> set[str]:
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
