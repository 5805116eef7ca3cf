"""The provenance of a query: the nodes and relationships that its patterns bind in the rows that reach the result.

A query is traced by another query, which returns the same rows with one more column. Each path pattern gets a name; its
path travels along through WITH and CALL {}, and where rows are grouped, by aggregates or DISTINCT, it is collected.
Thus WHERE, SKIP, LIMIT and the rows of an OPTIONAL MATCH decide about provenance exactly as about the result.

Patterns in expressions (``EXISTS {}``, ``COUNT {}``, ``COLLECT {}``, comprehensions, patterns as predicates, functions
of shortest paths) bind too: all that they match for a row that reaches the result. Where such a pattern must not match,
as after NOT, it has nothing to add. Procedures of vector and full-text indexes bind what they find.

Precision is that of rows: a row that DISTINCT, an aggregate or UNION makes of several holds what these bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from graphkit.database.values import Row, Subgraph
from graphkit.plugins.cypher.cypher_parser import quoted
from graphkit.plugins.cypher.cypher_text import (
    Branch,
    Clause,
    Expression,
    GroupPattern,
    ParsedQuery,
    PathPattern,
    Projection,
    QueryTree,
    Span,
    Subpattern,
    expressions_in,
    spliced,
)


class Untraceable(Exception):  # noqa: N818  # an outcome, not a failure
    """A query whose provenance can't be found by a query; ``reason`` says why, as the end of a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class BoundElements:
    """The nodes and edges that patterns bind.

    Attributes
    ----------
    nodes
        The properties of each node, and its ``_labels``, by the id that the database gives it.
    edges
        The ids of the start and the end of each relationship, its properties and its ``_type``, by its id.
    """

    nodes: Mapping[str, Row]
    edges: Mapping[str, tuple[str, str, Row]]


#: What begins a walk: the names that YIELD gives to a node or a relationship, by the end of the procedure's name.
_SEARCHES = {
    "db.index.vector.querynodes": "node",
    "db.index.fulltext.querynodes": "node",
    "db.index.vector.queryrelationships": "relationship",
    "db.index.fulltext.queryrelationships": "relationship",
}
#: Procedures that yield names, numbers and texts: no node, no relationship.
_PLAIN = re.compile(
    r"(?:db\.(?:labels|relationshiptypes|propertykeys|info|ping|indexes|constraints|schema\.nodetypeproperties"
    r"|schema\.reltypeproperties|index\.fulltext\.listavailableanalyzers)|dbms\.\w+(?:\.\w+)*)\Z"
)


@dataclass(frozen=True, slots=True)
class TracedQuery:
    """A query that returns the rows of another one, and what patterns bind for each.

    Attributes
    ----------
    text
        The query to run, with the parameters of the original.
    columns
        The names of the original columns, in the order of ``text``.
    traced
        Whether the last column is provenance; without it no pattern binds anything.
    distinct
        Whether equal rows have to be made one, as UNION does.
    """

    text: str
    columns: tuple[str, ...]
    traced: bool = True
    distinct: bool = False

    def collect(self, rows: Iterable[Sequence[object]]) -> BoundElements:
        """Return what patterns bind in rows of ``text``, as values of the driver."""
        subgraph = Subgraph()
        if self.traced:
            for row in rows:
                subgraph.add(row[-1])
        return BoundElements(subgraph.nodes, subgraph.relationships)

    def results(self, rows: Iterable[Sequence[object]]) -> list[list[object]]:
        """Return the rows of the original query from those of ``text``."""
        found, seen = [], set()
        for row in rows:
            result = list(row[:-1] if self.traced else row)
            if self.distinct:
                key = _hashable(result)
                if key in seen:
                    continue
                seen.add(key)
            found.append(result)
        return found


def _hashable(value: object) -> object:
    """Return a value that is equal to another one if Cypher's values are: unlike Python's, 1 isn't true."""
    if isinstance(value, list):
        return tuple(_hashable(item) for item in value)
    if isinstance(value, dict):
        return frozenset((key, _hashable(item)) for key, item in value.items())
    return (bool, value) if isinstance(value, bool) else value


