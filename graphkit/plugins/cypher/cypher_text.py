"""The text of a query, and its parts: clauses, patterns, projections and predicates, each with its place in the text.

``cleaned`` takes off what a language model writes around a query, ``parsed`` reads it. Parts hold spans, offsets of
``ParsedQuery.text``, so that a query is changed by replacing spans and stays as its writer wrote it elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

Span = tuple[int, int]

#: How the message ends on a clause of a newer Cypher, such as LET.
NO_CLAUSE = "is no clause of Cypher 5"


class CypherSyntaxError(ValueError):
    """A text that isn't Cypher, or isn't any that graphkit reads.

    Attributes
    ----------
    message
        One sentence that says what was expected or is wrong.
    line, column
        The place, both from 1.
    """

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"{message} (line {line}, column {column})")
        self.message = message
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is meant, without backquotes, and its span with them."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A literal: its value and span."""

    value: str | int | float | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression: its span, and what in it matters to rows and walks.

    Attributes
    ----------
    span
        Its place.
    names
        The variables that it may refer to, in order; those that it declares itself are among them.
    aggregates
        Whether it aggregates rows, outside its subqueries.
    subpatterns
        The patterns in it, outermost ones only.
    """

    span: Span
    names: tuple[str, ...] = ()
    aggregates: bool = False
    subpatterns: tuple[Subpattern, ...] = ()


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a pattern, as in ``{id: 'a'}``. ``span`` covers the name and the value."""

    name: Name
    value: Expression
    literal: LiteralValue | None
    span: Span


@dataclass(frozen=True, slots=True)
class NodePattern:
    """A node of a pattern. ``labels_span`` begins at the colon or IS, ``properties_span`` at its brace or dollar."""

    span: Span
    variable: Name | None = None
    labels: tuple[Name, ...] = ()
    labels_span: Span | None = None
    properties: tuple[Property, ...] = ()
    properties_span: Span | None = None
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class Length:
    """The repetitions of a part of a pattern, as ``*1..3``, ``+`` or ``{1,3}``. ``most`` is None without a bound."""

    least: int
    most: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class RelationshipPattern:
    """A relationship of a pattern; ``direction`` is ``"->"``, ``"<-"`` or ``"--"`` (either).

    ``span`` covers arrow heads and a quantifier.
    """

    span: Span
    direction: Literal["->", "<-", "--"]
    variable: Name | None = None
    types: tuple[Name, ...] = ()
    types_span: Span | None = None
    length: Length | None = None
    properties: tuple[Property, ...] = ()
    properties_span: Span | None = None
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class GroupPattern:
    """A part of a pattern in parentheses, as ``((a)-[r]->(b)){1,3}``."""

    span: Span
    path: PathPattern
    where: Expression | None = None
    length: Length | None = None


PatternPart = NodePattern | RelationshipPattern | GroupPattern


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A path pattern: nodes and relationships in turn, perhaps groups.

    Attributes
    ----------
    span
        Its place, with its variable, selector or function.
    variable
        The variable of ``p = ...``.
    selector
        ``SHORTEST 2``, ``ANY``, ... as written; ``shortestPath`` or ``allShortestPaths`` for the functions.
    parts
        Its nodes, relationships and groups, in order.
    """

    span: Span
    parts: tuple[PatternPart, ...]
    variable: Name | None = None
    selector: str | None = None

    def elements(self) -> Iterator[NodePattern | RelationshipPattern]:
        """Yield the nodes and relationships, those of groups too, in order."""
        for part in self.parts:
            if isinstance(part, GroupPattern):
                yield from part.path.elements()
            else:
                yield part

    def variables(self) -> Iterator[Name]:
        """Yield the variables of the path, its nodes and its relationships, of inner paths too, in order."""
        if self.variable is not None:
            yield self.variable
        for part in self.parts:
            if isinstance(part, GroupPattern):
                yield from part.path.variables()
            elif part.variable is not None:
                yield part.variable


@dataclass(frozen=True, slots=True)
class Subpattern:
    """A pattern within an expression.

    Attributes
    ----------
    kind
        ``"exists"``, ``"count"`` or ``"collect"`` before braces, ``"comprehension"``, ``"predicate"`` (the pattern
        alone), or ``"shortest"``, a function of shortest paths as a value.
    span
        Its place.
    local
        The variables of list comprehensions, ``any()``, ``reduce()`` and the like around it.
    query
        What stands in braces.
    path, where, value
        The pattern, and of a comprehension its predicate and its value.
    """

    kind: Literal["exists", "count", "collect", "comprehension", "predicate", "shortest"]
    span: Span
    local: tuple[str, ...] = ()
    query: QueryTree | None = None
    path: PathPattern | None = None
    where: Expression | None = None
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Predicate:
    """A part of a WHERE: one of the terms that AND joins. ``negated`` tells a NOT before it."""

    expression: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """A WHERE: its span with the word, its expression and the terms that AND joins."""

    span: Span
    expression: Expression
    terms: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A column of a projection. ``name`` is its name; ``span`` covers the expression and the alias."""

    span: Span
    expression: Expression
    name: str
    alias: Name | None = None
    #: The variable that the expression is, if it is nothing else.
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Sort:
    """A term of an ORDER BY. ``span`` covers the direction."""

    span: Span
    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class Projection:
    """The columns and clauses of a WITH or RETURN.

    Attributes
    ----------
    distinct_span
        The place of DISTINCT; None without it.
    star_span
        The place of ``*``; None without it.
    items
        The columns.
    body_span
        From ``*`` or the first column to the last.
    order, order_span
        The terms of ORDER BY, and its place with these words.
    page_span
        The place of SKIP and LIMIT with these words.
    skip, limit
        Their expressions.
    """

    items: tuple[Item, ...]
    body_span: Span
    distinct_span: Span | None = None
    star_span: Span | None = None
    order: tuple[Sort, ...] = ()
    order_span: Span | None = None
    page_span: Span | None = None
    skip: Expression | None = None
    limit: Expression | None = None

    @property
    def aggregates(self) -> bool:
        """Whether a column aggregates rows."""
        return any(item.expression.aggregates for item in self.items)