def traced(query: ParsedQuery) -> TracedQuery:
    """Return the query that shows what the patterns of another one bind. It runs on each database that graphkit knows.

    Raises
    ------
    Untraceable
        The query writes, or it binds in a way that can't be returned along with its rows.
    """
    if query.writes:
        raise Untraceable("it would write")
    if query.mode == "explain":
        raise Untraceable("EXPLAIN runs nothing")
    if alone := _alone(query):
        return alone
    tracer = _Tracer(query)
    alias = tracer.fresh()
    text, columns = tracer.query(query.query, _Bindings(), "result", alias)
    options = f"{query.at(query.options_span)} " if query.options_span is not None else ""
    several = len(query.query.branches) > 1
    return TracedQuery(options + text, columns, distinct=several and not query.query.union_all)


def _alone(query: ParsedQuery) -> TracedQuery | None:
    """Trace a procedure that is the whole query, without YIELD; None if the query is anything else."""
    (clause, *others) = query.clauses
    if others or clause.kind != "call procedure" or clause.projection is not None:
        return None
    procedure = str(clause.procedure)
    if procedure in _SEARCHES:
        name = _SEARCHES[procedure]
        value = "node" if name == "node" else "[startNode(relationship), relationship, endNode(relationship)]"
        other = _Tracer(query).fresh()
        text = f"{query.at(clause.span)} YIELD {name}, score RETURN {name}, score, [{value}] AS {other}"
        return TracedQuery(text, (name, "score"))
    _refuse_unknown(procedure)
    return TracedQuery(query.text, (), traced=False)


def _refuse_unknown(procedure: str) -> None:
    if procedure not in _SEARCHES and not _PLAIN.match(procedure):
        raise Untraceable(f"the procedure {procedure} may bind nodes that no pattern names")


@dataclass(slots=True)
class _Bindings:
    """The variables that a clause can use, and the expressions that hold what was bound so far."""

    variables: dict[str, None] = field(default_factory=dict)
    carried: list[str] = field(default_factory=list)
    #: Expressions over the variables that find what patterns in expressions bind.
    witnesses: list[str] = field(default_factory=list)
    imported: frozenset[str] = frozenset()
    #: Whether there are variables that aren't known, so that ``*`` can't be written out.
    unknown: bool = False

    def add(self, names: Iterable[str]) -> None:
        self.variables.update(dict.fromkeys(names))


Use = Literal["result", "call", "witness"]