ClauseKind = Literal[
    "match", "with", "return", "unwind", "call query", "call procedure", "use", "write", "load", "finish"
]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a query.

    Attributes
    ----------
    kind
        What it does; ``"write"`` is each clause that changes the graph.
    span
        Its place.
    optional
        OPTIONAL MATCH or OPTIONAL CALL.
    patterns
        Of MATCH, the path patterns.
    hints_span
        Of MATCH, the place of USING and SEARCH.
    where
        Of MATCH, WITH and YIELD.
    projection
        Of WITH and RETURN; of a procedure, what YIELD names.
    expressions
        Of UNWIND the list, of a procedure its arguments.
    alias
        The variable of UNWIND.
    query
        Of CALL {}, what stands in braces.
    imports
        Of ``CALL (a, b) {``, these variables; ``("*",)`` for all, None for the form without parentheses.
    transactions
        Of CALL {}, whether IN TRANSACTIONS follows.
    bare
        Of a pattern in the braces of EXISTS or COUNT, that the word MATCH isn't there.
    procedure
        The name of a procedure, in lower case.
    """

    kind: ClauseKind
    span: Span
    optional: bool = False
    patterns: tuple[PathPattern, ...] = ()
    hints_span: Span | None = None
    where: Where | None = None
    projection: Projection | None = None
    expressions: tuple[Expression, ...] = ()
    alias: Name | None = None
    query: QueryTree | None = None
    imports: tuple[str, ...] | None = None
    transactions: bool = False
    bare: bool = False
    procedure: str | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """Clauses between UNIONs."""

    span: Span
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class QueryTree:
    """A query or subquery: its branches, and whether UNION joins them so that equal rows stay (``UNION ALL``)."""

    span: Span
    branches: tuple[Branch, ...]
    union_all: bool = False


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query that was read.

    Attributes
    ----------
    text
        What the spans refer to: the text given, with escapes outside texts (``\\u0041``) replaced.
    query
        Its parts.
    mode
        ``"explain"`` or ``"profile"`` if it begins so.
    options_span
        The place of options before the query, such as ``CYPHER 5``.
    words
        Every name in the text, in lower case: a new name is none of them.
    """

    text: str
    query: QueryTree
    mode: Literal["explain", "profile"] | None = None
    options_span: Span | None = None
    words: frozenset[str] = field(default_factory=frozenset)

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses of all branches, outermost only."""
        return tuple(clause for branch in self.query.branches for clause in branch.clauses)

    @property
    def ordered(self) -> bool:
        """Whether the result has an order: the last projection has an ORDER BY."""
        if len(self.query.branches) != 1:
            return False
        last = self.query.branches[0].clauses[-1] if self.query.branches[0].clauses else None
        return (
            last is not None and last.kind == "return" and last.projection is not None and bool(last.projection.order)
        )

    @property
    def writes(self) -> bool:
        """Whether a clause changes the graph, in subqueries too."""
        return any(clause.kind == "write" for clause in all_clauses(self.query))

    def paths(self) -> Iterator[PathPattern]:
        """Yield every path pattern, of subqueries and expressions too."""
        for clause in all_clauses(self.query):
            yield from clause.patterns
            for subpattern in _subpatterns(clause):
                if subpattern.path is not None:
                    yield subpattern.path

    def wheres(self) -> Iterator[Where]:
        """Yield every WHERE of a clause, of subqueries too."""
        for clause in all_clauses(self.query):
            if clause.where is not None:
                yield clause.where

    def at(self, span: Span) -> str:
        """Return the text at a span."""
        return self.text[span[0] : span[1]]

    def replaced(self, *changes: tuple[Span, str]) -> str:
        """Return the text with spans replaced, which must not overlap; an empty span inserts."""
        return spliced(self.text, changes)


def spliced(text: str, changes: Iterable[tuple[Span, str]], within: Span | None = None) -> str:
    """Return a text, or its part ``within``, with spans replaced, which must not overlap."""
    start, end = within or (0, len(text))
    done = []
    for (begin, stop), new in sorted(changes, key=lambda change: change[0]):
        if begin < start or stop > end:
            raise ValueError(f"the change at {begin}:{stop} lies outside {start}:{end} or overlaps another")
        done += [text[start:begin], new]
        start = stop
    return "".join([*done, text[start:end]])


def all_clauses(query: QueryTree) -> Iterator[Clause]:
    """Yield the clauses of a query and of all its subqueries, those in expressions too."""
    for branch in query.branches:
        for clause in branch.clauses:
            yield clause
            if clause.query is not None:
                yield from all_clauses(clause.query)
            for subpattern in _subpatterns(clause):
                if subpattern.query is not None:
                    yield from all_clauses(subpattern.query)


def expressions_of(clause: Clause) -> Iterator[Expression]:
    """Yield the expressions of a clause, without those of its subqueries."""
    yield from clause.expressions
    for path in clause.patterns:
        yield from expressions_in(path)
    if clause.where is not None:
        yield clause.where.expression
    if (projection := clause.projection) is not None:
        yield from (item.expression for item in projection.items)
        yield from (sort.expression for sort in projection.order)
        yield from (one for one in (projection.skip, projection.limit) if one is not None)


def expressions_in(path: PathPattern) -> Iterator[Expression]:
    """Yield the expressions within a path pattern: values of properties and inner WHEREs."""
    for part in path.parts:
        if part.where is not None:
            yield part.where
        if isinstance(part, GroupPattern):
            yield from expressions_in(part.path)
        else:
            yield from (one.value for one in part.properties)


def _subpatterns(clause: Clause) -> Iterator[Subpattern]:
    """Yield the patterns in expressions of a clause, and those within these."""
    todo = list(expressions_of(clause))
    while todo:
        for subpattern in todo.pop(0).subpatterns:
            yield subpattern
            todo += [one for one in (subpattern.where, subpattern.value) if one is not None]
            if subpattern.path is not None:
                todo += expressions_in(subpattern.path)


_FENCE = re.compile(r"```[ \t]*(\w*)[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_LABEL = re.compile(r"\A\s*(?:(?:cypher|query)\s*(?:query\s*)?:\s*|cypher[ \t]*\r?\n)", re.IGNORECASE)


def cleaned(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a query without what language models write around it, and what was taken off, in words.

    A code fence and all outside it, a line or prefix ``cypher``, semicolons and blanks at the end.

    >>> cleaned("Here it is:\\n```cypher\\nMATCH (n) RETURN n;\\n```")
    ('MATCH (n) RETURN n', ('text around a code fence', 'a code fence', 'a semicolon at the end'))
    """
    taken = []
    if (fence := _FENCE.search(text)) is not None:
        if text[: fence.start()].strip() or text[fence.end() :].strip():
            taken.append("text around a code fence")
        taken.append("a code fence")
        word, inner = fence.group(1), fence.group(2)
        known = word.lower() in {"", "cypher", "sql", "opencypher", "neo4j", "gql", "text", "plaintext"}
        text = inner if known else f"{word} {inner}"
    if (label := _LABEL.match(text)) is not None:
        taken.append("the word cypher before it")
        text = text[label.end() :]
    without = text.strip().rstrip("; \t\r\n")
    if ";" in text.strip()[len(without) :]:
        taken.append("a semicolon at the end")
    return without, tuple(taken)


def parsed(text: str) -> ParsedQuery:
    """Read a query.

    Raises
    ------
    CypherSyntaxError
        It isn't Cypher, or uses what graphkit doesn't read.
    """
    from graphkit.plugins.cypher.cypher_parser import parse

    return parse(text)