class _Tracer:
    """Writes the query that traces. Texts of clauses are kept but for what is inserted at spans."""

    def __init__(self, query: ParsedQuery) -> None:
        self.source = query
        self.prefix = "gk_"
        while any(word.startswith(self.prefix) for word in query.words):
            self.prefix += "_"
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count}"

    def at(self, span: Span) -> str:
        """Return the text at a span. It ends with a token, so that no comment swallows what follows."""
        return self.source.at(span)

    # Queries

    def query(self, query: QueryTree, scope: _Bindings, use: Use, alias: str) -> tuple[str, tuple[str, ...]]:
        """Write a query; its last column is what is bound, under ``alias`` (the only one if it is a witness)."""
        texts: list[str] = []
        columns: tuple[str, ...] = ()
        for branch in query.branches:
            own = _Bindings(dict(scope.variables), [], [], frozenset(scope.variables), scope.unknown)
            text, columns = self.branch(branch, own, use, alias)
            texts.append(text)
        return " UNION ALL ".join(texts), columns

    def branch(self, branch: Branch, scope: _Bindings, use: Use, alias: str) -> tuple[str, tuple[str, ...]]:
        texts: list[str] = []
        for index, clause in enumerate(branch.clauses):
            if clause.kind == "return":
                text, columns = self.returning(clause, scope, use, alias)
                return " ".join([*texts, text]), columns
            if clause.kind == "with" and index == 0 and use == "call" and _imports(clause):
                texts.append(self.at(clause.span))
                continue
            texts.append(self.clause(clause, scope))
        if use != "witness":
            raise Untraceable("it returns no rows")
        before, bundle = self.bundle(scope)
        return " ".join([*texts, f"{before}RETURN {bundle} AS {alias}"]), ()

    def clause(self, clause: Clause, scope: _Bindings) -> str:
        if clause.kind == "match":
            return self.match(clause, scope)
        if clause.kind == "with":
            return self.passing(clause, scope)
        if clause.kind == "unwind":
            self.look(clause.expressions, scope)
            if clause.alias is not None:
                scope.add([clause.alias.text])
            return self.at(clause.span)
        if clause.kind == "call query":
            return self.calling(clause, scope)
        if clause.kind == "call procedure":
            return self.procedure(clause, scope)
        if clause.kind == "use":
            return self.at(clause.span)
        reasons = {"load": "LOAD CSV reads a file", "finish": "FINISH returns no rows", "write": "it would write"}
        raise Untraceable(reasons[clause.kind])

    # Patterns

    def match(self, clause: Clause, scope: _Bindings) -> str:
        changes: list[tuple[Span, str]] = []
        found = []
        old = all(
            len(path.parts) == 1 and {one.text for one in path.variables()} & scope.variables.keys()
            for path in clause.patterns
        )
        for path in clause.patterns:
            if path.variable is None:
                name = self.fresh()
                changes.append(((path.span[0], path.span[0]), f"{name} = "))
            else:
                name = quoted(path.variable.text)
            found.append(name)
            scope.add(variable.text for variable in path.variables())
        if clause.hints_span is not None and self.at(clause.hints_span).lower().startswith("search"):
            found_by = re.findall(r"\bSCORE\s+AS\s+(\w+)", self.at(clause.hints_span), re.IGNORECASE)
            scope.add(found_by)
        scope.carried += found
        inner = [one for path in clause.patterns for one in self.inner(path)]
        where = [] if clause.where is None else [clause.where.expression]
        witnesses = self.witnesses([*inner, *where], scope)
        if clause.optional and witnesses:
            # Of a node that was bound before, Neo4j gives a path although the OPTIONAL MATCH found nothing.
            again = f"EXISTS {{ MATCH {self.patterns(clause)} }}" if old else f"{found[0]} IS NOT NULL"
            witnesses = [f"CASE WHEN {again} THEN {_list(witnesses)} ELSE [] END"]
        scope.witnesses += witnesses
        return ("MATCH " if clause.bare else "") + spliced(self.source.text, changes, clause.span)

    def patterns(self, clause: Clause) -> str:
        """The text of a MATCH without this word."""
        return self.source.at((clause.patterns[0].span[0], clause.span[1]))

    def inner(self, path: PathPattern) -> list[Expression]:
        """The expressions in a pattern, if none that holds a pattern stands where it is evaluated for each step."""
        for part in path.parts:
            stepwise = isinstance(part, GroupPattern) or getattr(part, "length", None) is not None
            part_path = part.path if isinstance(part, GroupPattern) else PathPattern(part.span, (part,))
            expressions = list(expressions_in(part_path))
            if isinstance(part, GroupPattern) and part.where is not None:
                expressions.append(part.where)
            if stepwise and any(one.subpatterns for one in expressions):
                raise Untraceable("a repeated part of a pattern holds a pattern in its predicate")
        return list(expressions_in(path))

    def look(self, expressions: Iterable[Expression], scope: _Bindings) -> None:
        """Note what patterns in expressions bind."""
        scope.witnesses += self.witnesses(expressions, scope)

    def witnesses(self, expressions: Iterable[Expression], scope: _Bindings) -> list[str]:
        return [self.witness(one, scope) for expression in expressions for one in expression.subpatterns]

    def witness(self, subpattern: Subpattern, scope: _Bindings) -> str:
        """Write the expression that finds what a pattern in an expression binds."""
        if set(subpattern.local) & set(re.findall(r"\w+", self.at(subpattern.span))):
            raise Untraceable("a pattern depends on a variable of a list")
        if subpattern.query is not None:
            text, _ = self.query(subpattern.query, scope, "witness", self.fresh())
            return f"COLLECT {{ {text} }}"
        if subpattern.path is None or subpattern.kind == "shortest":
            return self.at(subpattern.span)
        path = subpattern.path
        own = _Bindings(dict(scope.variables))
        own.add(variable.text for variable in path.variables())
        name = self.fresh() if path.variable is None else quoted(path.variable.text)
        start = f"{name} = " if path.variable is None else ""
        nested = self.witnesses(
            [*self.inner(path), *(one for one in (subpattern.where, subpattern.value) if one is not None)], own
        )
        if any(isinstance(part, GroupPattern) for part in path.parts) or path.selector is not None:
            return f"COLLECT {{ MATCH {start}{self.at(path.span)} RETURN {name} }}"
        where = "" if subpattern.where is None else f" WHERE {self.at(subpattern.where.span)}"
        return f"[{start}{self.at(path.span)}{where} | {_list([name, *nested])}]"

    # Projections

    def bundle(self, scope: _Bindings) -> tuple[str, str]:
        """Return what has to stand before a projection, and the expression that holds what was bound.

        UNWIND of a list of one adds a variable to each row: ArcadeDB allows no pattern in WITH and RETURN, however
        deep, and Cypher none beside an aggregate.
        """
        if not scope.witnesses:
            return "", _list(scope.carried)
        own = self.fresh()
        return f"UNWIND [{_list(scope.witnesses)}] AS {own} ", _list([*scope.carried, own])

    def passing(self, clause: Clause, scope: _Bindings) -> str:
        """Write a WITH; afterwards one variable holds all that was bound."""
        projection = _projection(clause)
        alias = self.fresh()
        before, items, columns = self.project(projection, scope, alias)
        where = ""
        scope.variables, scope.carried, scope.witnesses = dict.fromkeys(columns), [alias], []
        scope.unknown = False
        if clause.where is not None:
            self.look([clause.where.expression], scope)
            where = f" {self.at(clause.where.span)}"
        return f"{before}WITH {items}{self.tail(projection)}{where}"

    def returning(self, clause: Clause, scope: _Bindings, use: Use, alias: str) -> tuple[str, tuple[str, ...]]:
        projection = _projection(clause)
        if use == "witness":
            return self.witnessing(projection, scope, alias), ()
        before, items, columns = self.project(projection, scope, alias, returns=True)
        return f"{before}RETURN {items}{self.tail(projection)}", columns

    def witnessing(self, projection: Projection, scope: _Bindings, alias: str) -> str:
        """Write the RETURN of a subquery so that it returns nothing but what is bound: by rows, however it groups them.

        Neo4j allows no aggregate in the subqueries that ``bundle`` puts into a list.
        """
        if not (projection.order or projection.page_span):
            self.look([item.expression for item in projection.items], scope)
            before, bundle = self.bundle(scope)
            return f"{before}RETURN {bundle} AS {alias}"
        before, items, _ = self.project(projection, scope, alias, names=True)
        return f"{before}WITH {items}{self.tail(projection)} RETURN {alias}"

    def project(
        self, projection: Projection, scope: _Bindings, alias: str, *, names: bool = False, returns: bool = False
    ) -> tuple[str, str, tuple[str, ...]]:
        """Write what a WITH or RETURN names.

        Returns what has to stand before it, the columns with that of what is bound, and the names of the former.
        ``names`` gives each column an alias, as WITH requires.
        """
        texts: list[str] = []
        columns: list[str] = []
        if projection.star_span is not None:
            if scope.unknown:
                raise Untraceable("'*' stands for variables that graphkit doesn't know")
            columns += [name for name in scope.variables if not (returns and name in scope.imported)]
            texts += map(quoted, columns)
        for item in projection.items:
            unnamed = names and item.alias is None and item.variable is None
            texts.append(self.at(item.span) + (f" AS {self.fresh()}" if unnamed else ""))
            columns.append(item.name)
        self.look([item.expression for item in projection.items], scope)
        self.look_at_order(projection, scope)
        before, bundle = self.bundle(scope)
        if _groups(projection):
            bundle = f"collect({bundle})"
        return before, ", ".join([*texts, f"{bundle} AS {alias}"]), tuple(columns)

    def look_at_order(self, projection: Projection, scope: _Bindings) -> None:
        expressions = [sort.expression for sort in projection.order]
        if not any(one.subpatterns for one in expressions):
            return
        new = {item.name for item in projection.items if item.variable is None or item.alias is not None}
        names = {name for one in expressions for name in one.names}
        if _groups(projection) or names & new:
            raise Untraceable("a pattern in ORDER BY depends on columns of the result")
        self.look(expressions, scope)

    def tail(self, projection: Projection) -> str:
        """The text of ORDER BY, SKIP and LIMIT."""
        spans = [span for span in (projection.order_span, projection.page_span) if span is not None]
        return "".join(f" {self.at(span)}" for span in spans)

    # Calls

    def calling(self, clause: Clause, scope: _Bindings) -> str:
        if clause.query is None or clause.transactions:
            raise Untraceable("CALL {} IN TRANSACTIONS can't be part of a read-only query")
        query, alias = clause.query, self.fresh()
        head, own = self.imported(clause, scope)
        word = "OPTIONAL CALL" if clause.optional else "CALL"
        parentheses = "" if clause.imports is None else f"({head}) "
        if len(query.branches) > 1 and not query.union_all:
            inner = self.fresh()
            text, columns = self.query(query, own, "call", inner)
            outer = f"WITH {head} " if clause.imports is None and head else ""
            names = "".join(f"{quoted(one)}, " for one in columns)
            text = f"{outer}CALL {parentheses}{{ {text} }} RETURN {names}collect({inner}) AS {alias}"
        else:
            text, columns = self.query(query, own, "call", alias)
        scope.add(columns)
        scope.carried.append(alias)
        return f"{word} {parentheses}{{ {text} }}"

    def imported(self, clause: Clause, scope: _Bindings) -> tuple[str, _Bindings]:
        """Return the names that a subquery imports, as text, and its scope."""
        if clause.imports is not None:
            if clause.imports == ("*",):
                return "*", _Bindings(dict(scope.variables), unknown=scope.unknown)
            return ", ".join(map(quoted, clause.imports)), _Bindings(dict.fromkeys(clause.imports))
        own, texts = _Bindings(), {}
        for branch in clause.query.branches if clause.query is not None else ():
            first = branch.clauses[0]
            if first.kind == "with" and _imports(first):
                projection = _projection(first)
                if projection.star_span is not None:
                    return "*", _Bindings(dict(scope.variables), unknown=scope.unknown)
                texts.update(dict.fromkeys(item.name for item in projection.items))
        own.add(texts)
        return ", ".join(map(quoted, texts)), own

    def procedure(self, clause: Clause, scope: _Bindings) -> str:
        procedure = str(clause.procedure)
        _refuse_unknown(procedure)
        self.look(clause.expressions, scope)
        if clause.projection is None:
            raise Untraceable("a procedure without YIELD stands among other clauses")
        if clause.projection.star_span is not None:
            scope.unknown = True
        scope.add(item.name for item in clause.projection.items)
        text = self.at(clause.span)
        if procedure in _SEARCHES:
            text = self.search(clause, clause.projection, _SEARCHES[procedure], scope)
        if clause.where is not None:
            self.look([clause.where.expression], scope)
        return text

    def search(self, clause: Clause, projection: Projection, yields: str, scope: _Bindings) -> str:
        """Write the search of an index; what it finds is bound, whether YIELD names it or not."""
        named = next((one for one in projection.items if self.at(one.expression.span).strip() == yields), None)
        text = self.at(clause.span)
        if named is not None or projection.star_span is not None:
            name = yields if named is None else quoted(named.name)
        else:
            name = self.fresh()
            start = projection.body_span[0]
            text = spliced(self.source.text, [((start, start), f"{yields} AS {name}, ")], clause.span)
        scope.carried.append(
            name
            if yields == "node"
            else f"CASE WHEN {name} IS NULL THEN NULL ELSE [startNode({name}), {name}, endNode({name})] END"
        )
        return text


def _projection(clause: Clause) -> Projection:
    if clause.projection is None:
        raise Untraceable(f"{clause.kind} names nothing")
    return clause.projection


def _groups(projection: Projection) -> bool:
    """Whether a projection makes one row of several."""
    return projection.distinct_span is not None or projection.aggregates


def _imports(clause: Clause) -> bool:
    """Whether a WITH at the beginning of a subquery does nothing but import variables."""
    projection = _projection(clause)
    plain = all(item.variable is not None and item.alias is None for item in projection.items)
    return plain and not (clause.where or projection.distinct_span or projection.order_span or projection.page_span)


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(texts)}]"
